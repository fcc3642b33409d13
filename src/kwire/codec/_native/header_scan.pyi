from typing import Any

from kwire.codec.binary_chunks import BinaryChunk
from kwire.codec.plan import Plan

COLUMNS: tuple[tuple[str, str], ...]

class HeaderScanner:
    def __init__(self, plans: dict[int, Plan], versions: dict[int, tuple[int, ...]], fallback: int) -> None: ...
    def scan_buffer(self, data: Any, most: int) -> tuple[list[Any], int, int, int]: ...
    def scan_column(self, chunk: BinaryChunk, with_texts: bool) -> tuple[list[Any], tuple[Any, Any, bool] | None]: ...
