"""Rows of captures and request logs: one task per series or share, which yields Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from kwire.spark.source.message_rows import message_rows
from kwire.spark.source.options import SourceOptions
from kwire.spark.source.partitions import SeriesPart, plan_partitions
from kwire.spark.source.schema import in_schema
from kwire.spark.source.table_rows import analysis_options, table_rows

__all__ = ["SeriesRows"]


class SeriesRows:
    """Rows of a table or of a message, with the columns of `schema`; Spark pickles it."""

    def __init__(self, options: SourceOptions, schema: pa.Schema) -> None:
        if options.target_releases or options.broker_release:
            analysis_options(options).check()
        self.options = options
        self.schema = schema
        self.condition: pc.Expression | None = None

    def plan(self, slots: int) -> list[tuple[SeriesPart, ...]]:
        """Return the input of each task, `slots` of which can run at once."""
        return plan_partitions(self.options, slots)

    def read(self, parts: tuple[SeriesPart, ...]) -> Iterator[pa.RecordBatch]:
        rows = message_rows if self.options.reads_messages else table_rows
        for batch in rows(parts, self.options):
            for kept in self._kept(batch):
                yield in_schema(kept, self.schema)

    def _kept(self, batch: pa.RecordBatch) -> list[pa.RecordBatch]:
        kept = [batch] if self.condition is None else pa.Table.from_batches([batch]).filter(self.condition).to_batches()
        return [each for each in kept if each.num_rows]
