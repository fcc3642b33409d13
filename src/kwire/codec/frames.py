"""What a frame is decoded to: header and body, and in lenient mode what was wrong with it."""

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
    """The correlation id of a response whose header has tagged fields that no version defines.

    A frame is written from a correlation id and a body, and the header has nothing else: so the id keeps these fields, and they are written
    again (KIP-482 lets any broker add some).

    Attributes:
        unknown_tagged_fields: pairs of tag and bytes, as messages have them.
    """

    unknown_tagged_fields: tuple[tuple[int, bytes], ...]

    def __new__(cls, value: int, unknown_tagged_fields: tuple[tuple[int, bytes], ...]) -> CorrelationId:
        made = super().__new__(cls, value)
        made.unknown_tagged_fields = unknown_tagged_fields
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return CorrelationId, (int(self), self.unknown_tagged_fields)


class Opaque:
    """A body that could not be read.

    Attributes:
        data: its bytes, all of them; a memory view of the frame where `memoryviews` were asked for.
        reason: why; `UnknownApi`, `UnsupportedVersion`, or the fault that the bytes have.
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
    """A decoded request frame.

    Attributes:
        header: `RequestHeader` object; with API key and version.
        body: message object, or `Opaque` in lenient mode.
        violation: what was tolerated in lenient mode: the reason of an opaque body, or `TrailingBytes`; else None.
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
    """A decoded response frame.

    Attributes:
        header: `ResponseHeader` object.
        body: message object, or `Opaque` in lenient mode.
        api_key: that of the request.
        api_version: the version in which the body was read: as asked for, but 0 where a broker answered ApiVersions in version 0 (KIP-511).
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
