"""Facts about the protocol, as data: message definitions over all versions, header versions, releases, error codes. No bytes here."""

from __future__ import annotations

from kwire.schema.loader import definition_of, load, parse_definition
from kwire.schema.model import NO_VERSIONS, SCALARS, Catalog, Field, Kind, Message, Struct, Versions, camel_name, snake_name
from kwire.schema.stored import catalog, header_version

__all__ = [
    "NO_VERSIONS", "SCALARS", "Catalog", "Field", "Kind", "Message", "Struct", "Versions", "camel_name", "catalog", "definition_of",
    "header_version", "load", "parse_definition", "snake_name",
]  # fmt: skip
