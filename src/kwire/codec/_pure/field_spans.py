"""Places of chosen fields of a message in the pure backend, listed by a walk."""

from __future__ import annotations

from typing import Any

from kwire.codec._pure.primitives import Break, as_buffer
from kwire.codec._pure.span_walk import MarkedPlan, SpanWalk
from kwire.codec.splice_plan import Marking
from kwire.errors import Fault

__all__ = ["FieldSpans"]

Span = tuple[tuple[str, ...], int, int]
"""Place of a field: its path of attributes without indexes, and the bounds of its content."""


class FieldSpans:
    """Finder of a plan's singles in messages; `unknown` is the path for tagged fields that no version defines."""

    def __init__(self, marking: Marking, paths: tuple[tuple[str, ...], ...], unknown: tuple[str, ...]) -> None:
        self._marked = MarkedPlan(marking)
        self._paths = paths
        self._unknown = unknown

    def find(self, data: Any, offset: int, whole: bool) -> tuple[int, Fault | None, list[Span]]:
        """Return the end of the readable part, the fault that ended the walk (None for a whole message), and the fields without nulls."""
        buffer = as_buffer(data)
        walk = SpanWalk(self._marked, buffer, min(offset, len(buffer)), lists=True, cut=not whole)
        fault = None
        try:
            walk.struct(0)
        except Break as broken:
            fault = broken.code
        found = [
            (self._paths[place.leaf.single] if place.leaf.single >= 0 else self._unknown, place.content, place.stop)
            for _, (place,) in walk.found
            if place is not None and not place.null
        ]
        return walk.pos, fault, found
