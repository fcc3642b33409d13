"""Positions of faults in record batches, and their exceptions. Backends report a `Flaw`; this module adds its path and text."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from kwire.errors import Fault, WireError, wire_error

__all__ = ["Flaw", "Place", "flaw_error"]


class Place(IntEnum):
    """Field of a fault; the native backend uses the same numbers."""

    SIZE = 0
    MAGIC = 1
    CRC = 2
    ATTRIBUTES = 3
    COUNT = 4
    RECORDS = 5
    RECORD = 6
    RECORD_ATTRIBUTES = 7
    RECORD_TIMESTAMP = 8
    RECORD_OFFSET = 9
    RECORD_KEY = 10
    RECORD_VALUE = 11
    RECORD_HEADERS = 12
    RECORD_HEADER_KEY = 13
    RECORD_HEADER_VALUE = 14
    RECORD_CRC = 15
    RECORD_MAGIC = 16
    RECORD_SIZE = 17


class Flaw(NamedTuple):
    """Fault as found by a backend; `record` is -1 for a fault of the batch, `detail` the magic, codec or checksum found."""

    code: int
    offset: int
    place: int
    record: int = -1
    header: int = 0
    detail: int = 0


_BATCH_FIELDS: Final = {
    Place.SIZE: "size", Place.MAGIC: "magic", Place.CRC: "crc", Place.ATTRIBUTES: "attributes", Place.COUNT: "count",
    Place.RECORDS: "records",
}  # fmt: skip
_RECORD_FIELDS: Final = {
    Place.RECORD: "", Place.RECORD_ATTRIBUTES: ".attributes", Place.RECORD_TIMESTAMP: ".timestamp", Place.RECORD_OFFSET: ".offset",
    Place.RECORD_KEY: ".key", Place.RECORD_VALUE: ".value", Place.RECORD_HEADERS: ".headers", Place.RECORD_HEADER_KEY: ".headers[{}].key",
    Place.RECORD_HEADER_VALUE: ".headers[{}].value", Place.RECORD_CRC: ".crc", Place.RECORD_MAGIC: ".magic", Place.RECORD_SIZE: ".size",
}  # fmt: skip


def _reason(flaw: Flaw) -> str:
    match flaw.code, flaw.place:
        case Fault.UNSUPPORTED_VERSION, Place.MAGIC:
            return f"unknown magic {flaw.detail}"
        case Fault.UNSUPPORTED_VERSION, Place.RECORD_MAGIC:
            return f"message of magic {flaw.detail} inside one of another magic"
        case Fault.UNSUPPORTED_VERSION, _:
            return f"unknown compression codec {flaw.detail}"
        case Fault.LIMIT_EXCEEDED, Place.RECORD_ATTRIBUTES:
            return "compressed message inside a compressed message"
        case Fault.LIMIT_EXCEEDED, _:
            return "more than 2 GiB in one column"
        case Fault.BAD_CHECKSUM, _:
            return f"checksum does not match: the bytes give {flaw.detail:08x}"
        case Fault.BAD_VARINT, Place.RECORD_TIMESTAMP:
            return "varint is longer than 64 bits"
    return ""


def flaw_error(flaw: Flaw, batch: int, unpacked_from: int = -1, prefix: str = "") -> WireError:
    """Return the exception for a fault; if its offset counts unpacked bytes, `unpacked_from` is the offset of the compressed payload."""
    place = Place(flaw.place)
    if flaw.record < 0:
        path = f"{prefix}batches[{batch}].{_BATCH_FIELDS[place]}"
    else:
        path = f"{prefix}batches[{batch}].records[{flaw.record}]{_RECORD_FIELDS[place].format(flaw.header)}"
    # The count is in the header, which is never compressed.
    if unpacked_from < 0 or place is Place.COUNT:
        return wire_error(flaw.code, flaw.offset, path, reason=_reason(flaw))
    reason = _reason(flaw) or wire_error(flaw.code, 0).reason
    return wire_error(flaw.code, unpacked_from, path, reason=f"{reason} (byte {flaw.offset} of the unpacked records)")
