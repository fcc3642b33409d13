"""Facts about the protocol, as data: message definitions over all versions, header versions, releases, error codes. No bytes here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.schema.definitions import definition_of, parse_definition
from kwire.schema.model import NO_VERSIONS, SCALARS, Catalog, Field, Kind, Message, Struct, Versions, camel_name, snake_name
from kwire.schema.stored import catalog, header_version

if TYPE_CHECKING:
    from kwire.schema.dialects import DIALECTS, dialect
    from kwire.schema.error_codes import error_name, error_names
    from kwire.schema.loader import load
    from kwire.schema.named_catalogs import named_catalog, release_catalog
    from kwire.schema.release_table import Release, Releases, guess, releases

__all__ = [
    "DIALECTS", "NO_VERSIONS", "SCALARS", "Catalog", "Field", "Kind", "Message", "Release", "Releases", "Struct", "Versions", "camel_name",
    "catalog", "definition_of", "dialect", "error_name", "error_names", "guess", "header_version", "load", "named_catalog",
    "parse_definition", "release_catalog", "releases", "snake_name",
]  # fmt: skip

# What a decoder never needs is imported when it is first asked for: reading jars brings zipfile and pathlib.
_LATER = {
    "DIALECTS": "dialects",
    "dialect": "dialects",
    "load": "loader",
    "named_catalog": "named_catalogs",
    "release_catalog": "named_catalogs",
    "error_name": "error_codes",
    "error_names": "error_codes",
    "Release": "release_table",
    "Releases": "release_table",
    "guess": "release_table",
    "releases": "release_table",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
