"""Reader of a batch: one task per series or share, which returns rows as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSourceReader, InputPartition

from kwire.capture.tls.session_keys import tls_options
from kwire.errors import KwireError
from kwire.files.file_systems import store_options
from kwire.spark.source.frame_reader import FrameFileReader
from kwire.spark.source.message_rows import message_rows
from kwire.spark.source.options import SourceOptions, with_corrupt_record
from kwire.spark.source.partitions import SeriesPartition, plan_partitions
from kwire.spark.source.plain_errors import plain_errors
from kwire.spark.source.schema import in_schema, output_columns, row_schema
from kwire.spark.source.table_rows import analysis_options, table_rows

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

__all__ = ["FilteringReader", "KwireReader", "batch_reader"]


class KwireReader(DataSourceReader):
    """Reader of captures and request logs; Spark pickles it."""

    def __init__(self, options: SourceOptions, columns: pa.Schema) -> None:
        self.options = options
        self.columns = columns
        self.condition: pc.Expression | None = None

    @plain_errors
    def partitions(self) -> list[InputPartition]:
        with store_options(self.options.store), tls_options(self.options.tls):
            return list(plan_partitions(self.options))

    def read(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, SeriesPartition)
        rows = message_rows if self.options.reads_messages else table_rows
        try:
            with store_options(self.options.store), tls_options(self.options.tls):
                for batch in rows(partition.parts, self.options):
                    for kept in self._kept(batch):
                        yield in_schema(kept, self.columns)
        except KwireError as error:
            raise error.with_traceback(None) from None

    def _kept(self, batch: pa.RecordBatch) -> list[pa.RecordBatch]:
        kept = [batch] if self.condition is None else pa.Table.from_batches([batch]).filter(self.condition).to_batches()
        return [each for each in kept if each.num_rows]


class FilteringReader(KwireReader):
    """Reader for a session with filter push-down. Spark rejects it in other sessions, so it is used only on request."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Keep the conditions that this reader can apply; Spark checks all of them again."""
        from kwire.spark.source.filters import condition_of

        self.condition = condition_of(filters, row_schema(self.options))
        return filters


def batch_reader(schema: StructType, options: SourceOptions) -> DataSourceReader:
    options = with_corrupt_record(options, schema.names)
    if options.frames is not None:
        return FrameFileReader(options, output_columns(options, schema))
    if options.target_releases or options.broker_release:
        analysis_options(options).check()
    kind = FilteringReader if options.push_filters else KwireReader
    return kind(options, output_columns(options, schema))
