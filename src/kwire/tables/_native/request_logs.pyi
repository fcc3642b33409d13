from collections.abc import Iterable

import pyarrow as pa

from kwire.capture.request_logs.folding import Item
from kwire.tables.request_logs.rows import LogRows
from kwire.tables.row_sink import RowSink

__all__ = ["LoggedRows"]

class LoggedRows:
    def __init__(self, sink: RowSink, batch_rows: int = ...) -> None: ...
    def take(self, *, whole: bool) -> list[pa.RecordBatch]: ...
    def read(self, rows: LogRows, sink: RowSink, items: Iterable[Item]) -> None: ...
