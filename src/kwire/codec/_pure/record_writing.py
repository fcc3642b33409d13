"""Writer of record batches and messages, for the pure backend and for values that the native backend does not write."""

from __future__ import annotations

import operator
import struct
import zlib
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from kwire.codec._pure.checksums import crc32c
from kwire.codec.records.java_long import java_long
from kwire.codec.written_values import varint

__all__ = ["Pack", "Refused", "write_batch", "write_messages"]

Pack = Callable[[bytes], bytes]

_FRAMING: Final = 12
_MOST: Final = 2**31 - 1  # of a batch behind its length, of an offset from the first
_HIGHEST: Final = 2**63 - 1
_UNCHECKED: Final = struct.Struct(">qiibI")
_CHECKED: Final = struct.Struct(">hiqqqhii")
_ABSENT: Final = b"\x01"  # the length -1 as a zigzag varint


class Refused(Exception):
    """Error for a value that cannot be written, with a path below the batch such as ``.records[3].key``."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__()
        self.reason = reason
        self.path = path


_ONE_BYTE: Final = [bytes((value,)) for value in range(0x80)]


def _varint(value: int) -> bytes:
    value = value << 1 if value >= 0 else (-value << 1) - 1
    if value < 0x80:
        return _ONE_BYTE[value]
    if value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    return varint(value)


def _content(value: Any, path: str) -> bytes | None:
    if value is None or type(value) is bytes:
        return value
    if isinstance(value, str):
        raise Refused("expected bytes or None, got str", path)
    try:
        return memoryview(value).tobytes()
    except (TypeError, BufferError):
        raise Refused(f"expected bytes or None, got {type(value).__name__}", path) from None


def integer_of(value: Any, wanted: str, path: str) -> int:
    """Return an integer, by `operator.index`."""
    try:
        return operator.index(value)
    except TypeError:
        raise Refused(wanted, path) from None


class _Row(NamedTuple):
    key: Any
    value: Any
    timestamp: Any = -1
    headers: Any = ()
    offset: int = -1


_of: Final = attrgetter("offset", "timestamp", "key", "value", "headers")
_OFFSETS: Final = "an offset is a whole number from 0 to 2^63-1"
_TIMESTAMPS: Final = "a timestamp is a whole number of milliseconds from 0 to 2^63-1, or -1"


def _fields(row: Any, index: int) -> tuple[int, int, Any, Any, Any]:
    """Return offset, timestamp, key, value and headers of a record or a tuple."""
    if isinstance(row, tuple):
        if not 2 <= len(row) <= 4:
            raise Refused("expected a key, a value and maybe a timestamp and headers", f".records[{index}]")
        row = _Row(*row)
    try:
        offset, timestamp, key, value, headers = _of(row)
    except AttributeError:
        raise Refused(f"expected a Record, got {type(row).__name__}", f".records[{index}]") from None
    if type(offset) is not int:
        offset = integer_of(offset, _OFFSETS, f".records[{index}].offset")
    if type(timestamp) is not int:
        timestamp = integer_of(timestamp, _TIMESTAMPS, f".records[{index}].timestamp")
    return offset, timestamp, key, value, headers


class _Order:
    """Checked sequence of offsets and timestamps."""

    def __init__(self, base_offset: int) -> None:
        self.base_offset = base_offset
        self.last = base_offset - 1
        self.max_timestamp = -1

    def place(self, offset: int, timestamp: int, index: int) -> int:
        """Return the record's offset; for -1, the one after the previous record's."""
        if not -1 <= offset <= _HIGHEST:
            raise Refused(_OFFSETS, f".records[{index}].offset")
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
        if not -1 <= timestamp <= _HIGHEST:
            raise Refused(_TIMESTAMPS, f".records[{index}].timestamp")
        if timestamp > self.max_timestamp:
            self.max_timestamp = timestamp
        return offset


def first_offset(records: Sequence[Any]) -> int:
    offset = _fields(records[0], 0)[0] if records else 0
    return offset if 0 <= offset <= _HIGHEST else 0


def _put(parts: list[bytes], content: bytes | None) -> None:
    if content is None:
        parts.append(_ABSENT)
    else:
        parts.append(_varint(len(content)))
        parts.append(content)


def _put_headers(parts: list[bytes], headers: Any, path: str) -> None:
    try:
        pairs = tuple(headers)
    except TypeError:
        raise Refused(f"expected pairs of a name and a value, got {type(headers).__name__}", path) from None
    parts.append(_varint(len(pairs)))
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
        _put(parts, encoded)
        _put(parts, _content(value, f"{place}.value"))


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
    """Return a batch of magic 2; None values are derived from the records, and `attributes` has the codec of `pack`."""
    order = _Order(first_offset(records) if base_offset is None else base_offset)
    base = base_timestamp
    written: list[bytes] = []
    total = 0
    for index, row in enumerate(records):
        offset, timestamp, key, value, headers = _fields(row, index)
        delta = order.place(offset, timestamp, index) - order.base_offset
        if base is None:
            base = timestamp
        # DefaultRecord subtracts timestamps when it writes and adds them again when it reads
        parts = [_ONE_BYTE[0], _varint(java_long(timestamp - base)), _varint(delta)]  # the attributes first, of which no bit is in use
        _put(parts, key if type(key) is bytes else _content(key, f".records[{index}].key"))
        _put(parts, value if type(value) is bytes else _content(value, f".records[{index}].value"))
        if headers == ():
            parts.append(_ONE_BYTE[0])
        else:
            _put_headers(parts, headers, f".records[{index}].headers")
        size = sum(map(len, parts))
        total += size + 5
        if total > _MOST:
            raise Refused("the records take more than 2^31-1 bytes", f".records[{index}]")
        written.append(_varint(size))
        written += parts
    body = b"".join(written)
    payload = body if pack is None else pack(body)
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
    """Return messages of magic 0 or 1, the last offset and the highest timestamp; `relative` offsets are those of KIP-31."""
    order = _Order(first_offset(records) if base_offset is None else base_offset)
    written = bytearray()
    for index, row in enumerate(records):
        offset, timestamp, key, value, headers = _fields(row, index)
        offset = order.place(offset, timestamp, index)
        if magic == 0 and timestamp != -1:
            raise Refused("magic 0 has no timestamps", f".records[{index}].timestamp")
        if headers:
            raise Refused(f"magic {magic} has no record headers", f".records[{index}].headers")
        checked = bytearray((magic, attributes))
        if magic:
            checked += timestamp.to_bytes(8, "big", signed=True)
        for name, each in (("key", key), ("value", value)):
            content = _content(each, f".records[{index}].{name}")
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
