"""Messages as plain dicts and lists, in exactly the JSON of Kafka's own JsonConverter classes.

Names start with a lower-case letter; nulls are null; bytes and records are base64; uuids are base64url without padding. A field that the
version lacks is left out, a tagged field at its default too, unknown tagged fields always. A broker's request log writes the size of record
batches (`recordsSizeInBytes`) and other bytes as base64: `records=False`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from kwire.codec.classes import compiled
from kwire.codec.layout import Default, SlotLayout
from kwire.codec.plan import Flag, Op, Operation, Plan

__all__ = ["to_json"]

Convert = Callable[[Any], Any]

_MISSING: Final = object()


def _same(value: Any) -> Any:
    return value


def _base64(value: Any) -> str:
    return b64encode(value).decode("ascii")


_SCALARS: Final[dict[int, Convert]] = {Op.STRING: _same, Op.BYTES: _base64, Op.UUID: str}


def _list_of(element: Convert) -> Convert:
    return list if element is _same else lambda values: [element(value) for value in values]


class _Writer:
    """Makes one converter per block of a plan."""

    def __init__(self, plan: Plan, classes: tuple[type, ...], records: bool) -> None:
        self.plan = plan
        self.classes = classes
        self.records = records
        self.made: dict[int, Convert] = {}

    def block(self, index: int) -> Convert:
        found = self.made.get(index)
        if found is None:
            found = self.made[index] = self._block(index)
        return found

    def _block(self, index: int) -> Convert:
        block = self.plan.blocks[index]
        slots = self.plan.layouts[block.layout].slots
        steps: list[tuple[str, str, Convert, bool, Any]] = []
        for number in range(block.first, block.first + block.untagged + block.tagged):
            operation = self.plan.operation(number)
            slot = slots[operation.slot]
            name, convert = slot.json_name, self._convert(operation)
            if operation.flags & Flag.RECORDS and not self.records:
                name, convert = f"{name}SizeInBytes", len
            steps.append((slot.attribute, name, convert, bool(operation.flags & Flag.TAGGED), self._default(slot)))
        names = {step[1]: slots[self.plan.operation(block.first + at).slot].json_name for at, step in enumerate(steps)}

        def write(value: Any) -> dict[str, Any]:
            written: dict[str, Any] = {}
            for attribute, name, convert, tagged, default in steps:
                held = getattr(value, attribute, _MISSING)  # outside the projection
                if held is _MISSING or (tagged and held == default):
                    continue
                if held is None:
                    written[names[name]] = None
                else:
                    written[name] = convert(held)
            return written

        return write

    def _default(self, slot: SlotLayout) -> Any:
        if slot.default == Default.LIST:
            return []
        return self.classes[slot.value]() if slot.default == Default.STRUCT else slot.value

    def _convert(self, operation: Operation) -> Convert:
        if operation.code == Op.STRUCT:
            return self.block(operation.block)
        if operation.code == Op.ARRAY:
            inner = self.block(operation.block) if operation.element == Op.STRUCT else _SCALARS.get(operation.element, _same)
            return _list_of(inner)
        return _SCALARS.get(operation.code, _same)


@lru_cache(maxsize=2048)
def _writer(name: str, version: int, records: bool) -> Convert:
    source = compiled()
    return _Writer(source.plan(name, version), source.classes(name), records).block(0)


def to_json(message: Any, version: int, records: bool = True) -> dict[str, Any]:
    """The message as Kafka's JsonConverter classes write it.

    Arguments:
        message: an object of a message class.
        version: the version to write it in.
        records: write record batches as base64; else their size, as a broker's request log does.

    Raises:
        TypeError: not an object of a message class.
        UnsupportedVersion: the message has no such version.
    """
    layout = getattr(type(message), "layout", None)
    if layout is None or layout.name != layout.message:
        raise TypeError(f"to_json takes a message object, not {type(message).__qualname__}")
    return _writer(layout.message, version, records)(message)  # type: ignore[no-any-return]
