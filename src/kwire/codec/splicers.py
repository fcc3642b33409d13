"""Splicers of a catalog, made when first asked for and kept."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from kwire.codec.classes import CompiledCatalog
from kwire.codec.impl import load_twin
from kwire.codec.splice_plan import Choice, Rule, mark

__all__ = ["MAX_SPLICERS", "Splicers", "Work"]

MAX_SPLICERS: Final = 1024  # callers make up paths at run time

_Key = tuple[str, int, tuple[str, ...], tuple[Rule, ...]]


class Work(NamedTuple):
    """What is to be done with a message: the twin's `Splicer`, and its arguments `singles` and `rules`."""

    splicer: Any
    singles: tuple[tuple[Choice, ...], ...]
    rules: tuple[Any, ...]


class Splicers:
    """The splicers of a catalog.

    Arguments:
        source: the compiled catalog.
    """

    def __init__(self, source: CompiledCatalog) -> None:
        self.source = source
        self._make = load_twin("codec", "splices", source.twin).Splicer
        self._made: dict[_Key, Any] = {}

    def get(self, name: str, version: int, singles: tuple[str, ...], rules: tuple[Rule, ...] = ()) -> Any:
        """The twin's `Splicer` of a message at a version; the version has all singles, and all that the rules write.

        Raises:
            KwireError: no such message.
            UnsupportedVersion: the message has no such version.
        """
        key = (name, version, singles, rules)
        found = self._made.get(key)
        if found is None:
            fields = {*singles, *(each for rule in rules for each in (*rule.reads, *rule.writes))}
            found = self._make(mark(self.source.plan(name, version, sorted(fields)), singles, rules))
            if len(self._made) >= MAX_SPLICERS:
                self._made.pop(next(iter(self._made)), None)
            self._made[key] = found
        return found
