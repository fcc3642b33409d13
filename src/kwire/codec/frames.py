"""Decoded frames: header and body, and in lenient mode the tolerated fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from kwire.codec.memory_views import owned
from kwire.errors import WireError

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from kwire.messages import RequestHeader, ResponseHeader

    Body = TypeVar("Body", default=Any)  # so that `Request` alone stays a type
else:
    from typing import TypeVar

    Body = TypeVar("Body")

__all__ = ["CorrelationId", "Opaque", "Request", "Response"]


class CorrelationId(int):
    """Correlation id of a response whose header has undefined tagged fields (KIP-482), kept so that they can be written again."""

    unknown_tagged_fields: tuple[tuple[int, bytes], ...]  # pairs of tag and bytes

    def __new__(cls, value: int, unknown_tagged_fields: tuple[tuple[int, bytes], ...]) -> CorrelationId:
        made = super().__new__(cls, value)
        made.unknown_tagged_fields = unknown_tagged_fields
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return CorrelationId, (int(self), self.unknown_tagged_fields)


class Opaque:
    """Unreadable body.

    Attributes:
        data: all bytes of the body; a memory view with `memoryviews`.
        reason: `UnknownApi`, `UnsupportedVersion`, or the fault of the bytes.
    """

    __slots__ = ("data", "reason")
    __match_args__ = ("data", "reason")

    def __init__(self, data: bytes | memoryview, reason: WireError) -> None:
        self.data = data
        self.reason = reason

    def __repr__(self) -> str:
        # The payload is left out: it may hold secrets, and it may be large.
        return f"Opaque({len(self.data)} bytes, {self.reason})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Opaque):
            return NotImplemented
        return self.data == other.data and str(self.reason) == str(other.reason)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Opaque, (owned(self.data), self.reason)


class Request(Generic[Body]):
    """Decoded request frame.

    Attributes:
        header: `RequestHeader` object with API key and version.
        body: message object, or `Opaque` in lenient mode.
        violation: tolerated fault in lenient mode: reason of an opaque body, or `TrailingBytes`; else None.
    """

    __slots__ = ("body", "header", "violation")
    __match_args__ = ("header", "body")

    def __init__(self, header: RequestHeader, body: Body, violation: WireError | None = None) -> None:
        self.header = header
        self.body = body
        self.violation = violation

    def __repr__(self) -> str:
        return f"Request(header={self.header!r}, body={self.body!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Request):
            return NotImplemented
        return bool(self.header == other.header and self.body == other.body)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # the native twin makes objects of a subclass, which has no public name
        return Request, (self.header, self.body, self.violation)


class Response(Generic[Body]):
    """Decoded response frame.

    Attributes:
        header: `ResponseHeader` object.
        body: message object, or `Opaque` in lenient mode.
        api_version: version of the body: the requested one, or 0 if a broker answered ApiVersions in version 0 (KIP-511).
        violation: as in `Request`.
    """

    __slots__ = ("api_key", "api_version", "body", "header", "violation")
    __match_args__ = ("header", "body")

    def __init__(self, header: ResponseHeader, body: Body, api_key: int, api_version: int, violation: WireError | None = None) -> None:
        self.header = header
        self.body = body
        self.api_key = api_key
        self.api_version = api_version
        self.violation = violation

    def __repr__(self) -> str:
        return f"Response(header={self.header!r}, body={self.body!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Response):
            return NotImplemented
        return (self.header, self.body, self.api_key, self.api_version) == (other.header, other.body, other.api_key, other.api_version)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Response, (self.header, self.body, self.api_key, self.api_version, self.violation)
