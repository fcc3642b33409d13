"""Decoding of frames and messages: `kwire.decode`, `decode_request`, `decode_response` and `peek_header`.

Strict reading raises for the first broken rule. Lenient reading, for taps, raises only for unreadable headers: an unknown api or version or
a malformed body becomes `Opaque` with the reason; trailing bytes and invalid UTF-8 are tolerated (Java's readers replace it).

Counts are checked against the bytes left before allocation, so a message takes less than `MEMORY_MULTIPLE` bytes per byte of input plus
`MESSAGE_BYTES` at any moment, in either backend.

With ``memoryviews=True``, bytes and records that the frame holds are read-only views of it (`MEMORY_MULTIPLE_OF_VIEWS` applies). The frame
lives as long as its views; do not change it. Pickles and deep copies hold bytes instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.described import describe
from kwire.codec.frames import CorrelationId, Opaque, Request, Response
from kwire.codec.impl import load_twin
from kwire.codec.memory_views import read_only
from kwire.errors import BadLength, Fault, WireError, wire_error
from kwire.schema.header_versions import header_version_of, request_header_versions

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from kwire.messages import RequestHeader

__all__ = [
    "MEMORY_MULTIPLE", "MEMORY_MULTIPLE_OF_VIEWS", "MESSAGE_BYTES", "FrameReader", "decode", "decode_request", "decode_response",
    "message_reader", "peek_header", "with_length_hint",
]  # fmt: skip

# The densest there is: an entry of AlterClientQuotasRequest v1, three bytes for an object and two empty lists, 59 for each byte. Others
# stay below 46; a tagged field of no version, two bytes for a tuple of a number and empty bytes, takes 37.
MEMORY_MULTIPLE: Final = 64
MEMORY_MULTIPLE_OF_VIEWS: Final = 96  # a view takes about 200 bytes, and one of no bytes is a byte on the wire
MESSAGE_BYTES: Final = 32_768  # covers the pure backend's error lookup; 1,024 suffices otherwise

LENGTH_BYTES: Final = 4  # in front of a frame, on the wire
API_VERSIONS: Final = 18
UNSUPPORTED_VERSION: Final = 35  # Kafka's error code
_LENGTH_HINT: Final = " (the first 4 bytes look like a length prefix; pass the frame without it)"
UNKNOWN_API_HEADER: Final = 1  # brokers read the header of an api that they do not know as version 1; nothing better is known


def _bytes_from(data: Any, offset: int, memoryviews: bool) -> bytes | memoryview:
    rest = read_only(data)[offset:]
    return rest if memoryviews else rest.tobytes()


def _read_leniently(decoder: Any, data: Any, offset: int, memoryviews: bool) -> tuple[Any, WireError | None]:
    try:
        body, end = decoder.decode(data, offset, True, memoryviews)
    except WireError as error:
        return Opaque(_bytes_from(data, offset, memoryviews), error), error
    if end == memoryview(data).nbytes:
        return body, None
    plan = decoder.plan
    return body, wire_error(Fault.TRAILING_BYTES, end, "", plan.message, plan.api_key, plan.version)


def _begins_with_length(frame: Any) -> bool:
    view = memoryview(frame).cast("B")
    return view.nbytes > LENGTH_BYTES and int.from_bytes(view[:LENGTH_BYTES], "big") == view.nbytes - LENGTH_BYTES


def with_length_hint(frame: Any, error: WireError) -> WireError:
    """Add a hint to the error of a frame that seems to start with its length."""
    if _begins_with_length(frame) and not error.reason.endswith(_LENGTH_HINT):
        error.reason += _LENGTH_HINT
    return error


def _attempt(decoder: Any, data: Any, offset: int, strict: bool, memoryviews: bool) -> tuple[Any, WireError | None]:
    """Return a body and its fault; `decoder` may be an error instead, if there is no decoder."""
    if isinstance(decoder, WireError):
        return Opaque(_bytes_from(data, offset, memoryviews), decoder), decoder
    if not strict:
        return _read_leniently(decoder, data, offset, memoryviews)
    try:
        return decoder.decode_whole(data, offset, False, memoryviews), None
    except WireError as error:
        return None, error


class DecodeRequest(Protocol):
    """Decode a request frame; API key and version come from its header.

    Arguments:
        frame: header and body, without the 4-byte length; any contiguous buffer.
        strict: if False, return an unknown API or version or a malformed body as `Opaque`, with the error in `violation`, and accept
            trailing bytes and invalid UTF-8, instead of raising.
        fields: paths of the body's fields to decode, such as ``topic_data.name``; the others are skipped.
        memoryviews: return bytes and records as read-only views of the frame instead of copies. The frame lives as long as its views; do
            not change it.

    Returns:
        A `Request` with `header`, `body` and `violation`.

    Raises:
        WireError: the bytes break a rule (`UnknownApi`, `UnsupportedVersion`, `TrailingBytes` too); if not strict, only for headers.
        KwireError: a path names no field of the body's message.

    Example:
        >>> import kwire
        >>> frame = bytes.fromhex("001200000000002a000161")  # ApiVersions, version 0, correlation id 42, client id "a"
        >>> request = kwire.decode_request(frame)
        >>> request.header.client_id, type(request.body).__name__
        ('a', 'ApiVersionsRequest')
    """

    def __call__(
        self, frame: Buffer, *, strict: bool = True, fields: Sequence[str] | None = None, memoryviews: bool = False
    ) -> Request[Any]: ...


class DecodeResponse(Protocol):
    """Decode a response frame, given API key and version of its request.

    A broker that does not know the version of an ApiVersions request answers in version 0 with error 35 (KIP-511; brokers 0.10 and 0.11
    with an empty list). Such a body is recognised by reading: it fits version 0 exactly, not the requested one, and its error is 35.

    Arguments:
        frame: header and body, without the 4-byte length; any contiguous buffer.
        api_key: API key of the request.
        api_version: version of the request.
        strict: if False, return an unknown API or version or a malformed body as `Opaque`, with the error in `violation`, and accept
            trailing bytes and invalid UTF-8, instead of raising.
        fields: paths of the body's fields to decode; the others are skipped.
        memoryviews: return bytes and records as read-only views of the frame instead of copies.

    Returns:
        A `Response` with `header`, `body`, `api_version` (of the body) and `violation`.

    Raises:
        WireError: the bytes break a rule; if not strict, only for headers.
        KwireError: a path names no field of the body's message.

    Example:
        >>> import kwire
        >>> frame = bytes.fromhex("0000002a0023") + bytes(4)  # correlation id 42, error 35, no APIs
        >>> kwire.decode_response(frame, 18, 0).body.error_code
        35
    """

    def __call__(
        self,
        frame: Buffer,
        api_key: int,
        api_version: int,
        *,
        strict: bool = True,
        fields: Sequence[str] | None = None,
        memoryviews: bool = False,
    ) -> Response[Any]: ...


class PeekHeader(Protocol):
    """Decode only the header of a request frame.

    Arguments:
        frame: header, without the 4-byte length; the body may be missing.
        strict: reject a client id that is not UTF-8; if False, replace the invalid bytes, as Kafka's Java readers do.

    Returns:
        The `RequestHeader`. If not strict, the header of an unknown API is read in version 1, as brokers do.

    Raises:
        WireError: the header is malformed, also if not strict; if strict, `UnknownApi`, and `BadLength` for a frame that begins with its
            own length.

    Example:
        >>> import kwire
        >>> kwire.peek_header(bytes.fromhex("001200000000002a000161")).api_key
        18
    """

    def __call__(self, frame: Buffer, *, strict: bool = True) -> RequestHeader: ...


class FrameReader:
    """Decoder of a catalog's frames."""

    def __init__(self, source: CompiledCatalog) -> None:
        self._source = source
        headers = {version: source.decoder("RequestHeader", version) for version in source.message("RequestHeader").valid_versions}
        reader = load_twin("codec", "headers", source.twin).HeaderReader(
            headers, partial(request_header_versions, source.catalog), UNKNOWN_API_HEADER, self._refuse_length
        )
        self.read_request_header = reader.read
        """`read_request_header(frame, *, strict=True)` returns the `RequestHeader` of a frame and the offset of its body."""
        # Calls from outside meet the twin's reader of usual frames first: no projection, a version that is known, nothing at fault.
        frames = load_twin("codec", "frames", source.twin)
        self._requests = frames.RequestReader(Request, self._decode_request)
        self._responses = frames.ResponseReader(Response, self._decode_response)
        self.decode_request: DecodeRequest = self._requests.decode_request
        self.decode_response: DecodeResponse = self._responses.decode_response
        self.peek_header: PeekHeader = reader.peek
        describe(self.decode_request, DecodeRequest)
        describe(self.decode_response, DecodeResponse)
        describe(self.peek_header, PeekHeader)

    def _refuse_length(self, api_key: int, api_version: int, frame: Any) -> None:
        """Raise for a frame that begins with its length, read as the header of an unknown API or version."""
        error = self.request_decoder(api_key, api_version, None, frame)
        if isinstance(error, BadLength):
            raise error

    def request_decoder(self, api_key: int, api_version: int, fields: Sequence[str] | None, frame: Any = b"") -> Any:
        """Return the decoder of a request's body, or the error that says why there is none; `frame` may begin with its length."""
        message = self._source.catalog.request(api_key)
        if (message is None or api_version not in message.valid_versions) and _begins_with_length(frame):
            return with_length_hint(frame, wire_error(Fault.BAD_LENGTH, 0, "", "RequestHeader"))
        if message is None:
            return wire_error(Fault.UNKNOWN_API, 0, "api_key", "RequestHeader", api_key, api_version, f"unknown API key {api_key}")
        if api_version not in message.valid_versions:
            reason = f"version {api_version} of {message.name} is not known, only {message.valid_versions}"
            return wire_error(Fault.UNSUPPORTED_VERSION, 2, "api_version", message.name, api_key, api_version, reason)
        return self._source.decoder(message.name, api_version, fields)

    def _header_decoder(self, header: Any) -> Any:
        message = self._source.catalog.request(header.api_key)
        assert message is not None
        return self._source.decoder("RequestHeader", header_version_of(message.header_versions, header.api_version))

    def _decode_request(self, frame: Any, strict: bool, fields: Sequence[str] | None, memoryviews: bool) -> Request[Any]:
        try:
            return self._read_request(frame, strict, fields, memoryviews)
        except WireError as error:
            raise with_length_hint(frame, error) from None

    def _read_request(self, frame: Any, strict: bool, fields: Sequence[str] | None, memoryviews: bool) -> Request[Any]:
        header, offset = self.read_request_header(frame, strict=strict)
        decoder = self.request_decoder(header.api_key, header.api_version, fields, frame)
        if fields is None and not isinstance(decoder, WireError):
            self._requests.learn(header.api_key, header.api_version, self._header_decoder(header), decoder)
        body, violation = _attempt(decoder, frame, offset, strict, memoryviews)
        if strict and violation is not None:
            raise violation
        return Request(header, body, violation)

    def response_decoders(self, api_key: int, api_version: int, fields: Sequence[str] | None) -> tuple[Any, Any]:
        """Return the decoders of a response's header and body; the latter may be an error, if there is none."""
        message = self._source.catalog.response(api_key)
        if message is None:
            reason = f"unknown API key {api_key}"
            return self._source.decoder("ResponseHeader", 0), wire_error(
                Fault.UNKNOWN_API, 0, "", "ResponseHeader", api_key, api_version, reason
            )
        header = self._source.decoder("ResponseHeader", header_version_of(message.header_versions, api_version))
        if api_version not in message.valid_versions:
            reason = f"version {api_version} of {message.name} is not known, only {message.valid_versions}"
            return header, wire_error(Fault.UNSUPPORTED_VERSION, 0, "", message.name, api_key, api_version, reason)
        return header, self._source.decoder(message.name, api_version, fields)

    def _decode_response(
        self, frame: Any, api_key: int, api_version: int, strict: bool, fields: Sequence[str] | None, memoryviews: bool
    ) -> Response[Any]:
        try:
            return self._read_response(frame, api_key, api_version, strict, fields, memoryviews)
        except WireError as error:
            raise with_length_hint(frame, error) from None

    def _read_response(
        self, frame: Any, api_key: int, api_version: int, strict: bool, fields: Sequence[str] | None, memoryviews: bool
    ) -> Response[Any]:
        header_decoder, decoder = self.response_decoders(api_key, api_version, fields)
        if fields is None and not isinstance(decoder, WireError):
            self._responses.learn(api_key, api_version, header_decoder, decoder)
        header, offset = header_decoder.decode(frame)
        if header.unknown_tagged_fields:
            header.correlation_id = CorrelationId(header.correlation_id, header.unknown_tagged_fields)
        body, violation = _attempt(decoder, frame, offset, strict, memoryviews)
        if violation is not None:
            if api_key == API_VERSIONS and self.is_refusal(frame, offset):
                body = self._source.decoder("ApiVersionsResponse", 0, fields).decode_whole(frame, offset)
                return Response(header, body, API_VERSIONS, 0)
            if strict:
                raise violation
        return Response(header, body, api_key, api_version, violation)

    def is_refusal(self, frame: Any, offset: int) -> bool:
        """Return whether a body is exactly an ApiVersions response of version 0 with error 35."""
        if self._source.catalog.response(API_VERSIONS) is None:
            return False
        try:
            body = self._source.decoder("ApiVersionsResponse", 0, ("error_code",)).decode_whole(frame, offset)
        except WireError:
            return False
        return bool(body.error_code == UNSUPPORTED_VERSION)


