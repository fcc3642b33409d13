"""Sorted lists of distinct values as one array, without a Python object per value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import Ints, aggregated

__all__ = ["lists_of"]


def lists_of(numbers: Ints, values: Any, count: int, type_: pa.DataType) -> Any:
    """Return the distinct values of each of `count` lists, sorted, without nulls, as one array; `numbers` has the list of each value."""
    pairs = pa.table({"list": pa.array(numbers), "value": values}).filter(pc.is_valid(pc.field("value")))
    distinct = aggregated(pairs, ["list", "value"]).sort_by([("list", "ascending"), ("value", "ascending")]).combine_chunks()
    lengths = np.bincount(distinct.column("list").to_numpy(), minlength=count)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    starts: Any = pa.array(offsets)
    flat: Any = distinct.column("value").combine_chunks()
    element: Any = type_
    lists: Any = pa.ListArray.from_arrays(starts, flat.cast(element.value_type), type=element)
    return lists
