"""Exceptions of kwire, and the codes of wire faults.

Bytes cause a `WireError`, callers an `EncodeError` or `InputError`. Both backends describe a wire fault by code, offset, path and message,
and use `raise_for`, so their exceptions are the same.

Offset and path of each fault, for both backends; a value is checked in the order of the lines:

* ``TRUNCATED``: the first byte of the primitive whose bytes are missing. Of a varint, length, count or null marker that is cut: its own
  first byte. Of a string, bytes value or tagged payload whose length is there and whose content is not: the first content byte. Of a count
  of elements or tagged fields that cannot fit into the bytes left: the count. A fixed-size field that follows others is named itself.
* ``BAD_VARINT`` (a fifth byte above 0x0F), ``BAD_LENGTH`` (a compact length or count, a number of tagged fields or a tagged size above
  2^31-1; a compact string above 32,767), ``NULL_NOT_ALLOWED``: the first byte of the varint, the length, the count or the null marker.
  ``BAD_LENGTH`` at byte 0 is also a request frame that begins with its own 4-byte length, and so has an unknown API or version.
  A varint that ends with the buffer before its fifth byte is ``TRUNCATED``.
* ``BAD_UTF8``: the first byte of the string's content, which is checked after its bounds.
* ``BAD_TAG``: the first byte of the tag number. The tag's number and size are read and checked first. A known tag is then read in place,
  with the end of the buffer as its bound, and must end where its size says; a tag that only other versions define is refused unread; a
  tag number of any 32 bits that no version defines is kept.
* ``TRAILING_BYTES``: the first byte that nothing claims; the path is empty.
* ``UNKNOWN_API``: byte 0, path ``api_key``. ``UNSUPPORTED_VERSION`` of a request frame: byte 2, path ``api_version``.

The path is that of the field, with ``[i]`` for the element of an array (of scalars too): ``topics[2].partitions[0].isr_nodes[1]``. A fault
of a count, a length or a marker is the field's own (``topics[2].partitions``). A fault of a tagged section itself (its number of fields, a
tag number, a size, a payload that is cut, ``BAD_TAG``) has the path of the struct that owns the section, empty at the top.
"""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import Final, NoReturn

__all__ = [
    "BadChecksum", "BadCompression", "BadLength", "BadTag", "BadUtf8", "BadVarint", "EncodeError", "Fault", "InputError", "KwireError",
    "LimitExceeded", "NullNotAllowed", "TrailingBytes", "Truncated", "UnknownApi", "UnsupportedVersion", "WireError", "raise_for",
    "wire_error",
]  # fmt: skip


class Fault(IntEnum):
    """Code of a wire fault; the native backend uses the same numbers."""

    NONE = 0
    TRUNCATED = 1
    BAD_VARINT = 2
    BAD_LENGTH = 3
    BAD_UTF8 = 4
    NULL_NOT_ALLOWED = 5
    UNKNOWN_API = 6
    UNSUPPORTED_VERSION = 7
    TRAILING_BYTES = 8
    LIMIT_EXCEEDED = 9
    BAD_CHECKSUM = 10
    BAD_TAG = 11
    BAD_COMPRESSION = 12


class KwireError(Exception):
    """Base of all errors that kwire raises on purpose."""

    if sys.version_info < (3, 11):

        def add_note(self, note: str) -> None:
            """Add a note (PEP 678); tracebacks of Python 3.10 do not show it."""
            self.__notes__: list[str] = [*getattr(self, "__notes__", ()), note]


class InputError(KwireError):
    """Invalid argument or input: a missing file, not a capture, no permission. The text is one sentence."""


class EncodeError(KwireError, ValueError):
    """Value that Kafka does not allow in a message of this version.

    Attributes:
        reason: fault of the value.
        path: position of the value, in snake_case, such as ``topics[2].partitions[0].leader_id``; empty for the whole message.
        message: name of the message, such as ``MetadataResponse``; empty when there is none.
        api_version: version of the message, or None if there is none.
    """

    def __init__(self, reason: str, *, path: str = "", message: str = "", api_version: int | None = None) -> None:
        self.reason = reason
        self.path = path
        self.message = message
        self.api_version = api_version
        super().__init__(reason)

    def __str__(self) -> str:
        place = f" in {self.path}" if self.path else ""
        version = "" if self.api_version is None else f" v{self.api_version}"
        whole = f" ({self.message}{version})" if self.message else ""
        return f"{self.reason}{place}{whole}"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_encode_error, (self.reason, self.path, self.message, self.api_version)


def _rebuild_encode_error(reason: str, path: str, message: str, api_version: int | None) -> EncodeError:
    return EncodeError(reason, path=path, message=message, api_version=api_version)


