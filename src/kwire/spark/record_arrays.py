"""Conversion of record batches in a binary column to arrays of records."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.codec.records import to_arrow
from kwire.spark.reading_options import ReadingOptions

__all__ = ["RecordArrays"]

_FIELDS: Final = to_arrow([]).schema


class RecordArrays:
    """Mapping of record batches to arrays of records, with the columns of `kwire.records.to_arrow` without `buffer`.

    A batch that cannot be read is one element of nulls with `batch` and `error`.
    """

    takes = 1
    type = pa.list_(pa.struct(list(_FIELDS)[1:]))

    def __init__(self, options: ReadingOptions | None = None) -> None:
        self.options = options or ReadingOptions()

    def __call__(self, buffers: Any) -> Any:
        """Return the records of an array of any binary type; a null gives a null; empty bytes or a truncated batch give no records."""
        batch = to_arrow(buffers, errors="raise" if self.options.fails else "column")
        counts = np.bincount(np.asarray(batch.column(0)), minlength=len(buffers))
        *columns, errors = batch.columns[1:]
        # A row does not know which one of an Arrow batch it is.
        columns.append(pc.replace_substring_regex(errors, r"buffers\[\d+\]\.", ""))
        records = pa.StructArray.from_arrays(columns, fields=list(_FIELDS)[1:])
        ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        offsets: Any = pa.array(ends, pa.int32(), mask=np.append(buffers.is_null(), False))
        return pa.ListArray.from_arrays(offsets, records, type=self.type)
