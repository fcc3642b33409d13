"""Protocol data: message definitions over all versions, header versions, releases, error codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_getattr
from kwire.schema.definitions import definition_of, parse_definition
from kwire.schema.model import NO_VERSIONS, SCALARS, Catalog, Field, Kind, Message, Struct, Versions, camel_name, snake_name
from kwire.schema.stored import catalog, header_version

if TYPE_CHECKING:
    from kwire.schema.dialects import DIALECTS, dialect
    from kwire.schema.error_codes import error_name, error_names
    from kwire.schema.loader import load
    from kwire.schema.named_catalogs import named_catalog, release_catalog
    from kwire.schema.release_table import Release, Releases, Target, guess, releases
    from kwire.schema.wire_enums import ApiKey, ErrorCode

__all__ = [
    "ApiKey", "Catalog", "DIALECTS", "ErrorCode", "Field", "Kind", "Message", "NO_VERSIONS", "Release", "Releases", "SCALARS", "Struct",
    "Target", "Versions", "camel_name", "catalog", "definition_of", "dialect", "error_name", "error_names", "guess", "header_version",
    "load", "named_catalog", "parse_definition", "release_catalog", "releases", "snake_name",
]  # fmt: skip

if not TYPE_CHECKING:
    # What a decoder never needs is imported when it is first asked for: reading jars brings zipfile and pathlib.
    __getattr__ = lazy_getattr(
        globals(),
        dialects="DIALECTS dialect",
        error_codes="error_name error_names",
        loader="load",
        named_catalogs="named_catalog release_catalog",
        release_table="Release Releases Target guess releases",
        wire_enums="ApiKey ErrorCode",
    )
