"""Python source while it is written: lines, indentation, and the objects that it refers to by short names; and functions of it.

The readers and writers of the pure codec are the only generated code of the package, and `function_of` the only place that runs any.
Closures, one a field, take the place of generated code everywhere else. Here they were measured and refused: a closure a field, with the
slot's own setter and neighbours of fixed size unpacked together, reads a Metadata response of 3 KB in 2.6 times the time of its generated
reader, and a Heartbeat request in 1.8 times, because each field costs a call.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kwire.codec.plan import Plan

__all__ = ["SourceText", "can_be_source", "function_of"]


def can_be_source(plan: Plan) -> bool:
    """Whether all attributes of a plan can be spelled in source (``from`` cannot)."""
    attributes = {slot.attribute for layout in plan.layouts for slot in layout.slots}
    return all(each.isidentifier() for each in attributes) and not any(map(keyword.iskeyword, attributes))


class SourceText:
    """Source of functions.

    Attributes:
        names: the objects that the source refers to.
    """

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names
        self._by_value: dict[Any, str] = {}
        self._lines: list[str] = []
        self._depth = 0

    def __str__(self) -> str:
        return "\n".join(self._lines) + "\n"

    def line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def inside(self, head: str) -> Iterator[None]:
        """What is written inside is indented below this line."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    def name(self, letter: str, key: Any, value: Any) -> str:
        """The name of an object in the source; equal keys have one name."""
        name = self._by_value.get((letter, key))
        if name is None:
            name = self._by_value[letter, key] = f"{letter}{len(self._by_value)}"
            self.names[name] = value
        return name

    def constant(self, value: Any) -> str:
        """A value that never changes."""
        if value is None or isinstance(value, (bool, int)) or value == ():
            return repr(value)
        return self.name("K", (type(value), repr(value)), value)


def function_of(text: str, root: str, names: dict[str, Any], title: str) -> Callable[..., Any]:
    """Compile generated source.

    Args:
        text: of functions; nothing in it comes from outside but attributes that `can_be_source` has let pass.
        root: the name of the function that is wanted.
        names: the objects that the source refers to; gets the functions.
        title: what tracebacks call the source.
    """
    exec(compile(text, f"<{title}>", "exec"), names)
    made: Callable[..., Any] = names[root]
    return made
