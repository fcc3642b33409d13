from kwire.capture.carry import SeriesCarry
from kwire.capture.packet_columns import PacketColumns
from kwire.capture.sink import StreamSink
from kwire.capture.tcp import TcpConnection

__all__ = ["BulkCarry"]

class BulkCarry:
    packets_in_python: int
    lives: dict[bytes, int]
    strays: int
    def __init__(self, carry: SeriesCarry | None = None) -> None: ...
    def connections(self) -> list[TcpConnection]: ...
    def take(self, data: bytes, columns: PacketColumns, sink: StreamSink) -> None: ...
    def finish(self, sink: StreamSink) -> None: ...
