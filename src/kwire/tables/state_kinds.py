"""Declaration of the classes of a state: names and types of fields, from which encoder and decoder follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, Final, Literal, get_args

import msgspec

from kwire.protocol import events
from kwire.protocol.events import Direction

__all__ = [
    "KINDS", "Kind", "Count", "Sequence", "Side", "Stored", "Texts", "Two", "EVENTS", "SORTED_NUMBERS", "SORTED_TEXTS",
    "by_direction", "declare", "declare_converted", "one_of",
]  # fmt: skip

Side = Literal[0, 1]
# What counts or is an offset: native code indexes with it.
Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
Sequence = Annotated[int, msgspec.Meta(ge=0, le=0xFFFFFFFF)]
Two = tuple[int, int]
Texts = tuple[str | None, str | None]
_SIDES: Final = get_args(Direction)


@dataclass(frozen=True, slots=True)
class Kind:
    """Declared class of the state: a msgspec structure of its fields, and its values in their order."""

    fields: type[msgspec.Struct]
    dump: Callable[[Any], tuple[Any, ...]]
    load: Callable[[Any], Any]


KINDS: Final[dict[type, Kind]] = {}
"""Classes whose objects a state may hold, besides plain data."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Type of a field that is stored in another form, with both conversions."""

    stored: Any
    dump: Callable[[Any], Any]
    load: Callable[[Any], Any]


def declare(
    of: type,
    declared: dict[Any, str],
    *,
    make: Callable[[Any], Any] | None = None,
    before: Callable[[Any], object] | None = None,
    after: Callable[[Any], object] | None = None,
) -> None:
    """Declare a class; its fields are given by type, as names separated by spaces.

    `make` creates an object before its fields are set, by default without calling its class; `after` is called once they are set.
    """
    types = {name: kind for kind, names in declared.items() for name in names.split()}
    get = attrgetter("__class__", *types)  # two names at least, so that it gives a tuple
    converted = [(number, name, kind) for number, (name, kind) in enumerate(types.items()) if isinstance(kind, Stored)]

    def dump(found: Any) -> tuple[Any, ...]:
        if before is not None:
            before(found)
        _, *values = get(found)
        for number, _name, kind in converted:
            values[number] = kind.dump(values[number])
        return tuple(values)

    def load(values: Any) -> Any:
        made: Any = object.__new__(of) if make is None else make(values)
        for _number, name, kind in converted:
            setattr(values, name, kind.load(getattr(values, name)))
        for name in types:
            setattr(made, name, getattr(values, name))
        if after is not None:
            after(made)
        return made

    declare_converted(of, declared, dump, load)


def declare_converted(of: type, declared: dict[Any, str], dump: Callable[[Any], tuple[Any, ...]], load: Callable[[Any], Any]) -> None:
    fields = [(name, kind.stored if isinstance(kind, Stored) else kind) for kind, names in declared.items() for name in names.split()]
    KINDS[of] = Kind(msgspec.defstruct(of.__name__, fields, array_like=True, forbid_unknown_fields=True), dump, load)


def by_direction(kind: Any) -> Stored:
    return Stored(
        tuple[kind, kind] | None, lambda found: tuple(found.values()) or None, lambda pair: dict(zip(_SIDES, pair or (), strict=bool(pair)))
    )


def one_of(classes: tuple[type, ...]) -> Stored:
    return Stored(
        list[tuple[int, Any]],
        lambda found: [(classes.index(type(each)), each) for each in found],
        lambda pairs: [msgspec.convert(each, classes[abs(number)]) for number, each in pairs],
    )


def _same(found: Any) -> Any:
    return found


# In one order, so that the same state is the same bytes in each process.
SORTED_TEXTS: Final = Stored(set[str], sorted, _same)
SORTED_NUMBERS: Final = Stored(set[int], sorted, _same)
EVENTS: Final = one_of(get_args(events.Event))
