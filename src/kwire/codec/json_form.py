"""Messages as plain dicts and lists, equal to the JSON of Kafka's JsonConverter classes.

Names are camelCase; bytes and records are base64; uuids are base64url without padding. Fields that the version lacks, tagged fields at
their default and unknown tagged fields are left out. As in those classes and in `kwire.encode`, a field that the version lacks must have
its default unless it is ignorable. With `records=False`, record batches become their size (`recordsSizeInBytes`), as in a broker's request
log.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from kwire.codec._pure.primitives import join_path
from kwire.codec.class_descriptions import message_name
from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.layout import Default, SlotLayout
from kwire.codec.plan import Block, Flag, Op, Operation, Plan
from kwire.codec.write_walk import refuse_absent
from kwire.codec.written_values import Refusal
from kwire.errors import EncodeError

if TYPE_CHECKING:
    from kwire.messages import MessageObject

__all__ = ["default_json", "to_json"]

Convert = Callable[[Any], Any]

_MISSING: Final = object()


def _same(value: Any) -> Any:
    return value


def _base64(value: Any) -> str:
    return b64encode(value).decode("ascii")


_SCALARS: Final[dict[int, Convert]] = {Op.STRING: _same, Op.BYTES: _base64, Op.UUID: str}


def _list_of(element: Convert) -> Convert:
    return list if element is _same else lambda values: [element(value) for value in values]


def _list_of_structs(element: Convert) -> Convert:
    def write(values: Any) -> list[Any]:
        written: list[Any] = []
        try:
            for value in values:
                written.append(element(value))
        except Refusal as refusal:
            refusal.steps.append(len(written))
            raise
        return written

    return write


def _default_test(slot: SlotLayout) -> Callable[[Any], bool]:
    """Return a test for the default of a slot."""
    if slot.default == Default.STRUCT:
        return lambda held: held is not None and held == type(held)()
    default = [] if slot.default == Default.LIST else slot.value
    return lambda held: held == default


class _Writer:
    def __init__(self, plan: Plan, records: bool) -> None:
        self.plan = plan
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
        steps: list[tuple[str, str, Convert, Callable[[Any], bool] | None, str]] = []
        for number in range(block.first, block.first + block.untagged + block.tagged):
            operation = self.plan.operation(number)
            slot = slots[operation.slot]
            name, convert = slot.json_name, self._convert(operation)
            if operation.flags & Flag.RECORDS and not self.records:
                name, convert = f"{name}SizeInBytes", len
            left_out = _default_test(slot) if operation.flags & Flag.TAGGED else None
            steps.append((slot.attribute, name, convert, left_out, slot.json_name))

        plan = self.plan
        # of fields that the version lacks: most objects hold the very default there
        defaults = [(slots[each.slot].attribute, slots[each.slot].value) for each in block.absent if not (each.tagged or each.ignorable)]

        def write(value: Any) -> dict[str, Any]:
            written: dict[str, Any] = {}
            for attribute, default in defaults:
                if getattr(value, attribute, default) is not default:
                    refuse_absent(value, plan, block, None)
                    break
            for attribute, name, convert, left_out, name_of_null in steps:
                held = getattr(value, attribute, _MISSING)
                if held is _MISSING or (left_out is not None and left_out(held)):  # outside the projection, or a tag at its default
                    continue
                if held is None:
                    written[name_of_null] = None
                else:
                    try:
                        written[name] = convert(held)
                    except Refusal as refusal:
                        refusal.steps.append(attribute)
                        raise
            return written

        return write

    def _convert(self, operation: Operation) -> Convert:
        if operation.code == Op.STRUCT:
            return self.block(operation.block)
        if operation.code == Op.ARRAY:
            if operation.element == Op.STRUCT:
                return _list_of_structs(self.block(operation.block))
            return _list_of(_SCALARS.get(operation.element, _same))
        return _SCALARS.get(operation.code, _same)


def default_json(plan: Plan, classes: tuple[type, ...], block: Block, operation: Operation) -> Any:
    """Return the JSON of a field's default; `classes` are those of the plan's layouts."""
    slot = plan.layouts[block.layout].slots[operation.slot]
    if slot.default == Default.STRUCT:
        return _Writer(plan, records=True).block(operation.block)(classes[slot.value]())
    if slot.default == Default.LIST:
        return []
    value = slot.value
    if value is None or operation.code == Op.ARRAY:
        return None if value is None else list(value)
    return _SCALARS.get(operation.code, _same)(value)


@lru_cache(maxsize=2048)
def _writer(source: CompiledCatalog, name: str, version: int, records: bool) -> Convert:
    return _Writer(source.plan(name, version), records).block(0)


def to_json(message: MessageObject, version: int, records: bool = True, *, source: CompiledCatalog | None = None) -> dict[str, Any]:
    """Return a message as Kafka's JsonConverter classes write it.

    Arguments:
        message: an object of a message class.
        version: version to write.
        records: whether to write record batches as base64; if False, write their size, as a broker's request log does.
        source: catalog of the message's class; the built-in one by default.

    Raises:
        EncodeError: a field that the version lacks, and that is not ignorable, does not hold its default.
        TypeError: not an object of a message class.
        UnsupportedVersion: the message has no such version.
    """
    name = message_name(message, "to_json")
    write = _writer(source or compiled(), name, version, records)
    try:
        return write(message)  # type: ignore[no-any-return]
    except Refusal as refusal:
        error = EncodeError(refusal.reason, path=join_path(refusal.steps), message=name, api_version=version)
    raise error
