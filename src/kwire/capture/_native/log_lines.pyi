from collections.abc import Callable
from datetime import tzinfo

from kwire.capture.request_logs.entry import LogEntry, WantedBodies

__all__ = ["LineReader"]

class LineReader:
    def __init__(self, zone: tzinfo, wanted: Callable[[int, int], WantedBodies | None]) -> None: ...
    def read(self, line: bytes, number: int) -> LogEntry | None: ...
