"""The text of Kafka's JSON: of one message, and what the native twin needs to write it without an object."""

from __future__ import annotations

from collections.abc import Callable
from json import JSONEncoder
from math import isfinite
from typing import Any, Final

from kwire.codec.json_form import default_json, to_json
from kwire.codec.plan import WIDTH, Flag, Op, Plan

__all__ = ["field_texts", "finite", "json_text"]

_SLACK: Final = bytes(32)  # behind each name: the native twin moves short ones with a fixed size
_ENCODE: Final[Callable[[Any], str]] = JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def finite(value: Any) -> Any:
    """The same with infinities and NaN as their names, as Jackson writes them: JSON has no such numbers."""
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    return [finite(each) for each in value] if isinstance(value, list) else value


def json_text(message: Any, version: int) -> str:
    """A message as the text of Kafka's JSON, which Spark's `from_json` and `get_json_object` read."""
    found = to_json(message, version)
    try:
        return _ENCODE(found)
    except ValueError:
        return _ENCODE(finite(found))


def field_texts(plan: Plan, classes: tuple[type, ...]) -> tuple[tuple[bytes, int, bytes | None], ...] | None:
    """Of each operation of a plan the text of its name, with bytes behind it, its size, and the text of a tagged field's default.

    Arguments:
        classes: of the plan's layouts.

    Returns:
        None where some tagged field may hold a float: two zeros are equal, and their texts are not.
    """
    found: list[tuple[bytes, int, bytes | None]] = [(_SLACK, 0, None)] * (len(plan.ops) // WIDTH)
    for block in plan.blocks:
        slots = plan.layouts[block.layout].slots
        for number in range(block.first, block.first + block.untagged + block.tagged):
            operation = plan.operation(number)
            name = f"{_ENCODE(slots[operation.slot].json_name)}:".encode()
            default = None
            if operation.flags & Flag.TAGGED:
                if _has_floats(plan, number):
                    return None
                default = _ENCODE(default_json(plan, classes, block, operation)).encode()
            found[number] = (name + _SLACK, len(name), default)
    return tuple(found)


def _has_floats(plan: Plan, number: int) -> bool:
    operation = plan.operation(number)
    if operation.code == Op.FLOAT64 or operation.element == Op.FLOAT64:
        return True
    if operation.block < 0:
        return False
    block = plan.blocks[operation.block]
    return any(_has_floats(plan, below) for below in range(block.first, block.first + block.untagged + block.tagged))
