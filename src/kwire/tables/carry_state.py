"""State of a series as bytes, written and read connection by connection, so that it is never in memory twice.

A state consists of MessagePack records (`kwire.tables.state_records`): a head, the series without its connections, each TCP connection,
each connection of a request log. States are untrusted, so `kwire.tables.state_types` declares the allowed contents, and any other type,
value, length or order is an error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

import msgspec

import kwire
from kwire.capture.dividing.pair_counts import PairCounts, SealedPairs
from kwire.capture.half_open import attachment_of, unpack_half_open
from kwire.capture.tcp import TcpConnection
from kwire.tables import first_events
from kwire.tables.encrypted_connection import EncryptedConnection
from kwire.tables.request_logs.connection import LogConnection
from kwire.tables.row_sink import PACKET_BITS, begun_of, tracked_on
from kwire.tables.series import TablesCarry
from kwire.tables.state_records import BadState, check_form, reading_state, record_of, records_of
from kwire.tables.state_types import KINDS, check_key

__all__ = ["block_name", "pack_carry", "unpack_carry"]

_FORM: Final = "kwire state 1"  # a new number where a field, its type or its meaning changes; versions that share it read each other's


class _Head(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    form: str
    version: str
    connections: int
    logged: int


def pack_carry(carry: TablesCarry, sealed: dict[bytes, bytes] | None = None) -> Iterator[bytes]:
    """Write a state, record by record. `sealed` collects the sealed blocks of pairs; without it, the state includes them."""
    encoder = msgspec.msgpack.Encoder(enc_hook=_encoding(sealed))

    connections = carry.streams.connections()
    for found in chain(
        [_Head(_FORM, kwire.__version__, len(connections), len(carry.log.live)), carry], connections, carry.log.live.values()
    ):
        yield record_of(encoder.encode(found))


def block_name(block: bytes) -> bytes:
    return hashlib.blake2b(block, digest_size=16).digest()


def _encoding(sealed: dict[bytes, bytes] | None) -> Any:
    def encoded(found: Any) -> Any:
        kind = KINDS.get(type(found))
        if kind is None:
            # a native object: the state has what the pure backend has of it
            return found.tracked if hasattr(found, "tracked") else found.plain()
        values = kind.dump(found)
        if sealed is None or not isinstance(found, PairCounts):
            return values
        blocks, changed, distinct, keeps_changes = values
        if keeps_changes:
            named = {block_name(block): bytes(block) for block in blocks}
            sealed.update(named)
            blocks = list(named)
        return blocks, changed, distinct, keeps_changes

    return encoded


def unpack_carry(data: bytes | memoryview, sealed: Mapping[bytes, bytes] | None = None) -> TablesCarry:
    """Read a state and the blocks of pairs that it refers to; raise BadState if it is invalid or has another form."""
    with reading_state():
        return _unpacked(memoryview(data), sealed)


def _unpacked(data: memoryview, sealed: Mapping[bytes, bytes] | None) -> TablesCarry:
    def decoded(of: type, found: object) -> Any:
        kind = KINDS[of]
        values: Any = msgspec.convert(found, kind.fields, dec_hook=decoded)
        if of is PairCounts:
            values.blocks = [
                SealedPairs(sealed[block] if values.keeps_changes and sealed is not None else block) for block in values.blocks
            ]
        return kind.load(values)

    records = records_of(data)

    def next_of(kind: Any) -> Any:
        record = next(records, None)
        if record is None:
            raise BadState("it is cut off")
        return msgspec.msgpack.decode(record, type=kind, dec_hook=decoded)

    head: _Head = next_of(_Head)
    check_form(head.form, _FORM, head.version)
    carry: TablesCarry = next_of(TablesCarry)
    files = len(carry.sink.files)
    if len(carry.sink.counts) != files or len(carry.facts) not in (0, files):  # none before the end of the first file
        raise BadState("it counts its files in two ways")
    keys = set(carry.streams.half_open)
    for key, packed in carry.streams.half_open.items():
        check_key(unpack_half_open(key, packed))
        _check_first(attachment_of(packed), carry)
    for _ in range(head.connections):
        connection: TcpConnection = next_of(TcpConnection)
        keys.add(connection.key)
        _check_first(connection.attachment, carry)
        tracked = tracked_on(connection)
        if tracked is not None and isinstance(tracked.detector, EncryptedConnection):
            tracked.detector._keys = carry.sink.tls
        carry.streams.adopt(connection)
    for _ in range(head.logged):
        logged: LogConnection = next_of(LogConnection)
        _check_file(logged.begun, carry)
        carry.log.live[logged.name] = logged
    if len(keys) != head.connections + len(carry.streams.half_open) or len(carry.log.live) != head.logged:
        raise BadState("a connection is in it twice")
    if next(records, None) is not None:
        raise BadState("it is longer than its head says")
    return carry


def _check_first(kept: object, carry: TablesCarry) -> None:
    if isinstance(kept, bytes) and kept:
        _, opened_by, events = first_events.replay(kept)
        for *_, place in events:
            _check_file(place, carry)
        if opened_by not in (None, 0, 1):
            raise BadState("a connection was opened by neither side")
    begun = begun_of(kept)
    if begun is not None:
        _check_file(begun, carry)


def _check_file(begun: int, carry: TablesCarry) -> None:
    if not 0 <= begun >> PACKET_BITS < len(carry.sink.files):
        raise BadState("a connection begins in a file that it does not have")