class WireError(KwireError, ValueError):
    """Bytes that break a rule of the wire format.

    Attributes:
        code: violated rule, a `Fault`.
        offset: byte position in the given buffer, from 0.
        path: field path in snake_case, such as ``topics[2].partitions[0].leader_id``; empty where no field was reached.
        message: name of the message, such as ``MetadataResponse``; empty when unknown.
        api_key, api_version: None when unknown.
        index: number of the message in a batch, or None where one message was read.
    """

    fault: Fault = Fault.NONE
    index: int | None = None

    def __init__(
        self, reason: str, *, offset: int = 0, path: str = "", message: str = "", api_key: int | None = None, api_version: int | None = None
    ) -> None:
        self.reason = reason
        self.offset = offset
        self.path = path
        self.message = message
        self.api_key = api_key
        self.api_version = api_version
        super().__init__(reason)

    @property
    def code(self) -> Fault:
        return self.fault

    def __str__(self) -> str:
        place = f" in {self.path}" if self.path else ""
        version = "" if self.api_version is None else f" v{self.api_version}"
        whole = f" ({self.message}{version})" if self.message else ""
        return f"{self.reason} at byte {self.offset}{place}{whole}"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.reason, self.offset, self.path, self.message, self.api_key, self.api_version)


def _rebuild(
    kind: type[WireError], reason: str, offset: int, path: str, message: str, api_key: int | None, api_version: int | None
) -> WireError:
    return kind(reason, offset=offset, path=path, message=message, api_key=api_key, api_version=api_version)


class Truncated(WireError):
    """The bytes end before the value does."""

    fault = Fault.TRUNCATED


class BadVarint(WireError):
    """A varint of more than five bytes, or with bits beyond the 32nd."""

    fault = Fault.BAD_VARINT


class BadLength(WireError):
    """An impossible length or count."""

    fault = Fault.BAD_LENGTH


class BadUtf8(WireError):
    """A string that is not UTF-8."""

    fault = Fault.BAD_UTF8


class NullNotAllowed(WireError):
    """A null in a field that is not nullable in this version."""

    fault = Fault.NULL_NOT_ALLOWED


class UnknownApi(WireError):
    """An API key that the catalog does not have."""

    fault = Fault.UNKNOWN_API


class UnsupportedVersion(WireError):
    """A version that the catalog does not have for this message."""

    fault = Fault.UNSUPPORTED_VERSION


class TrailingBytes(WireError):
    """Bytes left over after a whole message."""

    fault = Fault.TRAILING_BYTES


class LimitExceeded(WireError):
    """A size above a named limit (frame, decompression, nesting)."""

    fault = Fault.LIMIT_EXCEEDED


class BadChecksum(WireError):
    """A record batch whose CRC does not match its bytes."""

    fault = Fault.BAD_CHECKSUM


class BadTag(WireError):
    """A tagged field that Kafka rejects: its tag belongs to another version of the struct, or its size is wrong."""

    fault = Fault.BAD_TAG


class BadCompression(WireError):
    """The records of a batch that its codec cannot unpack."""

    fault = Fault.BAD_COMPRESSION


_KINDS: Final[dict[Fault, type[WireError]]] = {
    kind.fault: kind
    for kind in (
        Truncated, BadVarint, BadLength, BadUtf8, NullNotAllowed, UnknownApi, UnsupportedVersion, TrailingBytes, LimitExceeded, BadChecksum,
        BadTag, BadCompression,
    )
}  # fmt: skip

_REASONS: Final[dict[Fault, str]] = {
    Fault.TRUNCATED: "the bytes end before the value does",
    Fault.BAD_VARINT: "varint is longer than 32 bits",
    Fault.BAD_LENGTH: "impossible length or count",
    Fault.BAD_UTF8: "string is not UTF-8",
    Fault.NULL_NOT_ALLOWED: "null is not allowed",
    Fault.UNKNOWN_API: "unknown API key",
    Fault.UNSUPPORTED_VERSION: "unsupported version",
    Fault.TRAILING_BYTES: "bytes are left over",
    Fault.LIMIT_EXCEEDED: "size is above the limit",
    Fault.BAD_CHECKSUM: "checksum does not match",
    Fault.BAD_TAG: "tagged field is not valid in this version",
    Fault.BAD_COMPRESSION: "compressed records cannot be unpacked",
}


def wire_error(
    code: int, offset: int, path: str = "", message: str = "", api_key: int | None = None, api_version: int | None = None, reason: str = ""
) -> WireError:
    """Create the exception for a fault; `reason` replaces the default text of the code."""
    fault = Fault(code)
    return _KINDS[fault](reason or _REASONS[fault], offset=offset, path=path, message=message, api_key=api_key, api_version=api_version)


def raise_for(
    code: int, offset: int, path: str = "", message: str = "", api_key: int | None = None, api_version: int | None = None, reason: str = ""
) -> NoReturn:
    """Raise the exception for a fault; `reason` replaces the default text of the code."""
    raise wire_error(code, offset, path, message, api_key, api_version, reason)
