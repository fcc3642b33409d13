"""Types of a series' state: for each class, the names and types of the stored fields.

Encoder and decoder (`kwire.tables.carry_state`) are derived from them. Undeclared fields are caches or links between parts of the state,
and are recreated. Dataclasses and named tuples declare their own fields.
"""

from __future__ import annotations

from collections import OrderedDict
from operator import attrgetter
from typing import Any, Final

from kwire.capture.carry import SeriesCarry
from kwire.capture.dividing.pair_counts import PairCounts
from kwire.capture.dividing.recent_pairs import RecentPairs
from kwire.capture.files.capture_chunks import FileFacts
from kwire.capture.flow import Flow, Fragment
from kwire.capture.impl import series_carry
from kwire.capture.packet_columns import ScanCarry
from kwire.capture.request_logs import folding
from kwire.capture.request_logs.entry import ConnectionName
from kwire.capture.request_logs.line_parts import JoinedLine
from kwire.capture.request_logs.reader import LogFileFacts, LogPosition
from kwire.capture.request_logs.times import zone_of
from kwire.capture.secrets_blocks import SecretsBlock
from kwire.capture.tcp import Endpoint, Segment, TcpConnection
from kwire.capture.tls.opening import TlsOpening
from kwire.capture.tls.session_keys import SeriesKeys, Session, TlsOptions
from kwire.protocol.events import Asked
from kwire.protocol.tracking.direction_detection import DirectionDetector
from kwire.protocol.tracking.identity import ClientIdentity
from kwire.tables import state_connections
from kwire.tables.encrypted_connection import EncryptedConnection
from kwire.tables.facts import SeriesFacts
from kwire.tables.observed_rows import ObservedRows, TopicSum, TopicSums
from kwire.tables.request_logs.connection import LogConnection
from kwire.tables.request_logs.exchange_kinds import wanted_bodies
from kwire.tables.request_logs.rows import LogRows, _LogFile
from kwire.tables.row_sink import FileCounts, RowSink, Tracked
from kwire.tables.series import TablesCarry
from kwire.tables.state_kinds import (
    EVENTS,
    KINDS,
    SORTED_NUMBERS,
    SORTED_TEXTS,
    Count,
    Sequence,
    Side,
    Stored,
    Two,
    declare,
    declare_converted,
)
from kwire.tables.violation_rows import ViolationRows

__all__ = ["KINDS", "check_key", "state_connections"]

# TCP.


def _attachment(found: Any) -> tuple[Any, bytes | None]:
    return (None, found) if isinstance(found, bytes) else (found, None)


def check_key(found: TcpConnection) -> None:
    """Check the endpoints of a connection, because native code reads them at fixed positions."""
    if (len(found.key), found.key[:1]) not in ((13, b"\4"), (37, b"\6")):
        raise ValueError("a connection has invalid endpoints")


declare(
    Flow,
    {
        bool: "anchored finished",
        Count: "bytes bytes_cut bytes_lost duplicates gaps packets payload_packets position retransmissions strays waiting_bytes",
        int | None: "fin_at",
        Sequence | None: "isn next",
        list[int]: "recent",
        list[Fragment]: "waiting",
    },
)
declare(
    TcpConnection,
    {
        bytes: "key",
        Count: "begun n",
        int: "first_ns last_ns",
        Side | None: "opened_by",
        int | None: "closed_ns",
        bool: "answered ignored",
        tuple[Flow, Flow]: "flows",
        list[Segment]: "held",
        Stored(tuple[Tracked | None, bytes | None], _attachment, lambda pair: pair[0] if pair[1] is None else pair[1]): "attachment",
    },
    make=lambda values: TcpConnection(values.key, values.n, values.first_ns),
    after=check_key,
)


def _pairs_values(found: PairCounts) -> tuple[Any, ...]:
    state = found.__getstate__()
    return (*state, True) if isinstance(state, tuple) else (state, b"", 0, False)


def _pairs(values: Any) -> PairCounts:
    made = PairCounts()
    made.__setstate__((values.blocks, values.changed, values.distinct) if values.keeps_changes else values.blocks)
    return made


_STREAMS: Final = ("share", "by_hosts", "packets", "latest_ns", "strays", "begun", "ended_early", "scan", "half_open")


def _streams_values(found: SeriesCarry) -> tuple[Any, ...]:
    lives = (found.lives, None) if isinstance(found.lives, PairCounts) else (None, found.lives)
    return *attrgetter(*_STREAMS)(found), *lives


def _streams(values: tuple[Any, ...]) -> SeriesCarry:
    share, by_hosts, *plain, pairs, recent = values
    made = series_carry(share, by_hosts)
    for name, value in zip(_STREAMS[2:], plain, strict=True):
        setattr(made, name, value)
    made.lives = recent or pairs
    return made


declare_converted(PairCounts, {list[bytes]: "blocks", bytes: "changed", int: "distinct", bool: "keeps_changes"}, _pairs_values, _pairs)
declare(RecentPairs, {int: "_base _highest _idle_ns", int | None: "_since_ns", PairCounts: "_earlier _latest"})

# Rows.


def _detector(found: DirectionDetector | EncryptedConnection) -> tuple[Any, Any]:
    return (None, found) if isinstance(found, EncryptedConnection) else (found, None)


def _begin_rows(made: RowSink) -> None:
    made.observed = ObservedRows(made.series)  # its rows are given away with the file
    made._begin_rows()


