"""Types of pyx/codec/field_spans.pyx."""

from __future__ import annotations

from typing import Any

from kwire.codec._pure.field_spans import Span
from kwire.codec.splice_plan import Marking
from kwire.errors import Fault

__all__ = ["FieldSpans"]

class FieldSpans:
    def __init__(self, marking: Marking, paths: tuple[tuple[str, ...], ...], unknown: tuple[str, ...]) -> None: ...
    def find(self, data: Any, offset: int, whole: bool) -> tuple[int, Fault | None, list[Span]]: ...
