"""Data source of `spark.read.format("kwire")` and `spark.readStream.format("kwire")`, by Spark's Python API (4.0 and newer).

Spark imports this module on the driver whenever a session searches for a data source, so all other imports are late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

from kwire.errors import InputError
from kwire.spark.source.plain_errors import plain_errors

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, DataSourceStreamWriter, DataSourceWriter
    from pyspark.sql.types import StructType

__all__ = ["KwireDataSource"]


class KwireDataSource(DataSource):
    """Captures and request logs as rows of a table, or as the elements of one message.

    Spark finds it by the module `pyspark_kwire`; ``spark.dataSource.register(KwireDataSource)`` does the same by hand.
    """

    @plain_errors
    def __init__(self, options: dict[str, str]) -> None:
        from kwire.spark.source.options import source_options

        super().__init__(options)
        self._checked = source_options(options)  # once, in the first of the processes that Spark takes this to: it may warn

    @classmethod
    def name(cls) -> str:
        return "kwire"

    @plain_errors
    def schema(self) -> str:
        """Return the columns as DDL."""
        from kwire.spark.source.schema import schema_ddl

        return schema_ddl(self._checked)

    @plain_errors
    def reader(self, schema: StructType) -> DataSourceReader:
        from kwire.spark.source.batch import batch_reader

        return batch_reader(schema, self._checked)

    @plain_errors
    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from kwire.spark.source.stream import KwireStreamReader

        return KwireStreamReader(schema, self._checked)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        raise InputError('The kwire data source is read-only: write with another format, such as df.write.format("parquet").')

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        raise InputError('The kwire data source is read-only: write with another format, such as df.writeStream.format("parquet").')
