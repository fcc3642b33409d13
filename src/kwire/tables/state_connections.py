"""Types of a series' state, first part: tracked connections and TLS (`kwire.tables.state_types`)."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Final, Literal

from kwire.capture.impl import record_stream
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
from kwire.capture.tls.session_keys import Session
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
from kwire.tables.state_kinds import (
    EVENTS,
    SORTED_TEXTS,
    Count,
    Side,
    Stored,
    Texts,
    Two,
    by_direction,
    declare,
    one_of,
)

__all__: list[str] = []

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
    """Check the assumptions of native code: arrivals of buffered bytes, offsets inside them, and less than a whole frame."""
    made.enough = None
    begins, size = [offset for offset, _, _ in made._marks], len(made._buffer)
    inside = [made._scanned, *(offset for offset, _ in made._pending)]
    if size and (not begins or begins != sorted(begins)):
        raise ValueError("the arrivals of a direction do not fit its bytes")
    if any(offset > made._base + size for offset in inside):
        raise ValueError("an offset is behind the bytes of its direction")
    if not made.seeking and made._broken is None and size >= 4 and size >= 4 + int.from_bytes(made._buffer[:4], "big", signed=True):
        raise ValueError("a direction holds more than a frame")


_WAITING: Final = Stored(
    list[tuple[RequestCompleted | None, int, int, bool, int, int, bool, bool, tuple[bytes, bool] | None, list[events.PartitionUse] | None]],
    _waiting_values,
    _waiting,
)
declare(
    Pairing,
    {_WAITING: "waiting", list[pairing._Held]: "_held", bool: "is_unclear", Count: "losses", int | None: "last_answered"},
    make=lambda _values: Pairing(),
    before=lambda found: found.import_waiting(found.waiting),  # without an index over them
    after=lambda found: found.import_waiting(found.waiting),
)
declare(RequestJudge, {str | None: "client_id"})
declare(SaslState, {str | None: "attempted_principal mechanism principal", bool: "is_unclear pending raw", Count: "failures tokens"})
declare(
    ClientIdentity,
    {
        dict[str, int]: "_client_ids",
        bool: "_doubted _introduced _observed",
        str | None: "instance_id",
        Role: "role",
        Texts: "software",
        IdentitySource: "source",
    },
)
declare(
    Exchange,
    {
        SORTED_TEXTS: "_reported",
        list[ViolationFound]: "_unheard",
        dict[int, Two] | None: "advertised",
        Asked | None: "asked",
        bool: "frames is_kafka left missing proven requests_lost seeks_responses",
        ClientIdentity: "identity",
        RequestJudge: "judge",
        str | None: "last_api_name",
        Count: "losses requests response_breaks unanswered",
        Texts: "named",
        Pairing: "pairing",
        SaslState: "sasl",
    },
    after=_link_exchange,
)
declare(
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
declare(
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
declare(HelloReader, {bytes: "_data", bool: "done", str | None: "ja3 ja4 server_name version"})
declare(
    Connection,
    {
        by_direction(bool): "_closed",
        Literal["client", "server"] | None: "_closed_by",
        Exchange: "_exchange",
        int | None: "_first_seen _last_seen",
        by_direction(Count): "_frames received",
        by_direction(HelloReader): "_hellos",
        by_direction(Opening | None): "_openings",
        str | None: "_protocol _proxied",
        bool: "_reset joined_late",
        by_direction(FrameSplitter): "_splitters",
        Count: "_stray bytes_lost gaps",
    },
    after=_link_connection,
)
declare(
    DirectionDetector,
    {
        bool: "_frames _proven",
        Asked | None: "_asked",
        Side | None: "_named server_side",
        Side: "_lower",
        Count: "_bytes _max_frame",
        dict[Side, Connection]: "_readings",
        DecidedBy | None: "decided_by",
        Stored(
            tuple[EVENTS.stored, EVENTS.stored],  # type: ignore[name-defined]
            lambda kept: (EVENTS.dump(kept[0]), EVENTS.dump(kept[1])),
            lambda pair: {0: EVENTS.load(pair[0]), 1: EVENTS.load(pair[1])},
        ): "_kept",
    },
)

# TLS. A state holds no secret of a key log, but what keys are derived to.


def _messages(pending: bytes) -> Messages:
    made = Messages()
    made.pending = pending
    return made


declare(Epoch, {EpochKind: "kind", Suite: "suite", RecordCipher: "cipher", bytes: "next_secret", Count: "sequence"})
declare(
    RecordCipher,
    {Suite: "_suite", Keys: "_keys", bool: "_is_13 _encrypt_then_mac"},
    make=lambda values: RecordCipher(values._suite, values._keys, is_13=values._is_13, encrypt_then_mac=values._encrypt_then_mac),
)
declare(
    TlsDirection,
    {
        Stored(RecordState, lambda stream: stream.state(), record_stream): "stream",
        Stored(bytes, attrgetter("pending"), _messages): "messages",
        list[Epoch]: "epochs",
        bool: "encrypted finished stopped",
        int | None: "padding",
        Count: "failures largest opaque_bytes opened opened_bytes protected tried tried_bytes unopened",
        Two | None: "doubtful",
    },
)
declare(
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
declare(
    TlsOpening,
    {tuple[Opening, Opening]: "_openings", list[tuple[Side, bytes, int, int]]: "before"},
)
declare(
    EncryptedConnection,  # without the keys, which are the series'
    {
        Asked | None: "_asked",
        one_of((Plain, Missing)): "_first",
        bool: "_has_next _is_done",
        Two: "_ports",
        DirectionDetector | None: "plain",
        str | None: "subject",
        TlsConnection: "tls",
        DirectionDetector: "wire",
    },
)
