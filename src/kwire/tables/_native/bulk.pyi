from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from kwire.capture.carry import SeriesCarry
from kwire.capture.packet_columns import PacketColumns, ScanCarry
from kwire.capture.sink import StreamSink
from kwire.capture.tcp import TcpConnection
from kwire.protocol.events import RequestCompleted
from kwire.tables.conversation_sink import ConversationSink, FileCounts

__all__ = ["BulkCarry", "LaneBatches"]

class LaneBatches:
    departures: dict[str, int]
    def __init__(self, sink: ConversationSink, batch_rows: int = ...) -> None: ...
    def connection_id_of(self, place: int) -> str: ...
    def add_request(self, connection_id: str | None, event: RequestCompleted) -> None: ...
    def add_connection(self, row: Sequence[Any]) -> None: ...
    def take(self, table: str, *, whole: bool) -> list[pa.RecordBatch]: ...
    def settle(self, counts: list[FileCounts]) -> None: ...

class BulkCarry:
    packets: int
    packets_in_python: int
    packets_of_streams: int
    lives: dict[bytes, int]
    scan: ScanCarry
    strays: int
    def __init__(self, carry: SeriesCarry | None = None) -> None: ...
    def connections(self) -> list[TcpConnection]: ...
    def take(self, data: bytes, columns: PacketColumns, sink: StreamSink) -> None: ...
    def finish(self, sink: StreamSink) -> None: ...
