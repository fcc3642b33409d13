"""Encoding of messages and frames: `kwire.encode`, `encode_request` and `encode_response`.

The bytes are those of Kafka's own classes. Frames are header and body, without the 4-byte length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from kwire.codec.class_descriptions import message_name, replace
from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.described import describe
from kwire.codec.frames import CorrelationId, Opaque
from kwire.codec.impl import load_twin
from kwire.codec.written_values import Refusal, integer_of
from kwire.errors import EncodeError
from kwire.schema.header_versions import header_version_of

if TYPE_CHECKING:
    from kwire.messages import MessageObject, RequestHeader, ResponseHeader

__all__ = ["EncodeMessage", "EncodeRequest", "EncodeResponse", "FrameWriter", "encode", "encode_request", "encode_response"]

UNKNOWN_API_HEADER: Final = 1  # of requests; brokers read the header of an api that they do not know as version 1


def _number(header: Any, field: str) -> int:
    value = getattr(header, field, None)
    try:
        return integer_of(value)
    except Refusal as refusal:
        raise EncodeError(refusal.reason, path=field, message="RequestHeader") from None


class EncodeMessage(Protocol):
    """Encode one message of any kind in the catalog.

    Arguments:
        message: an object of a message class.
        version: version to write.

    Raises:
        EncodeError: Kafka has no such version, or does not let it carry a value; the text names the value and the reason.
        TypeError: not an object of a message class.
    """

    def __call__(self, message: MessageObject, version: int) -> bytes: ...


class EncodeRequest(Protocol):
    """Encode the frame of a request, without its length, in the version of its header.

    Arguments:
        header: a `RequestHeader`; API key and version select its version. An API key of 0, the default, means the API of the body's class.
        body: a message object of that API, or an `Opaque`, whose bytes are written unchanged.

    Raises:
        EncodeError: as in `EncodeMessage`, for header and body; or the body is of another API.
        TypeError: no header, or no message object.
    """

    def __call__(self, header: RequestHeader, body: MessageObject | Opaque) -> bytes: ...


class EncodeResponse(Protocol):
    """Encode the frame of a response, without its length.

    The answer to an ApiVersions request of an unknown version is of version 0 (KIP-511).

    Arguments:
        correlation_id: correlation id of the request (a decoded one keeps the tagged fields of its header), or a `ResponseHeader`.
        body: a message object of that API, or an `Opaque`, whose bytes are written unchanged.
        api_key, api_version: of the request; the version of the body.

    Raises:
        EncodeError: as in `EncodeMessage`, for header and body; or the body is of another API.
        TypeError: no message object.
    """

    def __call__(self, correlation_id: int | ResponseHeader, body: MessageObject | Opaque, api_key: int, api_version: int) -> bytes: ...


class FrameWriter:
    """Encoder of a catalog's messages and frames."""

    def __init__(self, source: CompiledCatalog) -> None:
        self._source = source
        self._request_header = source.classes("RequestHeader")[0]
        self._response_header = source.classes("ResponseHeader")[0]
        # Calls from outside meet the twin's writer of usual frames first: what it learned, with nothing odd in it.
        self._writer = load_twin("codec", "message_writer", source.twin).MessageWriter(
            self._request_header, self._encode, self._encode_request, self._encode_response
        )
        self.encode: EncodeMessage = self._writer.encode
        self.encode_request: EncodeRequest = self._writer.encode_request
        self.encode_response: EncodeResponse = self._writer.encode_response
        describe(self.encode, EncodeMessage)
        describe(self.encode_request, EncodeRequest)
        describe(self.encode_response, EncodeResponse)

    def __reduce__(self) -> Any:
        # The functions of the built-in catalog travel to Spark's workers as what they are there.
        return "_FRAMES" if self is _FRAMES else (FrameWriter, (self._source,))

    def _body(self, message: Any, version: int, function: str) -> Any:
        """Return the encoder of a class in a version, and cache it."""
        kind = type(message)
        name = message_name(message, function)
        known = self._source.catalog.messages.get(name)
        if known is None or self._source.classes(name)[0] is not kind:
            raise EncodeError(f"the object is of the {name} of another catalog", message=name, api_version=version)
        if version not in known.valid_versions:
            raise EncodeError(f"version {version} of {name} is not known, only {known.valid_versions}")
        encoder = self._source.encoder(name, version)
        self._writer.learn(kind, version, encoder)
        return encoder

    def _of_api(self, body: Any, kind: str, api_key: int, function: str) -> None:
        """Reject a body of another api; two messages of a renamed api share a key."""
        message = self._source.message(message_name(body, function))
        if message.kind != kind or message.api_key != api_key:
            reason = f"the body of a {kind} with api key {api_key} cannot be a {message.name}"
            raise EncodeError(reason, path="api_key" if kind == "request" else "")

    def _api_of(self, body: Any) -> Any:
        layout = getattr(type(body), "layout", None)
        message = None if layout is None else self._source.catalog.messages.get(layout.message)
        return message.api_key if message is not None and message.kind == "request" else None

    def _header(self, kind: str, api_key: int, api_version: int) -> Any:
        """Return the header's encoder; an unknown api has the header that brokers assume."""
        catalog = self._source.catalog
        message = catalog.request(api_key) if kind == "request" else catalog.response(api_key)
        if message is None:
            version = UNKNOWN_API_HEADER if kind == "request" else 0
        else:
            version = header_version_of(message.header_versions, api_version)
        return self._source.encoder("RequestHeader" if kind == "request" else "ResponseHeader", version)

    def _encode(self, message: Any, version: int) -> bytes:
        written: bytes = self._body(message, version, "encode").encode(message)
        return written

    def _encode_request(self, header: Any, body: Any) -> bytes:
        if type(header) is not self._request_header:
            raise TypeError(f"encode_request takes a RequestHeader, not {type(header).__qualname__}")
        api_key, api_version = _number(header, "api_key"), _number(header, "api_version")
        if api_key == 0 and (found := self._api_of(body)) not in (None, 0):
            header, api_key = replace(header, api_key=found), found
        head = self._header("request", api_key, api_version)
        if isinstance(body, Opaque):
            return bytes(head.encode(header) + body.data)
        encoder = self._body(body, api_version, "encode_request")
        self._of_api(body, "request", api_key, "encode_request")
        self._writer.learn_request(type(body), api_version, api_key, head)
        written: bytes = encoder.encode(body, head.encode(header))
        return written

    def _encode_response(self, correlation_id: Any, body: Any, api_key: int, api_version: int) -> bytes:
        header, head = correlation_id, self._header("response", api_key, api_version)
        if type(header) is not self._response_header:
            tags = header.unknown_tagged_fields if isinstance(header, CorrelationId) else ()
            header = self._response_header(correlation_id=correlation_id, unknown_tagged_fields=tags)
        if isinstance(body, Opaque):
            return bytes(head.encode(header) + body.data)
        encoder = self._body(body, api_version, "encode_response")
        self._of_api(body, "response", api_key, "encode_response")
        plain = head.encode(self._response_header(correlation_id=1))
        if plain in (b"\0\0\0\1", b"\0\0\0\1\0"):
            self._writer.learn_response(type(body), api_version, api_key, len(plain))
        written: bytes = encoder.encode(body, head.encode(header))
        return written


_FRAMES: Final = FrameWriter(compiled())

encode: Final = _FRAMES.encode
encode_request: Final = _FRAMES.encode_request
encode_response: Final = _FRAMES.encode_response
