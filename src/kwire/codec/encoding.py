"""Messages and frames to bytes: what `kwire.encode`, `encode_request` and `encode_response` do.

The bytes are those that Kafka's own classes write. Frames are header and body, without the 4-byte length.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.frames import Opaque
from kwire.codec.written_values import Refusal, integer_of
from kwire.errors import EncodeError
from kwire.schema.header_versions import header_version_of

if TYPE_CHECKING:
    from kwire.messages import MessageObject, RequestHeader, ResponseHeader

Write = Callable[..., bytes]

__all__ = ["FrameWriter", "encode", "encode_request", "encode_response"]

# What packs the header of a response from its correlation id, by what the header of correlation id 1 looks like: without and with tags.
_PLAIN_HEADERS: Final = {form: struct.Struct(code).pack for form, code in ((b"\0\0\0\1", ">i"), (b"\0\0\0\1\0", ">ix"))}

UNKNOWN_API_HEADER: Final = 1  # of requests; brokers read the header of an api that they do not know as version 1


def _name_of(message: Any, function: str) -> str:
    """The name of the message that an object is of.

    Raises:
        TypeError: not an object of a message class.
    """
    layout = getattr(type(message), "layout", None)
    if layout is None or layout.name != layout.message:
        raise TypeError(f"{function} takes a message object, not {type(message).__qualname__}")
    name: str = layout.message
    return name


def _number(header: Any, field: str) -> int:
    """A number of a header that says how the rest is written."""
    value = getattr(header, field, None)
    try:
        return integer_of(value)
    except Refusal as refusal:
        raise EncodeError(refusal.reason, path=field, message="RequestHeader") from None


class FrameWriter:
    """Encodes the messages and frames of a catalog.

    Arguments:
        source: the compiled catalog; it made the classes of the objects that are given.
    """

    def __init__(self, source: CompiledCatalog) -> None:
        self._source = source
        self._bodies: dict[tuple[type, int], Write] = {}
        self._requests: dict[tuple[type, int, int], tuple[Write, Write]] = {}
        self._responses: dict[tuple[type, int, int], tuple[Write, Write, Callable[[int], bytes] | None]] = {}
        self._request_header = source.classes("RequestHeader")[0]
        self._response_header = source.classes("ResponseHeader")[0]

    def _body(self, message: Any, version: int, function: str) -> Write:
        """What writes the objects of a class in a version."""
        kind = type(message)
        name = _name_of(message, function)
        known = self._source.catalog.messages.get(name)
        if known is None or self._source.classes(name)[0] is not kind:
            raise EncodeError(f"the object is of the {name} of another catalog", message=name, api_version=version)
        if version not in known.valid_versions:
            raise EncodeError(f"version {version} of {name} is not known, only {known.valid_versions}")
        write: Write = self._source.encoder(name, version).encode
        return write

    def _of_api(self, body: Any, kind: str, api_key: int, function: str) -> None:
        """Refuse the body of another api. An api that was renamed has two messages, of one key."""
        message = self._source.message(_name_of(body, function))
        if message.kind != kind or message.api_key != api_key:
            reason = f"the body of a {kind} with api key {api_key} cannot be a {message.name}"
            raise EncodeError(reason, path="api_key" if kind == "request" else "")

    def _header(self, kind: str, api_key: int, api_version: int) -> Write:
        """What writes the header of a frame; an api that the catalog does not know has the header that brokers take it to have."""
        catalog = self._source.catalog
        message = catalog.request(api_key) if kind == "request" else catalog.response(api_key)
        if message is None:
            version = UNKNOWN_API_HEADER if kind == "request" else 0
        else:
            version = header_version_of(message.header_versions, api_version)
        write: Write = self._source.encoder("RequestHeader" if kind == "request" else "ResponseHeader", version).encode
        return write

    def encode(self, message: MessageObject, version: int) -> bytes:
        """The bytes of one message of any kind in the catalog.

        Arguments:
            message: an object of a message class.
            version: the version to write it in.

        Raises:
            EncodeError: Kafka has no such version, or does not let it carry a value; says which value and why.
            TypeError: not an object of a message class.
        """
        try:
            write = self._bodies[type(message), version]
        except KeyError:
            write = self._bodies[type(message), version] = self._body(message, version, "encode")
        return write(message)

    def encode_request(self, header: RequestHeader, body: MessageObject | Opaque) -> bytes:
        """The frame of a request, without its length. Its api key and version are those of the header.

        Arguments:
            header: a `RequestHeader`; which version of it is written follows from api key and version.
            body: a message object of that api, or an `Opaque`, whose bytes are written as they are.

        Raises:
            EncodeError: as in `encode`, for header and body; or the body is of another api.
            TypeError: no header, or no message object.
        """
        if type(header) is not self._request_header:
            raise TypeError(f"encode_request takes a RequestHeader, not {type(header).__qualname__}")
        try:
            write_header, write = self._requests[type(body), header.api_key, header.api_version]
        except (KeyError, TypeError, AttributeError):
            return self._first_request(header, body)
        return write(body, write_header(header))

    def _first_request(self, header: Any, body: Any) -> bytes:
        """Encode a request as no other was before, or an unusual one."""
        api_key, api_version = _number(header, "api_key"), _number(header, "api_version")
        if isinstance(body, Opaque):
            return self._header("request", api_key, api_version)(header) + body.data
        write = self._body(body, api_version, "encode_request")
        self._of_api(body, "request", api_key, "encode_request")
        pair = self._requests[type(body), api_key, api_version] = self._header("request", api_key, api_version), write
        return pair[1](body, pair[0](header))

    def encode_response(self, correlation_id: int | ResponseHeader, body: MessageObject | Opaque, api_key: int, api_version: int) -> bytes:
        """The frame of a response to a request of an api and a version, without its length.

        To an ApiVersions request of a version that a broker does not know, the answer is of version 0 (KIP-511).

        Arguments:
            correlation_id: that of the request; one that was decoded keeps tagged fields that its header had. Or a `ResponseHeader`.
            body: a message object of that api, or an `Opaque`, whose bytes are written as they are.
            api_key, api_version: of the request; the version in which the body is written.

        Raises:
            EncodeError: as in `encode`, for header and body; or the body is of another api.
            TypeError: no message object.
        """
        try:
            write_header, write, before = self._responses[type(body), api_key, api_version]
        except KeyError:
            return self._first_response(correlation_id, body, api_key, api_version)
        if type(correlation_id) is int and before is not None:
            try:
                return write(body, before(correlation_id))
            except struct.error:
                pass  # said by the header
        return write(body, write_header(self._response_head(correlation_id)))

    def _response_head(self, given: Any) -> Any:
        """The header of a response, of its correlation id or of itself."""
        if type(given) is self._response_header:
            return given
        return self._response_header(correlation_id=given, unknown_tagged_fields=getattr(given, "unknown_tagged_fields", ()))

    def _first_response(self, given: Any, body: Any, api_key: int, api_version: int) -> bytes:
        """Encode a response as no other was before, or an unusual one."""
        header, write_header = self._response_head(given), self._header("response", api_key, api_version)
        if isinstance(body, Opaque):
            return write_header(header) + body.data
        write = self._body(body, api_version, "encode_response")
        self._of_api(body, "response", api_key, "encode_response")
        plain = _PLAIN_HEADERS.get(write_header(self._response_header(correlation_id=1)))
        self._responses[type(body), api_key, api_version] = write_header, write, plain
        return write(body, write_header(header))


_FRAMES: Final = FrameWriter(compiled())

encode: Final = _FRAMES.encode
encode_request: Final = _FRAMES.encode_request
encode_response: Final = _FRAMES.encode_response
