"""kwire: the Apache Kafka wire protocol for Python at memory speed.

A lazy facade: a name is imported from its room when it is first used, so that ``import kwire`` costs next to nothing in a Spark worker.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true; importing `typing` for it would take most of the time of ``import kwire``

if TYPE_CHECKING:
    from typing import Any

    from kwire import codec, messages, protocol, schema, tables
    from kwire.codec import (
        Codec,
        Request,
        RequestHeader,
        Response,
        ResponseHeader,
        Uuid,
        arrow_schema,
        backend,
        decode,
        decode_prefix,
        decode_request,
        decode_response,
        encode,
        encode_request,
        encode_response,
        from_json,
        peek_header,
        records,
        rename_topics,
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

__version__ = "0.1.0"

_HOME = {
    **dict.fromkeys(
        (
            "Codec", "Request", "RequestHeader", "Response", "ResponseHeader", "Uuid", "arrow_schema", "backend", "decode", "decode_prefix",
            "decode_request", "decode_response", "encode", "encode_request", "encode_response", "from_json", "peek_header",
            "rename_topics", "rewrite_brokers", "scan_headers", "splice", "to_arrow", "to_json",
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
}  # fmt: skip
_ROOMS = frozenset(("analysis", "capture", "codec", "messages", "protocol", "report", "schema", "spark", "tables"))
_INNER_ROOMS = {"records": "kwire.codec.records"}

__all__ = [
    "BadChecksum", "BadCompression", "BadLength", "BadTag", "BadUtf8", "BadVarint", "Codec", "Connection", "EncodeError", "InputError",
    "KwireError", "LimitExceeded", "NullNotAllowed", "Request", "RequestHeader", "Response", "ResponseHeader", "TrailingBytes", "Truncated",
    "UnknownApi", "UnsupportedVersion", "Uuid", "WireError", "__version__", "arrow_schema", "backend", "codec", "decode", "decode_prefix",
    "decode_request", "decode_response", "encode", "encode_request", "encode_response", "from_json", "messages", "peek_header", "protocol",
    "records", "rename_topics", "rewrite_brokers", "scan_headers", "schema", "splice", "tables", "to_arrow", "to_json",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    import importlib  # not before a name is asked for

    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _ROOMS:
        value = importlib.import_module(f"kwire.{name}")
    elif name in _INNER_ROOMS:
        value = importlib.import_module(_INNER_ROOMS[name])
    else:
        raise AttributeError(f"module 'kwire' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
