"""Message objects of the pure backend: one slotted class per struct."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, ClassVar, Final

from kwire.codec.class_descriptions import by_current_names, replace, shown_fields, text_of
from kwire.codec.layout import Default, SlotLayout, StructLayout
from kwire.codec.memory_views import owned

__all__ = ["MessageObject", "make_classes"]

UNKNOWN: Final = "unknown_tagged_fields"


class MessageObject:
    """Base of all message classes. Slots outside a projection stay empty, and reading one raises AttributeError."""

    __slots__ = ()

    layout: ClassVar[StructLayout]
    slot_names: ClassVar[tuple[str, ...]]
    raw_slots: ClassVar[dict[str, Any]]  # `codec.catalog_classes` may put a property before a slot
    classes: ClassVar[tuple[type[MessageObject], ...]]

    def __init__(self, **values: Any) -> None:
        if not values.keys() <= set(self.slot_names):
            values = by_current_names(type(self), values)
        for slot in self.layout.slots:
            if slot.attribute in values:
                value = values.pop(slot.attribute)
                if slot.scalar_array and isinstance(value, list):
                    value = tuple(value)
            else:
                value = self._default(slot)
            setattr(self, slot.attribute, value)
        setattr(self, UNKNOWN, tuple(values.pop(UNKNOWN, ())))

    def _default(self, slot: SlotLayout) -> Any:
        if slot.default == Default.LIST:
            return []
        if slot.default == Default.STRUCT:
            return self.classes[slot.value]()
        return slot.value

    def _values(self) -> dict[str, Any]:
        found = {}
        for name, slot in self.raw_slots.items():
            with suppress(AttributeError):
                found[name] = slot.__get__(self)
        return found

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return text_of(self, self._values())

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        return shown_fields(self, self._values())

    def __replace__(self, /, **changes: Any) -> MessageObject:
        return replace(self, **changes)

    def __copy__(self) -> MessageObject:
        made = type(self).__new__(type(self))
        for name, value in self._values().items():
            setattr(made, name, value)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        # The state is set slot by slot, so that an object travels between the twins and slots outside a projection stay empty.
        values = {name: owned(value) for name, value in self._values().items()}
        return copyreg.__newobj__, (type(self),), (None, values)  # type: ignore[attr-defined]


def default_maker(kind: type) -> Callable[[], Any]:
    """Return a function that makes default objects, as `kind()` does, with constants computed once."""
    of: Any = kind
    constants = ((UNKNOWN, ()), *((slot.attribute, slot.value) for slot in of.layout.slots if slot.default == Default.CONSTANT))
    made = tuple(
        (slot.attribute, list if slot.default == Default.LIST else default_maker(of.classes[slot.value]))
        for slot in of.layout.slots
        if slot.default != Default.CONSTANT
    )

    def make() -> Any:
        target = of.__new__(of)
        for name, value in constants:
            setattr(target, name, value)
        for name, make_value in made:
            setattr(target, name, make_value())
        return target

    return make


def make_classes(layouts: tuple[StructLayout, ...]) -> tuple[type, ...]:
    """Create the classes of a message's structs, in order of `layouts`; nested ones become attributes of the first."""
    made: list[type[MessageObject]] = []
    for layout in layouts:
        names = (*(slot.attribute for slot in layout.slots), UNKNOWN)
        qualified = layout.name if layout.name == layout.message else f"{layout.message}.{layout.name}"
        made.append(
            type(
                layout.name,
                (MessageObject,),
                {
                    "__slots__": (*names, "__weakref__"),
                    "__module__": "kwire.messages",
                    "__qualname__": qualified,
                    "layout": layout,
                    "slot_names": names,
                },
            )
        )
    classes = tuple(made)
    for each in classes:
        each.classes = classes
        each.raw_slots = {name: vars(each)[name] for name in each.slot_names}
    for nested in classes[1:]:
        setattr(classes[0], nested.__name__, nested)
    return classes
