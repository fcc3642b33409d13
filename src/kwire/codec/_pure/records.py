"""Record batches of the pure twin, and the readable contract of the native one: headers, records as objects, both to be written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kwire.codec._pure.checksums import crc32c
from kwire.codec._pure.primitives import Buffer
from kwire.codec._pure.record_layout import BatchHeader, read_raw, scan
from kwire.codec._pure.record_writing import write_batch, write_messages
from kwire.codec.records.places import Flaw

__all__ = ["BatchHeader", "Record", "crc32c", "read_records", "scan", "write_batch", "write_messages"]


class Record:
    """One record.

    Attributes:
        offset: in the partition; -1 of a record to be written that goes on from the one before.
        timestamp: milliseconds since 1970; -1 where the format has none.
        sequence: of an idempotent producer; -1 where there is none.
        key: bytes or None.
        value: bytes or None.
        headers: pairs of name and bytes or None.
    """

    __slots__ = ("headers", "key", "offset", "sequence", "timestamp", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        offset: int = -1,
        timestamp: int = -1,
        sequence: int = -1,
        key: bytes | None = None,
        value: bytes | None = None,
        headers: Iterable[tuple[str, bytes | None]] = (),
    ) -> None:
        self.offset = offset
        self.timestamp = timestamp
        self.sequence = sequence
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
    """The records of a batch up to the first fault, and that fault.

    Arguments:
        header: of the batch.
        data: its buffer, or the unpacked records of a compressed batch.
        start: where the records begin in `data`.
        end: where they end.
        check_crc: compare the checksums of messages that were compressed together.
        strict: header names that are not UTF-8 are a fault; else they are read with replacement characters.
    """
    if not 0 <= start <= end <= len(data):
        raise ValueError("start and end must lie in the buffer")
    return read_raw(header, data, start, end, check_crc, "strict" if strict else "replace", Record)
