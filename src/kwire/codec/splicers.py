"""Programs that splice messages of a catalog, created on first use and cached."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from kwire.codec.classes import CompiledCatalog
from kwire.codec.edit_actions import EditAction
from kwire.codec.impl import load_twin
from kwire.codec.splice_plan import EditPlan, Rule, mark

__all__ = ["MAX_SPLICERS", "Patterns", "Splicers", "Work", "WorkOf", "Works"]

MAX_SPLICERS: Final = 1024  # callers make up paths at run time

Patterns = tuple[tuple[tuple[int, ...] | None, ...], ...]
Work = tuple[Any, tuple[EditAction, ...], tuple[EditAction, ...]]
"""Backend's `EditProgram` for a message, and the arguments `singles` and `rules` of its `splice`."""
WorkOf = Callable[[str, int], Work | None]
"""Function from the name and version of a message to its work, None if nothing changes."""


class Works:
    """Cached work for messages by name and version: a `WorkOf`."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: WorkOf) -> None:
        self._make = make
        self._made: dict[tuple[str, int], Work | None] = {}

    def __call__(self, name: str, version: int) -> Work | None:
        key = name, version
        if key not in self._made:
            self._made[key] = self._make(name, version)
        return self._made[key]


class Splicers:
    """Edit programs of a catalog."""

    def __init__(self, source: CompiledCatalog) -> None:
        self.source = source
        self._program = load_twin("codec", "edits", source.twin).EditProgram
        self.get = lru_cache(MAX_SPLICERS)(self._make)

    def _make(self, name: str, version: int, singles: tuple[str, ...], rules: tuple[Rule, ...] = (), patterns: Patterns = ()) -> Any:
        """Create the `EditProgram` of a message at a version that has all singles and all fields that the rules write."""
        fields = {*singles, *(each for rule in rules for each in (*rule.reads, *rule.writes))}
        return self._program(EditPlan(mark(self.source.plan(name, version, sorted(fields)), singles, rules), patterns=patterns))
