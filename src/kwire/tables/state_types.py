"""Declaration of a series' state as data: for each class of the state, the names and types of the fields that are stored.

Encoder and decoder (`kwire.tables.carry_state`) both follow from it. A field that is not declared is not stored: it is a cache, or a link
between parts of the state, and is made again. Dataclasses and named tuples declare their fields themselves.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, Final, Literal, get_args

import msgspec

from kwire.capture.capture_chunks import FileFacts
from kwire.capture.carry import SeriesCarry
from kwire.capture.flow import Flow, Fragment
from kwire.capture.impl import record_stream, series_carry
from kwire.capture.packet_columns import ScanCarry
from kwire.capture.pair_counts import PairCounts
from kwire.capture.recent_pairs import RecentPairs
from kwire.capture.request_logs import folding
from kwire.capture.request_logs.entry import ConnectionName
from kwire.capture.request_logs.line_parts import JoinedLine
from kwire.capture.request_logs.reader import LogFileFacts, LogPosition
from kwire.capture.request_logs.times import zone_of
from kwire.capture.secrets_blocks import SecretsBlock
from kwire.capture.tcp import Endpoint, Segment, TcpConnection
from kwire.capture.tls.alerts import Alert
from kwire.capture.tls.cipher_suites import Suite
from kwire.capture.tls.connection import TlsConnection
from kwire.capture.tls.direction import Direction as TlsDirection
from kwire.capture.tls.direction import Epoch, EpochKind
from kwire.capture.tls.key_schedule import Keys
from kwire.capture.tls.opening import TlsOpening
from kwire.capture.tls.plaintext import Missing, Plain
from kwire.capture.tls.record_ciphers import RecordCipher
from kwire.capture.tls.records import RecordState
from kwire.capture.tls.session_keys import SeriesKeys, Session, TlsOptions
from kwire.protocol import events
from kwire.protocol.events import Asked, Direction, IdentitySource, RequestCompleted, Role, ViolationFound
from kwire.protocol.sasl import SaslState
from kwire.protocol.tls_handshake import ClientHello, Messages, ServerHello
from kwire.protocol.tls_hello import HelloReader
from kwire.protocol.tracking import pairing
from kwire.protocol.tracking.connection import Connection
from kwire.protocol.tracking.direction_detection import DecidedBy, DirectionDetector
from kwire.protocol.tracking.exchange import Exchange
from kwire.protocol.tracking.frames import Frame, FrameSplitter
from kwire.protocol.tracking.identity import ClientIdentity
from kwire.protocol.tracking.opening import Opening
from kwire.protocol.tracking.pairing import Pairing, Waiting
from kwire.protocol.tracking.passing import Passing
from kwire.protocol.tracking.resync import RequestJudge, ResponseJudge
from kwire.tables.encrypted_connection import EncryptedConnection
from kwire.tables.facts import SeriesFacts
from kwire.tables.observed_rows import ObservedRows, TopicSum, TopicSums
from kwire.tables.request_logs.connection import LogConnection
from kwire.tables.request_logs.exchange_kinds import wanted_bodies
from kwire.tables.request_logs.rows import LogRows, _LogFile
from kwire.tables.row_sink import FileCounts, RowSink, Tracked
from kwire.tables.series import TablesCarry
from kwire.tables.violation_rows import ViolationRows

__all__ = ["KINDS", "Kind", "check_key"]

Side = Literal[0, 1]
# What counts or is an offset: native code indexes with it.
Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
Sequence = Annotated[int, msgspec.Meta(ge=0, le=0xFFFFFFFF)]
_Two = tuple[int, int]
_Texts = tuple[str | None, str | None]
_SIDES: Final = get_args(Direction)


@dataclass(frozen=True, slots=True)
class Kind:
    """A class of the state.

    Attributes:
        fields: msgspec structure with the declared names and types.
        dump: return the values of an object, in the order of the declaration.
        load: make an object of such a structure.
    """

    fields: type[msgspec.Struct]
    dump: Callable[[Any], tuple[Any, ...]]
    load: Callable[[Any], Any]


KINDS: Final[dict[type, Kind]] = {}
"""The classes that a state may have objects of, beside plain data."""


@dataclass(frozen=True, slots=True)
class _As:
    """Type of a field that is stored in another form: the type of that form, and both conversions."""

    stored: Any
    dump: Callable[[Any], Any]
    load: Callable[[Any], Any]


def _kind(
    of: type,
    declared: dict[Any, str],
    *,
    make: Callable[[Any], Any] | None = None,
    before: Callable[[Any], object] | None = None,
    after: Callable[[Any], object] | None = None,
) -> None:
    """Declare a class.

    Args:
        of: the class.
        declared: names of fields by their type, separated by spaces.
        make: make an object whose fields are to be set; by default without calling its class.
        before: called with an object before its fields are read.
        after: called with an object whose fields are set.
    """
    types = {name: kind for kind, names in declared.items() for name in names.split()}
    get = attrgetter("__class__", *types)  # two names at least, so that it gives a tuple
    converted = [(number, name, kind) for number, (name, kind) in enumerate(types.items()) if isinstance(kind, _As)]

    def dump(found: Any) -> tuple[Any, ...]:
        if before is not None:
            before(found)
        _, *values = get(found)
        for number, _name, kind in converted:
            values[number] = kind.dump(values[number])
        return tuple(values)

    def load(values: Any) -> Any:
        made: Any = object.__new__(of) if make is None else make(values)
        for _number, name, kind in converted:
            setattr(values, name, kind.load(getattr(values, name)))
        for name in types:
            setattr(made, name, getattr(values, name))
        if after is not None:
            after(made)
        return made

    _made_kind(of, declared, dump, load)


def _made_kind(of: type, declared: dict[Any, str], dump: Callable[[Any], tuple[Any, ...]], load: Callable[[Any], Any]) -> None:
    """Declare a class as `_kind` does, with its own conversions."""
    fields = [(name, kind.stored if isinstance(kind, _As) else kind) for kind, names in declared.items() for name in names.split()]
    KINDS[of] = Kind(msgspec.defstruct(of.__name__, fields, array_like=True, forbid_unknown_fields=True), dump, load)


def _by_direction(kind: Any) -> _As:
    """A dictionary by direction, which may be empty."""
    return _As(
        tuple[kind, kind] | None, lambda found: tuple(found.values()) or None, lambda pair: dict(zip(_SIDES, pair or (), strict=bool(pair)))
    )


def _one_of(classes: tuple[type, ...]) -> _As:
    """A list of objects of some classes, each stored with the number of its class."""
    return _As(
        list[tuple[int, Any]],
        lambda found: [(classes.index(type(each)), each) for each in found],
        lambda pairs: [msgspec.convert(each, classes[abs(number)]) for number, each in pairs],
    )


def _same(found: Any) -> Any:
    return found


# In one order, so that the same state is the same bytes in each process.
_TEXTS: Final = _As(set[str], sorted, _same)
_NUMBERS: Final = _As(set[int], sorted, _same)
_EVENTS: Final = _one_of(get_args(events.Event))

# TCP.


def _attachment(found: Any) -> tuple[Any, bytes | None]:
    return (None, found) if isinstance(found, bytes) else (found, None)


def check_key(found: TcpConnection) -> None:
    """Check the endpoints of a connection, which native code reads by their places."""
    if (len(found.key), found.key[:1]) not in ((13, b"\4"), (37, b"\6")):
        raise ValueError("a connection has invalid endpoints")


_kind(
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
_kind(
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
        _As(tuple[Tracked | None, bytes | None], _attachment, lambda pair: pair[0] if pair[1] is None else pair[1]): "attachment",
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
    *plain, pairs, recent = values
    state = dict(zip(_STREAMS, plain, strict=True))
    made = series_carry(state["share"])
    made.__setstate__(state | {"lives": recent or pairs, "live": {}})
    return made


_made_kind(PairCounts, {list[bytes]: "blocks", bytes: "changed", int: "distinct", bool: "keeps_changes"}, _pairs_values, _pairs)
_kind(RecentPairs, {int: "_base _highest _idle_ns", int | None: "_since_ns", PairCounts: "_earlier _latest"})

# Kafka connections.


def _waiting_values(found: list[Waiting]) -> list[tuple[Any, ...]]:
    return [
        (
            each.row, each.losses, each.response_breaks, each.may_be_silent, each.overtaken_by, each.kept, each.is_timed, each.is_lost,
            *((each.note, None) if isinstance(each.note, tuple) else (None, each.note)),
        )
        for each in found
    ]  # fmt: skip


def _waiting(values: list[tuple[Any, ...]]) -> list[Waiting]:
    return [
        Waiting(row, losses, breaks, silent, overtaken, uses if frame is None else frame, kept, is_timed=timed, is_lost=lost)
        for row, losses, breaks, silent, overtaken, kept, timed, lost, frame, uses in values
    ]


def _link_exchange(made: Exchange) -> None:
    made.passing = Passing(None, made.sasl, made.pairing)


def _link_connection(made: Connection) -> None:
    made._turn, made._judge = [True], ResponseJudge(made._exchange.pairing)


def _check_splitter(made: FrameSplitter) -> None:
    """Check what native code relies on: arrivals of buffered bytes, offsets inside them, less than a frame of known length."""
    made.enough = None
    begins, size = [offset for offset, _, _ in made._marks], len(made._buffer)
    inside = [made._scanned, *(offset for offset, _ in made._pending)]
    if size and (not begins or begins != sorted(begins)):
        raise ValueError("the arrivals of a direction do not fit its bytes")
    if any(offset > made._base + size for offset in inside):
        raise ValueError("an offset is behind the bytes of its direction")
    if not made.seeking and made._broken is None and size >= 4 and size >= 4 + int.from_bytes(made._buffer[:4], "big", signed=True):
        raise ValueError("a direction holds more than a frame")


_WAITING: Final = _As(
    list[tuple[RequestCompleted | None, int, int, bool, int, int, bool, bool, tuple[bytes, bool] | None, list[events.PartitionUse] | None]],
    _waiting_values,
    _waiting,
)
_kind(
    Pairing,
    {_WAITING: "waiting", list[pairing._Held]: "_held", bool: "is_unclear", Count: "losses", int | None: "last_answered"},
    make=lambda _values: Pairing(),
    before=lambda found: found.import_waiting(found.waiting),  # without an index over them
    after=lambda found: found.import_waiting(found.waiting),
)
_kind(RequestJudge, {str | None: "client_id"})
_kind(SaslState, {str | None: "attempted_principal mechanism principal", bool: "is_unclear pending raw", Count: "failures tokens"})
_kind(
    ClientIdentity,
    {
        dict[str, int]: "_client_ids",
        bool: "_doubted _introduced _observed",
        str | None: "instance_id",
        Role: "role",
        _Texts: "software",
        IdentitySource: "source",
    },
)
_kind(
    Exchange,
    {
        _TEXTS: "_reported",
        list[ViolationFound]: "_unheard",
        dict[int, _Two] | None: "advertised",
        Asked | None: "asked",
        bool: "frames is_kafka left missing proven requests_lost seeks_responses",
        ClientIdentity: "identity",
        RequestJudge: "judge",
        str | None: "last_api_name",
        Count: "losses requests response_breaks unanswered",
        _Texts: "named",
        Pairing: "pairing",
        SaslState: "sasl",
    },
    after=_link_exchange,
)
_kind(
    FrameSplitter,
    {
        Count: "_base _candidates _need _scanned _skip _sought_from _unproven bytes_opaque max_frame",
        int: "_skipped_time",
        Frame | None: "_broken",
        bytearray: "_buffer",
        list[tuple[Count, int, int]]: "_marks",
        list[tuple[Count, Count]]: "_pending",
        bool: "seeking",
    },
    after=_check_splitter,
)
_kind(
    Opening,
    {
        list[tuple[bytes, int, int]]: "_chunks",
        bytes: "_data",
        Direction: "_direction",
        bool: "_joined_late",
        Count: "_max_frame skipped",
        str | None: "proxied_address",
    },
)
_kind(HelloReader, {bytes: "_data", bool: "done", str | None: "ja3 ja4 server_name version"})
_kind(
    Connection,
    {
        _by_direction(bool): "_closed",
        Literal["client", "server"] | None: "_closed_by",
        Exchange: "_exchange",
        int | None: "_first_seen _last_seen",
        _by_direction(Count): "_frames received",
        _by_direction(HelloReader): "_hellos",
        _by_direction(Opening | None): "_openings",
        str | None: "_protocol _proxied",
        bool: "_reset joined_late",
        _by_direction(FrameSplitter): "_splitters",
        Count: "_stray bytes_lost gaps",
    },
    after=_link_connection,
)
_kind(
    DirectionDetector,
    {
        bool: "_frames _proven",
        Asked | None: "_asked",
        Side | None: "_named server_side",
        Side: "_lower",
        Count: "_bytes _max_frame",
        dict[Side, Connection]: "_readings",
        DecidedBy | None: "decided_by",
        _As(
            tuple[_EVENTS.stored, _EVENTS.stored],  # type: ignore[name-defined]
            lambda kept: (_EVENTS.dump(kept[0]), _EVENTS.dump(kept[1])),
            lambda pair: {0: _EVENTS.load(pair[0]), 1: _EVENTS.load(pair[1])},
        ): "_kept",
    },
)

# TLS. A state holds no secret of a key log, but what keys are derived to.


def _messages(pending: bytes) -> Messages:
    made = Messages()
    made.pending = pending
    return made


_kind(Epoch, {EpochKind: "kind", Suite: "suite", RecordCipher: "cipher", bytes: "next_secret", Count: "sequence"})
_kind(
    RecordCipher,
    {Suite: "_suite", Keys: "_keys", bool: "_is_13 _encrypt_then_mac"},
    make=lambda values: RecordCipher(values._suite, values._keys, is_13=values._is_13, encrypt_then_mac=values._encrypt_then_mac),
)
_kind(
    TlsDirection,
    {
        _As(RecordState, lambda stream: stream.state(), record_stream): "stream",
        _As(bytes, attrgetter("pending"), _messages): "messages",
        list[Epoch]: "epochs",
        bool: "encrypted finished stopped",
        int | None: "padding",
        Count: "failures largest opaque_bytes opened opened_bytes protected tried tried_bytes unopened",
        _Two | None: "doubtful",
    },
)
_kind(
    TlsConnection,
    {
        bool: "_completed _saw_certificate lost renegotiated resumed retried",
        tuple[TlsDirection, TlsDirection]: "_directions",
        Session | None: "_session",
        Suite | None: "_suite",
        bytes | None: "_transcript",
        list[int]: "_tried_late",
        int: "_version unverified_bytes",
        str | None: "alpn cipher subject version",
        list[tuple[int, int, int, int, int]]: "certificate_faults",
        Side | None: "client_side",
        ClientHello | None: "hello",
        Literal["found", "none"]: "key_use",
        ServerHello | None: "server",
        list[Alert]: "alerts",
    },
    make=lambda _values: TlsConnection(),
)
_kind(
    TlsOpening,
    {tuple[Opening, Opening]: "_openings", list[tuple[Side, bytes, int, int]]: "before"},
)
_kind(
    EncryptedConnection,  # without the keys, which are the series'
    {
        Asked | None: "_asked",
        _one_of((Plain, Missing)): "_first",
        bool: "_has_next _is_done",
        _Two: "_ports",
        DirectionDetector | None: "plain",
        str | None: "subject",
        TlsConnection: "tls",
        DirectionDetector: "wire",
    },
)

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


_Versions = dict[int, _Two]
_Times = list[int | None]
_Row = tuple[str | int | None, ...]
_kind(
    TopicSum,
    {
        _NUMBERS: "acks partitions refused",
        Count: "batches bytes codecs errors largest magics records requests seen unseen",
        int | None: "first last",
    },
)
_kind(TopicSums, {dict[tuple[str, str | None, str | None, str | None], TopicSum]: "sums"})
_kind(
    Tracked,
    {
        Count: "begun",
        str | None: "connection_id",
        _As(
            tuple[DirectionDetector | None, EncryptedConnection | None],
            _detector,
            lambda pair: pair[0] or pair[1],
        ): "detector",
        _EVENTS: "early",
        tuple[int, int | None, int | None] | None: "refused",
        Endpoint | None: "server",
        TlsOpening | None: "tls_opening",
        TopicSums: "topics",
        dict[tuple[int | None, int | None], int]: "unsupported",
    },
)
_kind(
    FileCounts,
    {int: "bytes_decrypted bytes_lost bytes_opaque connections joined_late one_way refused requests unanswered unseen"},
)
_kind(ViolationRows, {dict[str, dict[str, tuple[int, _Row | None]]]: "_kinds"}, make=lambda _values: ViolationRows())
_kind(
    SeriesFacts,
    {
        _As(
            dict[str, list[tuple[tuple[tuple[int, _Two], ...], _Times]]],
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
_kind(
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


_made_kind(
    SeriesKeys,
    {TlsOptions: "options", list[tuple[str, int, int]]: "blocks", dict[bytes, Session]: "sessions"},
    _keys_values,
    _keys,
)
_made_kind(
    folding.EntryFolder,
    {str: "zone", folding._Held | None: "held", dict[str, JoinedLine]: "parts", dict[int, int]: "foreign"},
    lambda found: (str(found._zone), found._held, found._parts.waiting, found.foreign),
    _folder,
)
_kind(
    _LogFile,
    {int: "connections number requests untimed", int | None: "end_us start_us", LogFileFacts | None: "facts"},
)
_kind(
    LogConnection,
    {
        bool: "_broker_knows _name_unseen _watched exact sizes_known",
        _TEXTS: "_reported",
        int: "begun requests responses",
        str: "connection_id",
        int | None: "first_us last_us",
        ClientIdentity: "identity",
        str | None: "last_api_name principal",
        tuple[str | None, tuple[str, str] | None, str | None] | None: "latest",
        ConnectionName: "name",
        Endpoint: "server",
        TopicSums: "topics",
        dict[_Two, int]: "unsupported",
    },
)
_Ends = tuple[str, int, str, int]
_kind(
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
_kind(
    TablesCarry,
    {
        str: "series disorder",
        _Two: "share",
        bool: "hashed",
        _As(
            tuple[_Two, bool, Count, int, Count, Count, Count, ScanCarry, dict[bytes, bytes], PairCounts | None, RecentPairs | None],
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
