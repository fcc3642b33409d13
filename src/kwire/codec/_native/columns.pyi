from typing import Any

import pyarrow as pa

from kwire.codec.binary_chunks import BinaryChunk
from kwire.codec.column_layout import ColumnLayout

class Filled:
    def batch(self, level: int, rows: int, errors: bool, schema: pa.Schema, importer: Any) -> pa.RecordBatch: ...
    def offsets(self, column: int, rows: int) -> bytes: ...

class ColumnReader:
    layout: ColumnLayout

    def __init__(self, layout: ColumnLayout) -> None: ...
    def read(self, buffers: list[Any], stop: bool) -> tuple[Filled, list[tuple[int, int, int, str]]]: ...
    def read_chunks(self, chunks: list[BinaryChunk], stop: bool) -> tuple[Filled, list[tuple[int, int, int, str]]]: ...
