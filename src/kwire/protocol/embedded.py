"""Messages inside other bytes, behind a 2-byte version or type: consumer protocol, coordinator records, principals."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from kwire.codec.classes import CompiledCatalog
from kwire.codec.frames import Opaque
from kwire.errors import Fault, WireError, wire_error

__all__ = ["PREFIX", "Embedded", "message_or_raise", "opaque", "prefix_of", "read_embedded"]

PREFIX: Final = 2  # bytes of a version or type prefix: a signed 16-bit number


class Embedded(NamedTuple):
    """Reading of embedded bytes.

    Attributes:
        message: message, or `Opaque` if the bytes cannot be read; None for nothing (a tombstone).
        version: number before the message, None if the bytes end before it.
        read_as: version in which the message was read, None if it was not.
        extra: number of trailing bytes.
        violation: rule that the bytes break.
    """

    message: Any
    version: int | None = None
    read_as: int | None = None
    extra: int = 0
    violation: WireError | None = None


def opaque(data: Any, error: WireError, version: int | None = None) -> Embedded:
    """Return the reading of bytes that cannot be read."""
    return Embedded(Opaque(bytes(data), error), version, None, 0, error)


def message_or_raise(reading: Embedded, strict: bool) -> Any:
    """Return the message of a reading.

    Raises:
        WireError: strict, and the bytes break a rule.
    """
    if strict and reading.violation is not None:
        raise reading.violation
    return reading.message


def prefix_of(data: Any, name: str, path: str) -> int:
    """Return the number in the first two bytes.

    Raises:
        Truncated: there are fewer.
    """
    head = bytes(memoryview(data).cast("B")[:PREFIX])
    if len(head) < PREFIX:
        raise wire_error(Fault.TRUNCATED, 0, path, name)
    return int.from_bytes(head, "big", signed=True)


def read_embedded(source: CompiledCatalog, name: str, version: int, data: Any, offset: int, strict: bool) -> Embedded:
    """Read one message at `offset`; trailing bytes are a violation.

    Arguments:
        strict: strings must be UTF-8; else invalid bytes are replaced, as in Java.
    """
    try:
        decoder = source.decoder(name, version)
        message, end = decoder.decode(data, offset, not strict)
    except WireError as error:
        return opaque(data, error, version)
    extra = memoryview(data).nbytes - end
    violation = wire_error(Fault.TRAILING_BYTES, end, "", name, decoder.plan.api_key, version) if extra else None
    return Embedded(message, version, version, extra, violation)
