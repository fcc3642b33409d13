"""Record batches and messages out of records: what the pure twin does, and what both do with what is unusual or wrong.

The layouts are those of `kwire.codec._pure.record_layout`. The native twin writes records of its own class that hold bytes and None; all
else it leaves to these functions, which take any buffer as a key or a value, or say what cannot be written and where.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from kwire.codec._pure.checksums import crc32c

__all__ = ["Pack", "Refused", "write_batch", "write_messages"]

Pack = Callable[[bytes], bytes]

_FRAMING: Final = 12
_MOST: Final = 2**31 - 1  # of a batch behind its length, of an offset from the first
_HIGHEST: Final = 2**63 - 1
_UNCHECKED: Final = struct.Struct(">qiibI")
_CHECKED: Final = struct.Struct(">hiqqqhii")
_ABSENT: Final = b"\x01"  # the length -1 as a zigzag varint


class Refused(Exception):
    """What cannot be written, and where: a path that begins below the batch, such as ``.records[3].key``."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__()
        self.reason = reason
        self.path = path


def _varint(value: int) -> bytes:
    """A zigzag varint of up to 64 bits."""
    value = value << 1 if value >= 0 else (-value << 1) - 1
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _content(value: Any, path: str) -> bytes | None:
    if value is None or type(value) is bytes:
        return value
    if isinstance(value, str):
        raise Refused("expected bytes or None, got str", path)
    try:
        return memoryview(value).tobytes()
    except (TypeError, BufferError):
        raise Refused(f"expected bytes or None, got {type(value).__name__}", path) from None


class _Row(NamedTuple):
    """A record that came as a tuple."""

    key: Any
    value: Any
    timestamp: Any = -1
    headers: Any = ()
    offset: int = -1


def _record_of(row: Any, index: int) -> Any:
    if not isinstance(row, tuple):
        return row
    if not 2 <= len(row) <= 4:
        raise Refused("expected a key, a value and maybe a timestamp and headers", f".records[{index}]")
    return _Row(*row)


def _field(record: Any, name: str, index: int) -> Any:
    try:
        return getattr(record, name)
    except AttributeError:
        raise Refused(f"expected a Record, got {type(record).__name__}", f".records[{index}]") from None


class _Order:
    """Offsets and timestamps of records, one after the other."""

    def __init__(self, base_offset: int) -> None:
        self.base_offset = base_offset
        self.last = base_offset - 1
        self.max_timestamp = -1

    def offset(self, record: Any, index: int) -> int:
        """The record's offset; one of -1 goes on from the record before."""
        offset = _field(record, "offset", index)
        if type(offset) is not int or not -1 <= offset <= _HIGHEST:
            raise Refused("an offset is a whole number from 0 to 2^63-1", f".records[{index}].offset")
        if offset == -1:
            offset = self.last + 1
            if offset > _HIGHEST:
                raise Refused("no offset is left after the record before", f".records[{index}].offset")
        elif offset <= self.last:
            rule = f"not above {self.last}, that of the record before" if index else f"below the base offset {self.base_offset}"
            raise Refused(f"offset {offset} is {rule}", f".records[{index}].offset")
        if offset - self.base_offset > _MOST:
            raise Refused(f"offset {offset} is more than 2^31-1 from the base offset {self.base_offset}", f".records[{index}].offset")
        self.last = offset
        return offset

    def timestamp(self, record: Any, index: int) -> int:
        timestamp = _field(record, "timestamp", index)
        if type(timestamp) is not int or not -1 <= timestamp <= _HIGHEST:
            raise Refused("a timestamp is a whole number of milliseconds from 0 to 2^63-1, or -1", f".records[{index}].timestamp")
        self.max_timestamp = max(self.max_timestamp, timestamp)
        return timestamp


def first_offset(records: Sequence[Any]) -> int:
    """The base offset of records that were given none."""
    offset = _field(_record_of(records[0], 0), "offset", 0) if records else 0
    return offset if type(offset) is int and 0 <= offset <= _HIGHEST else 0


def _put(body: bytearray, content: bytes | None) -> None:
    if content is None:
        body += _ABSENT
    else:
        body += _varint(len(content))
        body += content


def _put_headers(body: bytearray, headers: Any, path: str) -> None:
    try:
        pairs = tuple(headers)
    except TypeError:
        raise Refused(f"expected pairs of a name and a value, got {type(headers).__name__}", path) from None
    body += _varint(len(pairs))
    for number, pair in enumerate(pairs):
        place = f"{path}[{number}]"
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise Refused("expected a pair of a name and a value", place)
        name, value = pair
        if not isinstance(name, str):
            raise Refused(f"expected a string, got {type(name).__name__}", f"{place}.key")
        try:
            encoded = name.encode()
        except UnicodeEncodeError:
            raise Refused("the name has a surrogate that UTF-8 cannot hold", f"{place}.key") from None
        _put(body, encoded)
        _put(body, _content(value, f"{place}.value"))


