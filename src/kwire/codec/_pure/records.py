"""Record batches of the pure backend: headers, and records as objects, read and written."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, Final, SupportsIndex

from kwire.codec._pure.checksums import crc32c
from kwire.codec._pure.primitives import Buffer
from kwire.codec._pure.record_layout import BatchHeader, read_raw, scan
from kwire.codec._pure.record_writing import write_batch, write_messages
from kwire.codec.records.places import Flaw

__all__ = ["BatchHeader", "Record", "crc32c", "read_records", "scan", "write_batch", "write_messages"]


_HIGHEST: Final = 2**63 - 1
_HIGHEST_SEQUENCE: Final = 2**31 - 1


def _integer(value: SupportsIndex, highest: int, name: str) -> int:
    number = operator.index(value)
    if not -highest - 1 <= number <= highest:
        raise OverflowError(f"the {name} does not fit into {highest.bit_length() + 1} bits")
    return number


class Record:
    """Record of a batch. `operator.index` converts integers; floats are rejected.

    Attributes:
        offset: offset in the partition; when written, -1 means the one after the previous record's.
        timestamp: milliseconds since 1970; -1 if the format has none.
        sequence: sequence number of an idempotent producer; -1 if there is none.
        headers: pairs of name and bytes or None.

    Raises:
        TypeError: a value is not an integer.
        OverflowError: an integer does not fit.
    """

    __slots__ = ("headers", "key", "offset", "sequence", "timestamp", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        offset: SupportsIndex = -1,
        timestamp: SupportsIndex = -1,
        sequence: SupportsIndex = -1,
        key: bytes | None = None,
        value: bytes | None = None,
        headers: Iterable[tuple[str, bytes | None]] = (),
    ) -> None:
        self.offset = _integer(offset, _HIGHEST, "offset")
        self.timestamp = _integer(timestamp, _HIGHEST, "timestamp")
        self.sequence = _integer(sequence, _HIGHEST_SEQUENCE, "sequence")
        self.key = key
        self.value = value
        self.headers = headers if type(headers) is tuple else tuple(headers)

    def _all(self) -> tuple[Any, ...]:
        return self.offset, self.timestamp, self.sequence, self.key, self.value, self.headers

    def __eq__(self, other: object) -> bool:
        return self._all() == other._all() if type(other) is Record else NotImplemented

    def __repr__(self) -> str:
        return (
            f"Record(offset={self.offset!r}, timestamp={self.timestamp!r}, sequence={self.sequence!r}, key={self.key!r}, "
            f"value={self.value!r}, headers={self.headers!r})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Record, self._all()


def read_records(
    header: BatchHeader, data: Buffer, start: int, end: int, check_crc: bool, strict: bool
) -> tuple[list[Record], Flaw | None]:
    """Return the records of a batch up to the first fault, and that fault; `data` may be its unpacked records."""
    if not 0 <= start <= end <= len(data):
        raise ValueError("start and end must lie in the buffer")
    return read_raw(header, data, start, end, check_crc, "strict" if strict else "replace", Record)
