"""Bytes to messages and back: plans, their executors in two twins, frames, JSON. A lazy facade."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kwire.codec.by_name import decode, from_json
    from kwire.codec.catalog_codec import Codec
    from kwire.codec.classes import CompiledCatalog, message_class
    from kwire.codec.columns import Columns, arrow_schema, to_arrow
    from kwire.codec.decoding import FrameReader, decode_request, decode_response, peek_header
    from kwire.codec.encoding import FrameWriter, encode, encode_request, encode_response
    from kwire.codec.frames import Opaque, Request, Response
    from kwire.codec.header_scan import HeaderColumns, HeaderScan, scan_headers
    from kwire.codec.impl import backend
    from kwire.codec.json_form import to_json
    from kwire.codec.prefix import PrefixReader, decode_prefix
    from kwire.codec.splicing import FrameSplicer, rename_topics, rewrite_brokers, splice
    from kwire.codec.uuids import Uuid
    from kwire.messages import RequestHeader, ResponseHeader

_HOME = {
    "Codec": "catalog_codec",
    **dict.fromkeys(("CompiledCatalog", "message_class"), "classes"),
    **dict.fromkeys(("Columns", "arrow_schema", "to_arrow"), "columns"),
    **dict.fromkeys(("FrameReader", "decode", "decode_request", "decode_response", "peek_header"), "decoding"),
    **dict.fromkeys(("FrameWriter", "encode", "encode_request", "encode_response"), "encoding"),
    **dict.fromkeys(("Opaque", "Request", "Response"), "frames"),
    **dict.fromkeys(("HeaderColumns", "HeaderScan", "scan_headers"), "header_scan"),
    **dict.fromkeys(("PrefixReader", "decode_prefix"), "prefix"),
    **dict.fromkeys(("FrameSplicer", "rename_topics", "rewrite_brokers", "splice"), "splicing"),
    "Uuid": "uuids",
    "backend": "impl",
    "from_json": "json_reading",
    "to_json": "json_form",
}
_HEADERS = ("RequestHeader", "ResponseHeader")

__all__ = [
    "Codec", "Columns", "CompiledCatalog", "FrameReader", "FrameSplicer", "FrameWriter", "HeaderColumns", "HeaderScan", "Opaque",
    "PrefixReader", "Request", "RequestHeader", "Response", "ResponseHeader", "Uuid", "arrow_schema", "backend", "decode", "decode_prefix",
    "decode_request", "decode_response", "encode", "encode_request", "encode_response", "from_json", "message_class", "peek_header",
    "rename_topics", "rewrite_brokers", "scan_headers", "splice", "to_arrow", "to_json",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"kwire.codec.{_HOME[name]}"), name)
    elif name in _HEADERS:
        value = getattr(importlib.import_module("kwire.messages"), name)
    else:
        raise AttributeError(f"module 'kwire.codec' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
