from kwire.capture.packet_columns import FileState, PacketColumns

__all__ = ["scan"]

def scan(data: bytes, start: int, state: FileState) -> PacketColumns: ...
