"""Rows of exploded arrays: one row per element.

A text of 32 KB over an array of 60,000 elements makes 2 GB, so the size of all copies is computed before any is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from kwire.codec.arrow_types import ArrowArray
from kwire.codec.column_layout import ColumnLayout

__all__ = ["Explosion", "Filled", "RepeatLimit", "sizes_of_rows"]

Numbers = np.ndarray[Any, Any]


class Filled(Protocol):
    """Columns filled by an executor."""

    def batch(self, level: int, rows: int, errors: bool, schema: pa.Schema, importer: Any) -> pa.RecordBatch:
        """Return the columns of a level, `message_index` first if the layout has it, and null error columns with `errors`."""

    def offsets(self, column: int, rows: int) -> Any:
        """Return the offsets of the elements of each row of an array, and the last end (int32)."""


class RepeatLimit(NamedTuple):
    """Limit of the bytes of copied values: `least`, or the result of `most`, which may read all messages."""

    least: int
    most: Callable[[], int]


def _spread_over(offsets: ArrowArray, below: Numbers | None) -> Numbers:
    """Return the size of each list row's elements, or of each text if `below` is None."""
    ends = np.asarray(offsets, np.int64)
    if below is not None:
        ends = np.concatenate(([0], np.cumsum(below)))[ends]
    return np.diff(ends)


def sizes_of_rows(array: ArrowArray) -> Numbers:
    """Return the size in bytes of each row of an array of a `kwire.codec.arrow_types` type."""
    kind, rows = array.type, len(array)
    if not rows:
        return np.zeros(0, np.int64)
    if pa.types.is_struct(kind):
        return sum((sizes_of_rows(each) for each in array.flatten()), np.zeros(rows, np.int64))
    if pa.types.is_list(kind):
        return _spread_over(array.offsets, sizes_of_rows(array.values)) + 4
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        offsets = pa.Array.from_buffers(pa.int32(), rows + 1, [None, array.buffers()[1]], offset=array.offset)
        return _spread_over(offsets, None) + 4
    return np.full(rows, max(kind.bit_width // 8, 1), np.int64)


class Explosion:
    """Row numbers of each level for each row of the result; `rows` is the number of messages."""

    def __init__(self, filled: Filled, layout: ColumnLayout, rows: int) -> None:
        self.rows = [rows]  # of each level
        self.picked: list[Numbers | None] = [None]  # rows of a level in the result, -1 for none; None: each row once, in order
        self.count = rows
        for number, level in enumerate(layout.levels[1:]):
            self._enter(filled, number, level.steps)

    def _enter(self, filled: Filled, above: int, steps: tuple[int, ...]) -> None:
        rows = self.rows[above]
        starts = np.frombuffer(filled.offsets(steps[-1], rows), np.int32, rows + 1).astype(np.int64)
        lengths = np.diff(starts)
        self.rows.append(int(starts[-1]))
        picked = self.picked[above]
        if picked is not None:
            # -1, a row that is not there, has no elements either
            lengths = np.append(lengths, 0)[picked]
            starts = starts[picked]
        else:
            starts = starts[:-1]
        counts = np.maximum(lengths, 1)
        repeated = np.repeat(np.arange(self.count), counts)
        self.picked = [repeated if each is None else each[repeated] for each in self.picked]
        if picked is None and lengths.all():
            self.picked.append(None)
        else:
            firsts = np.repeat(np.cumsum(counts) - counts, counts)
            inside = np.arange(len(repeated)) - firsts + starts[repeated]
            self.picked.append(np.where(lengths[repeated] > 0, inside, -1))
        self.count = len(repeated)

    def refused(self, levels: list[pa.RecordBatch], limit: RepeatLimit) -> list[int]:
        """Return the messages whose repeated values exceed a limit, in order; `levels` has the columns of each level on its own rows."""
        above = [(level, picked) for level, picked in zip(levels[:-1], self.picked, strict=False) if picked is not None]
        if self.count * sum(level.nbytes for level, _ in above) <= limit.least:
            return []
        total = np.zeros(self.count, np.int64)  # of each row of the result
        for level, picked in above:
            for column in level.columns:
                total += np.append(sizes_of_rows(column), 0)[picked]
        most = limit.most()
        if int(total.sum()) <= most:
            return []
        by_message = np.zeros(self.rows[0], np.int64)
        np.add.at(by_message, above[0][1], total)  # the first level, of the messages, is repeated where any is
        found, used = [], 0
        for message, size in enumerate(by_message.tolist()):
            if used + size > most:
                found.append(message)
            else:
                used += size
        return found

    def spread(self, array: ArrowArray, level: int) -> ArrowArray:
        """Return an array of a level's rows on the rows of the result."""
        picked = self.picked[level]
        if picked is None:
            return array
        missing = picked < 0
        return array.take(pa.array(picked, mask=missing if missing.any() else None))
