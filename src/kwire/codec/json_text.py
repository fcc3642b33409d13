"""Text of Kafka's JSON, and the native backend's tables for it."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, NamedTuple

from kwire.codec.json_form import default_json, to_json
from kwire.codec.plan import WIDTH, Flag, Op, Plan
from kwire.json_encoding import encode_json

__all__ = ["FieldText", "field_texts", "json_text"]

_SLACK: Final = bytes(32)  # behind each name: the native twin moves short ones with a fixed size
_ENCODE: Final = partial(encode_json, ascii_only=False)


def json_text(message: Any, version: int, *, records: bool = True) -> str:
    """Return a message as Kafka's JSON text; `records` as in `to_json`."""
    return _ENCODE(to_json(message, version, records))


class FieldText(NamedTuple):
    """Texts of a field for the native backend: the padded name and its size, a tagged field's default, the name for a size of records."""

    name: bytes
    size: int
    default: bytes | None = None
    counted: bytes | None = None


def field_texts(plan: Plan, classes: tuple[type, ...], *, records: bool = True) -> tuple[FieldText, ...] | None:
    """Return the texts of a plan's operations; None if a tagged field may hold a float, because 0.0 equals -0.0 but has another text."""
    found = [FieldText(_SLACK, 0)] * (len(plan.ops) // WIDTH)
    for block in plan.blocks:
        slots = plan.layouts[block.layout].slots
        for number in range(block.first, block.first + block.untagged + block.tagged):
            operation = plan.operation(number)
            name = f"{_ENCODE(slots[operation.slot].json_name)}:".encode()
            default = counted = None
            if operation.flags & Flag.TAGGED:
                if _has_floats(plan, number):
                    return None
                default = _ENCODE(default_json(plan, classes, block, operation)).encode()
            if operation.flags & Flag.RECORDS and not records:
                counted = name[:-2] + b'SizeInBytes":'
            found[number] = FieldText(name + _SLACK, len(name), default, counted)
    return tuple(found)


def _has_floats(plan: Plan, number: int) -> bool:
    operation = plan.operation(number)
    if operation.code == Op.FLOAT64 or operation.element == Op.FLOAT64:
        return True
    if operation.block < 0:
        return False
    block = plan.blocks[operation.block]
    return any(_has_floats(plan, below) for below in range(block.first, block.first + block.untagged + block.tagged))
