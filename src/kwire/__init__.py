"""Read, write and check the Apache Kafka wire protocol.

    >>> import kwire
    >>> request = kwire.decode_request(bytes.fromhex("001200000000002a000161"))
    >>> request.header.client_id, type(request.body).__name__
    ('a', 'ApiVersionsRequest')

- Frames, with their headers: `decode_request`, `decode_response`, `peek_header`, `encode_request`, `encode_response`.
- Messages alone: `decode`, `encode`, `decode_prefix`; their classes are in `kwire.messages`.
- Record batches: `kwire.records`.
- JSON and columns: `to_json`, `from_json`, `to_arrow`, `arrow_schema`, `scan_headers`.
- Changes without decoding: `splice`, `rename_topics`, `rewrite_brokers`, `fields_about`.
- A connection, both directions paired: `Connection`; the rest of the protocol is in `kwire.protocol`.
- Another catalog of messages: `Codec`; Kafka's own catalog: `kwire.schema`, `ApiKey`, `ErrorCode`.
- Spark columns: `kwire.spark`. Captures: `kwire.capture`, `kwire.tables`, `kwire.analysis`, `kwire.report`.

All errors are a `KwireError`: `WireError` for bytes that break a rule, `EncodeError` for values that cannot be written, and `InputError`
for wrong arguments. Submodules are imported on first access.
"""

from __future__ import annotations

from kwire.lazy_names import lazy_getattr

TYPE_CHECKING = False  # type checkers read it as true; importing `typing` for it would take most of the time of ``import kwire``

if TYPE_CHECKING:
    from kwire import codec, errors, messages, protocol, records, schema, tables
    from kwire.codec import (
        Codec,
        Request,
        RequestHeader,
        Response,
        ResponseHeader,
        Uuid,
        arrow_schema,
        asdict,
        backend,
        decode,
        decode_prefix,
        decode_request,
        decode_response,
        encode,
        encode_request,
        encode_response,
        fields_about,
        from_json,
        peek_header,
        rename_topics,
        replace,
        rewrite_brokers,
        scan_headers,
        splice,
        to_arrow,
        to_json,
    )
    from kwire.errors import (
        BadChecksum,
        BadCompression,
        BadLength,
        BadTag,
        BadUtf8,
        BadVarint,
        EncodeError,
        InputError,
        KwireError,
        LimitExceeded,
        NullNotAllowed,
        TrailingBytes,
        Truncated,
        UnknownApi,
        UnsupportedVersion,
        WireError,
    )
    from kwire.protocol import Connection
    from kwire.schema import ApiKey, ErrorCode

__version__ = "0.1.0"

_HOME = {
    **dict.fromkeys(
        (
            "Codec", "Request", "RequestHeader", "Response", "ResponseHeader", "Uuid", "arrow_schema", "asdict", "backend", "decode",
            "decode_prefix", "decode_request", "decode_response", "encode", "encode_request", "encode_response", "fields_about",
            "from_json", "peek_header", "rename_topics", "replace", "rewrite_brokers", "scan_headers", "splice", "to_arrow", "to_json",
        ),
        "kwire.codec",
    ),
    **dict.fromkeys(
        (
            "BadChecksum", "BadCompression", "BadLength", "BadTag", "BadUtf8", "BadVarint", "EncodeError", "InputError", "KwireError",
            "LimitExceeded", "NullNotAllowed", "TrailingBytes", "Truncated", "UnknownApi", "UnsupportedVersion", "WireError",
        ),
        "kwire.errors",
    ),
    "Connection": "kwire.protocol",
    **dict.fromkeys(("ApiKey", "ErrorCode"), "kwire.schema"),
    **{
        name: f"kwire.{name}"
        for name in (
            "analysis", "capture", "codec", "errors", "messages", "protocol", "records", "report", "schema", "spark", "tables",
        )
    },
}  # fmt: skip

__all__ = [
    "ApiKey", "BadChecksum", "BadCompression", "BadLength", "BadTag", "BadUtf8", "BadVarint", "Codec", "Connection", "EncodeError",
    "ErrorCode", "InputError", "KwireError", "LimitExceeded", "NullNotAllowed", "Request", "RequestHeader", "Response", "ResponseHeader",
    "TrailingBytes", "Truncated", "UnknownApi", "UnsupportedVersion", "Uuid", "WireError", "__version__", "arrow_schema", "asdict",
    "backend", "codec", "decode", "decode_prefix", "decode_request", "decode_response", "encode", "encode_request", "encode_response",
    "errors", "fields_about", "from_json", "messages", "peek_header", "protocol", "records", "rename_topics", "replace", "rewrite_brokers",
    "scan_headers", "schema", "splice", "tables", "to_arrow", "to_json",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = lazy_getattr(globals(), _HOME)
