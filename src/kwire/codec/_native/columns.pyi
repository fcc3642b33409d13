from typing import Any

from kwire.codec.binary_chunks import BinaryChunk
from kwire.codec.column_layout import ColumnLayout

class ColumnReader:
    layout: ColumnLayout

    def __init__(self, layout: ColumnLayout) -> None: ...
    def read(self, buffers: list[Any], stop: bool) -> tuple[list[Any], list[tuple[int, int, int, str]]]: ...
    def read_chunks(self, chunks: list[BinaryChunk], stop: bool) -> tuple[list[Any], list[tuple[int, int, int, str]]]: ...