def _link_facts(made: SeriesFacts) -> None:
    # the times of a server's latest answer are those of that answer among all of them
    latest = {server: (answer, made._advertised[server][tuple(answer.items())]) for server, (answer, _) in made._latest.items()}
    made._latest = latest


_Versions = dict[int, Two]
_Times = list[int | None]
_Row = tuple[str | int | None, ...]
declare(
    TopicSum,
    {
        SORTED_NUMBERS: "acks partitions refused",
        Count: "batches bytes codecs errors largest magics records requests seen unseen",
        int | None: "first last",
    },
)
declare(TopicSums, {dict[tuple[str, str | None, str | None, str | None], TopicSum]: "sums"})
declare(
    Tracked,
    {
        Count: "begun",
        str | None: "connection_id",
        Stored(
            tuple[DirectionDetector | None, EncryptedConnection | None],
            _detector,
            lambda pair: pair[0] or pair[1],
        ): "detector",
        EVENTS: "early",
        tuple[int, int | None, int | None] | None: "refused",
        Endpoint | None: "server",
        TlsOpening | None: "tls_opening",
        TopicSums: "topics",
        dict[tuple[int | None, int | None], int]: "unsupported",
    },
)
declare(
    FileCounts,
    {int: "bytes_decrypted bytes_lost bytes_opaque connections joined_late one_way refused requests unanswered unseen"},
)
declare(ViolationRows, {dict[str, dict[str, tuple[int, _Row | None]]]: "_kinds"}, make=lambda _values: ViolationRows())
declare(
    SeriesFacts,
    {
        Stored(
            dict[str, list[tuple[tuple[tuple[int, Two], ...], _Times]]],
            lambda found: {server: list(answers.items()) for server, answers in found.items()},
            lambda stored: {server: dict(answers) for server, answers in stored.items()},
        ): "_advertised",
        dict[str, tuple[_Versions, _Times]]: "_latest",
        dict[tuple[int, str, int], list[str | int | None]]: "_nodes",
        dict[tuple[str, str], _Times]: "_topics",
        list[tuple[str, str, int, int | None, int | None, str]]: "refusals",
    },
    after=_link_facts,
)
declare(
    RowSink,
    {
        str: "series",
        frozenset[int]: "ports",
        bool: "observing",
        Asked | None: "asked",
        SeriesFacts: "facts",
        list[str]: "files",
        list[FileCounts]: "counts",
        ViolationRows: "violations",
        SeriesKeys: "tls",
    },
    before=lambda found: found.settle(),
    after=_begin_rows,
)

# Request logs, and all of a series.


def _keys(values: Any) -> SeriesKeys:
    made = SeriesKeys(values.options)
    made.__setstate__((values.options, [SecretsBlock(*block) for block in values.blocks], OrderedDict(values.sessions)))
    return made


def _keys_values(found: SeriesKeys) -> tuple[Any, ...]:
    options, blocks, sessions = found.__getstate__()
    return options, [(block.location, block.at, block.size) for block in blocks], sessions


def _folder(values: Any) -> folding.EntryFolder:
    made = folding.EntryFolder(zone_of(values.zone), wanted_bodies)
    made._held, made._parts.waiting, made.foreign = values.held, values.parts, values.foreign
    return made


declare_converted(
    SeriesKeys,
    {TlsOptions: "options", list[tuple[str, int, int]]: "blocks", dict[bytes, Session]: "sessions"},
    _keys_values,
    _keys,
)
declare_converted(
    folding.EntryFolder,
    {str: "zone", folding._Held | None: "held", dict[str, JoinedLine]: "parts", dict[int, int]: "foreign"},
    lambda found: (str(found._zone), found._held, found._parts.waiting, found.foreign),
    _folder,
)
declare(
    _LogFile,
    {int: "connections number requests untimed", int | None: "end_us start_us", LogFileFacts | None: "facts"},
)
declare(
    LogConnection,
    {
        bool: "_broker_knows _name_unseen _watched exact sizes_known",
        SORTED_TEXTS: "_reported",
        int: "begun requests responses",
        str: "connection_id",
        int | None: "first_us last_us",
        ClientIdentity: "identity",
        str | None: "last_api_name principal",
        ConnectionName: "name",
        Endpoint: "server",
        TopicSums: "topics",
        dict[Two, int]: "unsupported",
    },
)
_Ends = tuple[str, int, str, int]
declare(
    LogRows,  # without its live connections, and the sink
    {
        folding.EntryFolder: "folder",
        int: "_most_live",
        dict[int, _LogFile]: "files",
        LogPosition | None: "_position",
        dict[_Ends, int]: "_lives",
        dict[_Ends, ConnectionName]: "_latest",
        dict[tuple[str, int, str], int]: "_began",
        bool: "deprecated_only",
    },
    after=lambda made: setattr(made, "live", OrderedDict()),
)
declare(
    TablesCarry,
    {
        str: "series disorder",
        Two: "share",
        bool: "hashed",
        Stored(
            tuple[Two, bool, Count, int, Count, Count, Count, ScanCarry, dict[bytes, bytes], PairCounts | None, RecentPairs | None],
            _streams_values,
            _streams,
        ): "streams",
        RowSink: "sink",
        LogRows: "log",
        list[FileFacts | None]: "facts",
        tuple[str, str] | None: "unread",
        int: "ends_told",
    },
    after=lambda made: setattr(made.log, "_sink", made.sink),
)
