"""Rows of a table as dataclasses of the report."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar, cast

__all__ = ["record"]

_Record = TypeVar("_Record")


@cache
def _columns(kind: Any) -> tuple[tuple[str, Any], ...]:
    """Return the fields, each with its value for null: an empty text or list, or 0, unless the type includes None."""
    types = {field.name: str(field.type) for field in fields(kind)}
    empty = {"str": "", "int": 0, "bool": False}
    return tuple((name, () if type_.startswith("tuple[") else empty.get(type_)) for name, type_ in types.items())


def record(kind: type[_Record], row: Mapping[str, Any], /, **given: Any) -> _Record:
    """Create a dataclass object from the columns of a row, except for given fields; lists become tuples."""
    for name, empty in _columns(cast("Hashable", kind)):
        if name not in given:
            value = row[name]
            given[name] = empty if value is None else tuple(value) if isinstance(value, list) else value
    return kind(**given)
