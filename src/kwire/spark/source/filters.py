"""Conditions of `where` that the reader applies before rows are sent to Spark, which checks them again.

So an unsupported condition only costs time. Conditions on non-integer numbers are left to Spark, where NaN equals itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import and_, eq, ge, gt, le, lt
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import datasource

__all__ = ["condition_of"]

_COMPARED: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "EqualTo": eq, "GreaterThan": gt, "GreaterThanOrEqual": ge, "LessThan": lt, "LessThanOrEqual": le,
}  # fmt: skip


def condition_of(filters: Iterable[datasource.Filter], schema: pa.Schema) -> pc.Expression | None:
    """Combine all supported conditions from Spark; return None if there are none. `schema` is the schema of the rows."""
    known = [found for each in filters if (found := _expression(each, schema)) is not None]
    return reduce(and_, known) if known else None


def _expression(given: Any, schema: pa.Schema) -> Any:
    path: tuple[str, ...] = getattr(given, "attribute", ())
    if len(path) != 1 or path[0] not in schema.names:
        return None
    kind = schema.field(path[0]).type
    column = pc.field(path[0])
    name = type(given).__name__
    if name == "IsNotNull":
        return column.is_valid()
    if name == "IsNull":
        return column.is_null()
    if pa.types.is_nested(kind) or pa.types.is_floating(kind):
        return None
    try:
        if name in _COMPARED and given.value is not None:
            return _COMPARED[name](column, pa.scalar(given.value, kind))
        if name == "In" and None not in given.value:
            return column.isin(pa.array(given.value, kind))
        if name == "StringStartsWith" and pa.types.is_string(kind):
            return pc.starts_with(column, given.value)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return None  # a value that the column cannot have, as Spark sees it
    return None
