"""Decoding and encoding of messages: plans, two backends that execute them, frames and JSON. Submodules are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from kwire.codec.broker_addresses import AddressTable
    from kwire.codec.by_name import decode, decode_response, from_json
    from kwire.codec.catalog_codec import Codec
    from kwire.codec.class_descriptions import asdict, replace
    from kwire.codec.classes import CompiledCatalog, message_class
    from kwire.codec.columns import Columns, arrow_schema, to_arrow
    from kwire.codec.decoding import FrameReader, decode_request, peek_header
    from kwire.codec.edit_fields import FieldsAbout, fields_about
    from kwire.codec.edit_names import AddPrefix, RemovePrefix
    from kwire.codec.edits import Edit, EditChanges
    from kwire.codec.encoding import FrameWriter, encode, encode_request, encode_response
    from kwire.codec.frames import Opaque, Request, Response
    from kwire.codec.header_scan import HeaderColumns, HeaderScan, scan_headers
    from kwire.codec.impl import backend
    from kwire.codec.json_form import to_json
    from kwire.codec.prefix import PrefixReader, decode_prefix
    from kwire.codec.splicing import FrameSplicer, rename_topics, rewrite_brokers, splice
    from kwire.codec.uuids import Uuid
    from kwire.codec.version_limits import VersionLimits
    from kwire.messages import RequestHeader, ResponseHeader

__all__ = [
    "AddPrefix", "AddressTable", "Codec", "Columns", "CompiledCatalog", "Edit", "EditChanges", "FieldsAbout", "FrameReader", "FrameSplicer",
    "FrameWriter", "HeaderColumns", "HeaderScan", "Opaque", "PrefixReader", "RemovePrefix", "Request", "RequestHeader", "Response",
    "ResponseHeader", "Uuid", "VersionLimits", "arrow_schema", "asdict", "backend", "decode", "decode_prefix", "decode_request",
    "decode_response", "encode", "encode_request", "encode_response", "fields_about", "from_json", "message_class", "peek_header",
    "rename_topics", "replace", "rewrite_brokers", "scan_headers", "splice", "to_arrow", "to_json",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = lazy_getattr(
        globals(),
        dict.fromkeys(("RequestHeader", "ResponseHeader"), "kwire.messages"),
        broker_addresses="AddressTable",
        catalog_codec="Codec",
        class_descriptions="asdict replace",
        classes="CompiledCatalog message_class",
        columns="Columns arrow_schema to_arrow",
        decoding="FrameReader decode decode_request decode_response peek_header",
        edit_fields="FieldsAbout fields_about",
        edit_names="AddPrefix RemovePrefix",
        edits="Edit EditChanges",
        encoding="FrameWriter encode encode_request encode_response",
        frames="Opaque Request Response",
        header_scan="HeaderColumns HeaderScan scan_headers",
        impl="backend",
        json_form="to_json",
        json_reading="from_json",
        prefix="PrefixReader decode_prefix",
        splicing="FrameSplicer rename_topics rewrite_brokers splice",
        uuids="Uuid",
        version_limits="VersionLimits",
    )
