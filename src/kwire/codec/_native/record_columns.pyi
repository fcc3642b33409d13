from typing import Any

import pyarrow as pa

from kwire.codec.column_nodes import Node

def free_kept() -> None: ...

class Columns:
    def add_all(self, buffers: list[Any], check_crc: bool, faults: Any) -> None: ...
    def finish(self, nodes: list[Node], schema: pa.Schema, importer: Any) -> pa.RecordBatch: ...
