"""Message classes of catalogs other than the built-in one; their objects pickle with the layouts of their message."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Final, NamedTuple

from kwire.codec.impl import Twin, backend, load_twin
from kwire.codec.layout import StructLayout, attribute_of, layouts_of
from kwire.schema.model import Message, snake_name

__all__ = ["Alias", "ClassSet", "add_aliases", "aliases_of", "class_set", "is_alike"]


class Alias(NamedTuple):
    """Alias of an attribute (`broker_id` of `node_id`); `layout` is the index of its struct's layout."""

    layout: int
    name: str
    attribute: str


class ClassSet:
    """Classes of a message, in the order of its layouts, the message's own first."""

    __slots__ = ("aliases", "classes", "layouts")

    def __init__(self, layouts: tuple[StructLayout, ...], aliases: tuple[Alias, ...], twin: Twin) -> None:
        self.layouts = layouts
        self.aliases = aliases
        self.classes: tuple[Any, ...] = load_twin("codec", "objects", twin).make_classes(layouts)
        for index, kind in enumerate(self.classes):
            kind.class_set = self
            kind.layout_index = index
            kind.__reduce__ = _reduce
        add_aliases(self.classes, aliases)

    def __deepcopy__(self, memo: dict[int, Any]) -> ClassSet:
        return self  # a deep copy of an object has its class

    def __reduce__(self) -> tuple[Any, ...]:
        return class_set, (self.layouts, self.aliases)


def add_aliases(classes: tuple[Any, ...], aliases: tuple[Alias, ...]) -> None:
    for alias in aliases:
        kind = classes[alias.layout]
        if alias.name in kind.slot_names:
            defaults = {slot.attribute: slot.value for slot in kind.layout.slots}
            if type(defaults[alias.name]) is type(defaults[alias.attribute]):
                setattr(kind, alias.name, _shared_name(vars(kind)[alias.name], alias, defaults))
        else:
            kind.aliases = {**getattr(kind, "aliases", {}), alias.name: alias.attribute}
            setattr(kind, alias.name, _alias_of(alias.attribute))


def _alias_of(attribute: str) -> property:
    return property(attrgetter(attribute), lambda message, value: setattr(message, attribute, value))


def _shared_name(own: Any, alias: Alias, defaults: dict[str, Any]) -> property:
    """Return a property for a former field name; it reads whichever of the two attributes has a value."""

    def read(message: Any) -> Any:
        former = getattr(message, alias.attribute, defaults[alias.attribute])
        if former != defaults[alias.attribute]:
            try:
                return former if own.__get__(message) == defaults[alias.name] else own.__get__(message)
            except AttributeError:
                return former
        return own.__get__(message)

    return property(read, own.__set__, own.__delete__)


def _empty(found: ClassSet, index: int) -> Any:
    kind = found.classes[index]
    return kind.__new__(kind)


def _reduce(message: Any) -> tuple[Any, ...]:
    kind: Any = type(message)
    state = kind.__base__.__reduce__(message)[2]
    return _empty, (kind.class_set, kind.layout_index), state


_SETS: Final[dict[tuple[Twin, tuple[StructLayout, ...], tuple[Alias, ...]], ClassSet]] = {}


def class_set(layouts: tuple[StructLayout, ...], aliases: tuple[Alias, ...] = (), twin: Twin = backend) -> ClassSet:
    """Return the classes of these layouts, which are cached."""
    key = twin, layouts, aliases
    found = _SETS.get(key)
    return found if found is not None else _SETS.setdefault(key, ClassSet(layouts, aliases, twin))


def aliases_of(message: Message) -> tuple[Alias, ...]:
    """Return the other names of a definition's fields."""
    found: dict[tuple[int, str], Alias] = {}
    for index, struct in enumerate(message.structs.values()):
        for field in struct.fields:
            for name in map(snake_name, field.other_names):
                if name != (attribute := attribute_of(message, field)):
                    found.setdefault((index, name), Alias(index, name, attribute))
    return tuple(found.values())


def is_alike(one: Message, other: Message) -> bool:
    """Return whether `one` can use the classes of `other`: equal attributes, no alias missing."""
    return layouts_of(one) == layouts_of(other) and set(aliases_of(one)) <= set(aliases_of(other))
