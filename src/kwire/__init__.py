"""kwire: the Apache Kafka wire protocol for Python at memory speed. Names are imported on first use (in Spark workers too)."""

from __future__ import annotations

from kwire.lazy_names import lazy_getattr

TYPE_CHECKING = False  # type checkers read it as true; importing `typing` for it would take most of the time of ``import kwire``

if TYPE_CHECKING:
    from kwire import codec, messages, protocol, schema, tables
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
        records,
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
    **{room: f"kwire.{room}" for room in ("analysis", "capture", "codec", "messages", "protocol", "report", "schema", "spark", "tables")},
    "records": "kwire.codec.records",
}  # fmt: skip

__all__ = [
    "ApiKey", "BadChecksum", "BadCompression", "BadLength", "BadTag", "BadUtf8", "BadVarint", "Codec", "Connection", "EncodeError",
    "ErrorCode", "InputError", "KwireError", "LimitExceeded", "NullNotAllowed", "Request", "RequestHeader", "Response", "ResponseHeader",
    "TrailingBytes", "Truncated", "UnknownApi", "UnsupportedVersion", "Uuid", "WireError", "__version__", "arrow_schema", "asdict",
    "backend", "codec", "decode", "decode_prefix", "decode_request", "decode_response", "encode", "encode_request", "encode_response",
    "fields_about", "from_json", "messages", "peek_header", "protocol", "records", "rename_topics", "replace", "rewrite_brokers",
    "scan_headers", "schema", "splice", "tables", "to_arrow", "to_json",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = lazy_getattr(globals(), _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
