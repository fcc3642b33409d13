"""Sums over the rows of frames, made in the workers, so that one row per group is sent to Spark, not one per frame.

A task returns several rows of one group if it has more than `MOST_ROWS` groups; the caller adds them up. Columns are named as Spark names
them: `count`, `sum(frame_length)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pyarrow as pa

from kwire.errors import InputError
from kwire.spark.body_types import BodyType
from kwire.spark.frame_rows import FrameRows
from kwire.spark.reading_options import ReadingOptions

__all__ = ["Aggregate", "FrameSums", "aggregates_of", "frames_to_rows"]

ROWS_AT_ONCE: Final = 65_536  # grouped in one call, which costs some 0.2 ms whatever it is given
MOST_ROWS: Final = 200_000
_HEADER_GROUPS: Final = ("api_key", "api_version", "client_id", "error")
_EXPRESSION: Final = re.compile(r"(count)|(sum|min|max)\((\w+)\)")


class Aggregate(NamedTuple):
    """One column of sums; `column` is empty for `count`."""

    name: str
    function: str
    column: str

    @property
    def merged(self) -> str:
        return "sum" if self.function == "count" else self.function


def aggregates_of(given: str | Iterable[str]) -> tuple[Aggregate, ...]:
    """Read expressions such as ``count, sum(frame_length)``, a sequence or one text with commas."""
    found: list[Aggregate] = []
    for text in given.split(",") if isinstance(given, str) else given:
        match = _EXPRESSION.fullmatch(text.strip())
        if match is None:
            raise InputError(f"aggregate takes count, sum(COLUMN), min(COLUMN) and max(COLUMN), not {text.strip()!r}.")
        each = Aggregate(match[0], match[1] or match[2], match[3] or "")
        if each in found:
            raise InputError(f"aggregate names {each.name} twice.")
        found.append(each)
    if not found:
        raise InputError("aggregate is empty: use count, sum(COLUMN), min(COLUMN) or max(COLUMN).")
    return tuple(found)


@dataclass(eq=False, slots=True)
class FrameSums:
    """Mapping of batches with frames to sums, a row for equal values of `groups`."""

    rows: FrameRows
    groups: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]

    def __post_init__(self) -> None:
        for each in self.aggregates:
            if each.column in self.groups:
                raise InputError(f"The column {each.column!r} is a grouping column, so aggregate cannot sum it: remove it from columns.")
            if each.column and not pa.types.is_integer(self.rows.schema.field(each.column).type):
                raise InputError(f"aggregate sums integers, but {each.column!r} does not hold integers.")

    @property
    def schema(self) -> pa.Schema:
        """Grouping columns that are copied from the input (`FrameRows.kept`)."""
        rows = self.rows.schema
        own = [rows.field(name) for name in self.groups if name not in self.rows.kept]
        return pa.schema([*own, *(pa.field(each.name, self._type(each)) for each in self.aggregates)])

    def _type(self, each: Aggregate) -> Any:
        return self.rows.schema.field(each.column).type if each.function in ("min", "max") else pa.int64()

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        raw: list[pa.RecordBatch] = []
        held: list[Any] = []
        rows = waiting = 0
        for batch in self.rows(batches):
            raw.append(batch)
            rows += batch.num_rows
            if rows < ROWS_AT_ONCE:
                continue
            made = self._sums(pa.Table.from_batches(raw), merging=False)
            held.append(made)
            waiting += len(made)
            raw, rows = [], 0
            if waiting > MOST_ROWS:
                whole = self._sums(pa.concat_tables(held), merging=True)
                held, waiting = [whole], len(whole)
                if waiting > MOST_ROWS // 2:  # groups that hardly repeat
                    yield from whole.combine_chunks().to_batches()
                    held, waiting = [], 0
        if rows:
            held.append(self._sums(pa.Table.from_batches(raw), merging=False))
        if held:
            yield from self._sums(pa.concat_tables(held), merging=True).combine_chunks().to_batches()

    def _sums(self, table: Any, *, merging: bool) -> Any:
        if merging:
            asked: list[Any] = [(each.name, each.merged) for each in self.aggregates]
        else:
            asked = [([], "count_all") if each.function == "count" else (each.column, each.function) for each in self.aggregates]
        found = table.group_by(list(self.groups), use_threads=False).aggregate(asked)
        made = [f"{names}_{function}" if names else function for names, function in asked]
        columns = [*(found.column(name) for name in self.groups), *(found.column(name) for name in made)]
        names = [*self.groups, *(each.name for each in self.aggregates)]
        types = [*(table.schema.field(name).type for name in self.groups), *map(self._type, self.aggregates)]
        return pa.table([column.cast(kind) for column, kind in zip(columns, types, strict=True)], names=names)


def frames_to_rows(
    column: str,
    kept: tuple[str, ...],
    body: BodyType,
    options: ReadingOptions,
    header: bool = True,
    columns: tuple[str, ...] | None = None,
    aggregate: str | Iterable[str] | None = None,
    api_key: str | None = None,
    api_version: str | None = None,
    framed: bool = False,
) -> FrameRows | FrameSums:
    """Return the mapping of batches to rows or, with `aggregate`, to sums (`aggregates_of`); other arguments as in `FrameRows`."""
    if aggregate is None:
        return FrameRows(column, kept, body, options, header, columns, api_key, api_version, framed)
    aggregates = aggregates_of(aggregate)
    if options.corrupt_record is not None:
        raise InputError("aggregate returns no rows for columnNameOfCorruptRecord: use only one of the two.")
    summed = [each.column for each in aggregates if each.column]
    if columns is None:
        usual = _HEADER_GROUPS if body.message is None else body.rows_schema.names
        columns = tuple(name for name in usual if name not in summed)
    needed = dict.fromkeys([*columns, *summed])
    rows = FrameRows(column, kept, body, options, header, tuple(needed), api_key, api_version, framed)
    return FrameSums(rows, (*kept, *columns), aggregates)
