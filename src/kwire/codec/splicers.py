"""Splicers of a catalog, made when first asked for and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kwire.codec.classes import CompiledCatalog
from kwire.codec.impl import load_twin
from kwire.codec.splice_plan import Choice, Rule, mark

__all__ = ["MAX_SPLICERS", "Splicers", "Work", "Works"]

MAX_SPLICERS: Final = 1024  # callers make up paths at run time

_Key = tuple[str, int, tuple[str, ...], tuple[Rule, ...]]


Work = tuple[Any, tuple[tuple[Choice, ...], ...], tuple[Any, ...]]
"""What is to be done with a message: the twin's `Splicer`, and its arguments `singles` and `rules`."""


class Works(dict[tuple[str, int], Work | None]):
    """What is to be done with messages by name and version, worked out when it is first asked for; None where there is nothing to do.

    Arguments:
        make: works it out.
    """

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[str, int], Work | None]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: tuple[str, int]) -> Work | None:
        return self.setdefault(key, self._make(*key))


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
