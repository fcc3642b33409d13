"""Types of pyx/capture/request_log.pyx."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo
from types import SimpleNamespace

from kwire.capture.request_log_body_source import WantedField
from kwire.capture.request_log_entry import LogEntry

__all__ = ["BodyReader", "EntryReader"]

class BodyReader:
    def __init__(self, fields: Iterable[WantedField]) -> None: ...
    def read(self, body: bytes) -> SimpleNamespace | None: ...

class EntryReader:
    def __init__(self, zone: tzinfo) -> None: ...
    def read(self, line: bytes, number: int) -> LogEntry | None: ...
