"""Reads messages that travel inside other bytes behind a 2-byte version or type: consumer protocol, coordinator records, principals."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from kwire.codec.classes import CompiledCatalog
from kwire.codec.frames import Opaque
from kwire.errors import Fault, WireError, wire_error

__all__ = ["PREFIX", "Embedded", "message_or_raise", "opaque", "prefix_of", "read_embedded"]

PREFIX: Final = 2  # bytes of a version or type prefix: a signed 16-bit number


class Embedded(NamedTuple):
    """What bytes inside a message hold.

    Attributes:
        message: a message object, or `Opaque` where the bytes cannot be read; None where there is nothing (a tombstone).
        version: the number before the message, None when the bytes end before it.
        read_as: the version the message was read in, None when it was not read.
        extra: bytes left over behind the message.
        violation: the rule that the bytes break, None when they keep all.
    """

    message: Any
    version: int | None = None
    read_as: int | None = None
    extra: int = 0
    violation: WireError | None = None


def opaque(data: Any, error: WireError, version: int | None = None) -> Embedded:
    """The reading of bytes that cannot be read, for the reason `error`."""
    return Embedded(Opaque(bytes(data), error), version, None, 0, error)


def message_or_raise(reading: Embedded, strict: bool) -> Any:
    """The message of a reading.

    Raises:
        WireError: strict, and the bytes break a rule.
    """
    if strict and reading.violation is not None:
        raise reading.violation
    return reading.message


def prefix_of(data: Any, name: str, path: str) -> int:
    """The number in the first two bytes.

    Raises:
        Truncated: there are no two bytes.
    """
    head = bytes(memoryview(data).cast("B")[:PREFIX])
    if len(head) < PREFIX:
        raise wire_error(Fault.TRUNCATED, 0, path, name)
    return int.from_bytes(head, "big", signed=True)


def read_embedded(source: CompiledCatalog, name: str, version: int, data: Any, offset: int, strict: bool) -> Embedded:
    """Read one message that begins at `offset`; bytes behind it are counted and are a violation.

    Arguments:
        source: the catalog of the message.
        name, version: of the message.
        data: any contiguous buffer.
        offset: where the message begins, in bytes.
        strict: strings have to be UTF-8; else what is not is replaced, as Java does.
    """
    try:
        decoder = source.decoder(name, version)
        message, end = decoder.decode(data, offset, not strict)
    except WireError as error:
        return opaque(data, error, version)
    extra = memoryview(data).nbytes - end
    violation = wire_error(Fault.TRAILING_BYTES, end, "", name, decoder.plan.api_key, version) if extra else None
    return Embedded(message, version, version, extra, violation)
