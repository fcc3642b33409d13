from collections.abc import Callable
from typing import Any

import pyarrow as pa

from kwire.codec.binary_chunks import BinaryChunk

class JsonWriter:
    def __init__(self, decoder_of: Callable[[int, int], Any]) -> None: ...
    def write(self, chunk: BinaryChunk, keys: Any, versions: Any, schema: pa.Schema, importer: Any) -> tuple[pa.RecordBatch, list[int]]: ...
