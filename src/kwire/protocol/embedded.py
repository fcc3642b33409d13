"""Messages inside other bytes, behind a 2-byte version or type: consumer protocol, coordinator records, principals."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from kwire.codec.classes import CompiledCatalog
from kwire.codec.frames import Opaque
from kwire.errors import Fault, WireError, wire_error

__all__ = ["PREFIX", "Embedded", "message_or_raise", "opaque", "prefix_of", "read_embedded"]

PREFIX: Final = 2  # bytes of a version or type prefix: a signed 16-bit number


class Embedded(NamedTuple):
    """Reading of embedded bytes."""

    message: Any  # `Opaque` if unreadable, None for a tombstone
    version: int | None = None  # None if the bytes end before it
    read_as: int | None = None  # None if the message was not read
    extra: int = 0  # number of trailing bytes
    violation: WireError | None = None


def opaque(data: Any, error: WireError, version: int | None = None) -> Embedded:
    return Embedded(Opaque(bytes(data), error), version, None, 0, error)


def message_or_raise(reading: Embedded, strict: bool) -> Any:
    if strict and reading.violation is not None:
        raise reading.violation
    return reading.message


def prefix_of(data: Any, name: str, path: str) -> int:
    head = bytes(memoryview(data).cast("B")[:PREFIX])
    if len(head) < PREFIX:
        raise wire_error(Fault.TRUNCATED, 0, path, name)
    return int.from_bytes(head, "big", signed=True)


def read_embedded(source: CompiledCatalog, name: str, version: int, data: Any, offset: int, strict: bool) -> Embedded:
    """Read one message at `offset`; trailing bytes are a violation. Unless `strict`, invalid UTF-8 is replaced, as in Java."""
    try:
        decoder = source.decoder(name, version)
        message, end = decoder.decode(data, offset, not strict)
    except WireError as error:
        return opaque(data, error, version)
    extra = memoryview(data).nbytes - end
    violation = wire_error(Fault.TRAILING_BYTES, end, "", name, decoder.plan.api_key, version) if extra else None
    return Embedded(message, version, version, extra, violation)
