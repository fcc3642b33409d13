"""A data source that does nothing but hand over the batches of an Arrow file: what the way through Spark costs any reader."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

__all__ = ["ArrowFileSource"]


class _Reader(DataSourceReader):
    def __init__(self, path: str) -> None:
        self.path = path

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(self.path) as file:
            yield from pa.ipc.open_stream(file)


class ArrowFileSource(DataSource):
    """`spark.read.format("arrow_file").schema(...).load(path)`, the file being one of Arrow's IPC stream format."""

    @classmethod
    def name(cls) -> str:
        return "arrow_file"

    def reader(self, schema: StructType) -> DataSourceReader:
        return _Reader(self.options["path"])
