from collections.abc import Callable

from kwire.capture.packet_columns import FileState, PacketColumns

__all__ = ["read_on", "scan"]

def read_on(rest: bytes, read_into: Callable[[memoryview], int], size: int) -> bytes: ...
def scan(data: bytes, start: int, state: FileState) -> PacketColumns: ...
