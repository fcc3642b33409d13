"""Reader of a batch for Spark: plans tasks on the driver, and returns the rows of a task as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from kwire.capture.tls.session_keys import tls_options
from kwire.errors import KwireError
from kwire.files.file_systems import store_options
from kwire.runs.local_processes import processors
from kwire.spark.source.file_rows import FileRows
from kwire.spark.source.options import SourceOptions, with_corrupt_record
from kwire.spark.source.plain_errors import plain_errors
from kwire.spark.source.schema import output_columns, row_schema
from kwire.spark.source.series_rows import SeriesRows

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

__all__ = ["FilteringReader", "KwireReader", "batch_reader"]


class KwireReader(DataSourceReader):
    """Reader of rows; Spark pickles it. The value of a partition is the input of a task."""

    def __init__(self, rows: SeriesRows | FileRows) -> None:
        self.rows: Any = rows

    @plain_errors
    def partitions(self) -> list[InputPartition]:
        options: SourceOptions = self.rows.options
        with store_options(options.store), tls_options(options.tls):
            # Spark does not tell a data source how many tasks it can run at once
            return [InputPartition(parts) for parts in self.rows.plan(processors())]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        options: SourceOptions = self.rows.options
        try:
            with store_options(options.store), tls_options(options.tls):
                yield from self.rows.read(partition.value)
        except KwireError as error:
            raise error.with_traceback(None) from None


class FilteringReader(KwireReader):
    """Reader for a session with filter push-down. Spark rejects it in other sessions, so it is used only on request."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Keep the conditions that this reader can apply; Spark checks all of them again."""
        from kwire.spark.source.filters import condition_of

        self.rows.condition = condition_of(filters, row_schema(self.rows.options))
        return filters


def batch_reader(schema: StructType, options: SourceOptions) -> DataSourceReader:
    options = with_corrupt_record(options, schema.names)
    columns = output_columns(options, schema)
    if options.frames is not None:
        return KwireReader(FileRows(options, columns))
    return (FilteringReader if options.push_filters else KwireReader)(SeriesRows(options, columns))