def write_batch(
    records: Sequence[Any],
    base_offset: int | None,
    partition_leader_epoch: int,
    attributes: int,
    last_offset: int | None,
    base_timestamp: int | None,
    max_timestamp: int | None,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    pack: Pack | None,
) -> bytes:
    """A batch of magic 2.

    Arguments:
        records: objects with `offset`, `timestamp`, `key`, `value` and `headers`; or tuples of key, value, timestamp, headers, of which the
            last one or two may be missing.
        base_offset, last_offset, base_timestamp, max_timestamp: None for what the records say.
        attributes: as stored, the codec of `pack` in it.
        pack: compresses the records, None for plain ones.

    Raises:
        Refused: a record cannot be written.
    """
    order = _Order(first_offset(records) if base_offset is None else base_offset)
    base = base_timestamp
    body = bytearray()
    for index, row in enumerate(records):
        record = _record_of(row, index)
        delta = order.offset(record, index) - order.base_offset
        timestamp = order.timestamp(record, index)
        if base is None:
            base = timestamp
        each = bytearray(1)  # attributes, of which no bit is in use
        each += _varint(timestamp - base)
        each += _varint(delta)
        _put(each, _content(_field(record, "key", index), f".records[{index}].key"))
        _put(each, _content(_field(record, "value", index), f".records[{index}].value"))
        _put_headers(each, _field(record, "headers", index), f".records[{index}].headers")
        body += _varint(len(each))
        body += each
        if len(body) > _MOST:
            raise Refused("the records take more than 2^31-1 bytes", f".records[{index}]")
    payload = bytes(body) if pack is None else pack(bytes(body))
    last = max(order.last, order.base_offset) if last_offset is None else last_offset
    if last < order.last:
        raise Refused(f"the last offset {last} is below that of the last record, {order.last}", ".last_offset")
    if not 0 <= last - order.base_offset <= _MOST:
        raise Refused(f"the last offset {last} is not 0 to 2^31-1 after the base offset {order.base_offset}", ".last_offset")
    checked = _CHECKED.pack(
        attributes, last - order.base_offset, -1 if base is None else base, order.max_timestamp if max_timestamp is None else max_timestamp,
        producer_id, producer_epoch, base_sequence, len(records),
    ) + payload  # fmt: skip
    length = _UNCHECKED.size - _FRAMING + len(checked)
    if length > _MOST:
        raise Refused("the batch takes more than 2^31-1 bytes")
    return _UNCHECKED.pack(order.base_offset, length, partition_leader_epoch, 2, crc32c(checked)) + checked


def write_messages(records: Sequence[Any], magic: int, attributes: int, base_offset: int | None, relative: bool) -> tuple[bytes, int, int]:
    """Messages of magic 0 or 1, one behind the other.

    Arguments:
        records: as for `write_batch`, without headers.
        magic: 0 or 1.
        attributes: of every message.
        base_offset: of the first record, None for what it says.
        relative: write offsets from the base offset on, as messages of magic 1 have them that are compressed together (KIP-31).

    Returns:
        The bytes, the last record's offset, the highest timestamp.

    Raises:
        Refused: a record cannot be written.
    """
    order = _Order(first_offset(records) if base_offset is None else base_offset)
    written = bytearray()
    for index, row in enumerate(records):
        record = _record_of(row, index)
        offset = order.offset(record, index)
        timestamp = order.timestamp(record, index)
        if magic == 0 and timestamp != -1:
            raise Refused("magic 0 has no timestamps", f".records[{index}].timestamp")
        if _field(record, "headers", index):
            raise Refused(f"magic {magic} has no record headers", f".records[{index}].headers")
        checked = bytearray((magic, attributes))
        if magic:
            checked += timestamp.to_bytes(8, "big", signed=True)
        for name in ("key", "value"):
            content = _content(_field(record, name, index), f".records[{index}].{name}")
            if content is not None and len(content) > _MOST:
                raise Refused("more than 2^31-1 bytes", f".records[{index}].{name}")
            checked += (-1 if content is None else len(content)).to_bytes(4, "big", signed=True)
            checked += content or b""
        if len(checked) + 4 > _MOST:
            raise Refused("the message takes more than 2^31-1 bytes", f".records[{index}]")
        stored = offset - order.base_offset if relative else offset
        written += struct.pack(">qiI", stored, len(checked) + 4, zlib.crc32(checked))
        written += checked
    return bytes(written), order.last, order.max_timestamp