class DecodeMessage(Protocol):
    """Decode one message of any kind in the catalog, without a header.

    Arguments:
        name: name of the message, such as ``MetadataResponse``.
        data: bytes of the whole message; any contiguous buffer.
        version: version of the message.
        fields: paths of the fields to decode, such as ``topics.partitions.leader_id``; the others are skipped.
        strict: if False, accept trailing bytes and invalid UTF-8, and return an `Opaque` for a malformed message, instead of raising.
        memoryviews: return bytes and records as read-only views of `data` instead of copies. `data` lives as long as its views; do not
            change it.

    Returns:
        A message object of `kwire.messages`, such as `kwire.messages.MetadataResponse`.

    Raises:
        WireError: the bytes break a rule, or `UnsupportedVersion`.
        KwireError: no such message, or a path names no field of it.

    Example:
        >>> import kwire
        >>> kwire.decode("ApiVersionsResponse", bytes.fromhex("002300000000"), 0).error_code
        35
    """

    def __call__(
        self, name: str, data: Any, version: int, *, fields: Sequence[str] | None = None, strict: bool = True, memoryviews: bool = False
    ) -> Any: ...


def message_reader(source: CompiledCatalog) -> DecodeMessage:
    whole: dict[tuple[str, int], Any] = {}

    def decode(
        name: str, data: Buffer, version: int, *, fields: Sequence[str] | None = None, strict: bool = True, memoryviews: bool = False
    ) -> Any:
        if strict and fields is None:
            read = whole.get((name, version))
            if read is None:
                read = whole[name, version] = source.decoder(name, version).decode_whole
            return read(data, 0, False, True) if memoryviews else read(data)
        try:
            decoder = source.decoder(name, version, fields)
        except WireError as error:
            if strict:
                raise
            return Opaque(_bytes_from(data, 0, memoryviews), error)
        if strict:
            return decoder.decode_whole(data, 0, False, memoryviews)
        return _read_leniently(decoder, data, 0, memoryviews)[0]

    decode.__doc__ = DecodeMessage.__doc__
    decode.__qualname__ = "decode"
    return decode


_COMPILED: Final = compiled()
_FRAMES: Final = FrameReader(_COMPILED)

decode: Final = message_reader(_COMPILED)
decode_request: Final = _FRAMES.decode_request
decode_response: Final = _FRAMES.decode_response
peek_header: Final = _FRAMES.peek_header
