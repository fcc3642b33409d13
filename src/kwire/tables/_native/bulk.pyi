import pyarrow as pa

from kwire.capture.carry import SeriesCarry
from kwire.capture.packet_columns import PacketColumns, ScanCarry
from kwire.capture.sink import StreamSink
from kwire.capture.tcp import TcpConnection
from kwire.protocol.events import RequestCompleted

__all__ = ["BulkCarry", "RequestBatches"]

class RequestBatches:
    epoch: int
    def __init__(self, series: str, files: list[str], batch_rows: int = ...) -> None: ...
    def add(self, connection_id: str | None, event: RequestCompleted) -> None: ...
    def take(self, *, whole: bool) -> list[pa.RecordBatch]: ...

class BulkCarry:
    packets_in_python: int
    lives: dict[bytes, int]
    scan: ScanCarry
    strays: int
    def __init__(self, carry: SeriesCarry | None = None) -> None: ...
    def connections(self) -> list[TcpConnection]: ...
    def take(self, data: bytes, columns: PacketColumns, sink: StreamSink) -> None: ...
    def finish(self, sink: StreamSink) -> None: ...
