"""Fallback writer: writes a message step by step, by the rules of Kafka's generated writers.

Both backends use this walk for unusual values and errors, so they report the same. The rules are those of Kafka's `MessageDataGenerator`:

* A field that the version lacks must hold its default, unless it is ignorable.
* A tagged field is written if it does not hold its default; tags ascend, unknown ones are merged between them. Tags that the struct defines
  in any version cannot be unknown.
* A version without tagged fields cannot carry unknown ones.
* A null struct is the byte ff and a present one 01; as a tagged field 00 and 01 (a varint).

If Kafka's writers fail with a NullPointerException or a RuntimeException, this walk raises EncodeError too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kwire.codec._pure.primitives import join_path
from kwire.codec.layout import Default, SlotLayout
from kwire.codec.plan import Block, Flag, Op, Operation, Plan
from kwire.codec.written_values import COMPARED, MOST_BYTES, Refusal, bytes_of, integer_of, items_of, kind_of, value_bytes, varint
from kwire.errors import EncodeError

__all__ = ["MOST_TAG", "holds_default", "joined", "refuse_absent", "unknown_tags", "write_carefully"]

MOST_TAG: Final = 0xFFFFFFFF  # what a varint of a tag holds; Java's writers stop at 2147483646, its readers and ours do not

_UNSET: Final = object()
_UNKNOWN: Final = "unknown_tagged_fields"

Out = list[bytes]


def holds_default(value: Any, slot: SlotLayout, classes: tuple[type, ...] | None) -> bool:
    """Return whether a value, in any accepted form, is the default of its slot; `classes` None accepts those of any catalog."""
    if slot.default == Default.STRUCT:
        known = hasattr(type(value), "layout") if classes is None else type(value) is classes[slot.value]
        return known and _holds_defaults(value, classes)
    default: Any = () if slot.default == Default.LIST else slot.value
    if value is None or default is None:
        return value is default
    try:
        if slot.type.startswith("[]"):
            return len(items_of(value)) == 0
        compared: Callable[[Any], Any] = COMPARED.get(slot.type, integer_of)
        return bool(compared(value) == compared(default))
    except Refusal:
        return False


def _holds_defaults(value: Any, classes: tuple[type, ...] | None) -> bool:
    """Return whether all slots of an object hold their defaults, without unknown tagged fields."""
    for slot in value.layout.slots:
        held = getattr(value, slot.attribute, _UNSET)
        if held is _UNSET or not holds_default(held, slot, classes):
            return False
    tags: Any = getattr(value, _UNKNOWN, None)
    return type(tags) in (list, tuple) and not tags


def unknown_tags(given: Any, known: frozenset[int]) -> list[tuple[int, bytes]]:
    """Return the pairs of `unknown_tagged_fields`; reject tags that do not ascend and `known` tags of any version."""
    found: list[tuple[int, bytes]] = []
    for index, pair in enumerate(items_of(given)):
        try:
            parts = items_of(pair)
            if len(parts) != 2:
                raise Refusal(f"expected a pair of tag and bytes, got {len(parts)} values")
            tag, content = integer_of(parts[0]), bytes_of(parts[1])
            if not 0 <= tag <= MOST_TAG:
                raise Refusal("the tag does not fit into 32 bits")
            if tag in known:
                raise Refusal(f"tag {tag} is that of a field of the message")
            if found and tag <= found[-1][0]:
                raise Refusal(f"tag {tag} comes after tag {found[-1][0]}, but tags ascend")
        except Refusal as refusal:
            refusal.steps.append(index)
            raise
        found.append((tag, content))
    return found


def refuse_absent(value: Any, plan: Plan, block: Block, classes: tuple[type, ...] | None) -> None:
    """Reject an object with a value that its version cannot carry, as Kafka does; attributes outside the projection may be missing."""
    slots = plan.layouts[block.layout].slots
    for absent in block.absent:
        slot = slots[absent.slot]
        if absent.tagged or absent.ignorable:
            continue
        held = getattr(value, slot.attribute, _UNSET)
        if held is not _UNSET and held is not slot.value and not holds_default(held, slot, classes):
            raise Refusal(f"version {plan.version} lacks this field, so it must hold its default", slot.attribute)


class _Walk:
    """Writer of one message."""

    def __init__(self, plan: Plan, classes: tuple[type, ...]) -> None:
        self.plan = plan
        self.classes = classes

    def struct(self, out: Out, value: Any, number: int) -> None:
        block = self.plan.blocks[number]
        kind = self.classes[block.layout]
        if value is None:
            raise Refusal("null is not allowed")
        if type(value) is not kind:
            other = " of another catalog" if type(value).__qualname__ == kind.__qualname__ else ""
            raise Refusal(f"expected {kind.__qualname__}, got {kind_of(value)}{other}")
        refuse_absent(value, self.plan, block, self.classes)
        for index in range(block.first, block.first + block.untagged):
            self.field(out, value, number, index)
        self.tags(out, value, number)

    def tags(self, out: Out, value: Any, number: int) -> None:
        block = self.plan.blocks[number]
        tagged = range(block.first + block.untagged, block.first + block.untagged + block.tagged)
        given = getattr(value, _UNKNOWN, ())
        known = frozenset((*(self.plan.operation(index).tag for index in tagged), *block.refused_tags))
        try:
            sections = unknown_tags(given, known)
            if sections and not self.plan.flexible:
                raise Refusal(f"version {self.plan.version} has no tagged fields")
        except Refusal as refusal:
            refusal.steps.append(_UNKNOWN)
            raise
        if not self.plan.flexible:
            return
        slots = self.plan.layouts[block.layout].slots
        for index in tagged:
            operation = self.plan.operation(index)
            held = getattr(value, slots[operation.slot].attribute, _UNSET)
            if held is _UNSET or not holds_default(held, slots[operation.slot], self.classes):
                content: Out = []
                self.field(content, value, number, index)
                sections.append((operation.tag, joined(content)))
        sections.sort(key=lambda section: section[0])
        out.append(varint(len(sections)))
        for tag, payload in sections:
            out += varint(tag), varint(len(payload)), payload

    def field(self, out: Out, value: Any, number: int, index: int) -> None:
        operation = self.plan.operation(index)
        name = self.plan.attribute(number, index)
        held = getattr(value, name, _UNSET)
        try:
            if held is _UNSET:
                raise Refusal("field was not decoded (outside the projection)")
            self.value(out, held, operation)
        except Refusal as refusal:
            refusal.steps.append(name)
            raise

    def value(self, out: Out, held: Any, operation: Operation) -> None:
        code, nullable, compact = operation.code, bool(operation.flags & Flag.NULLABLE), bool(operation.flags & Flag.COMPACT)
        if code == Op.STRUCT:
            if nullable:
                present, null = (b"\1", b"\0") if compact else (b"\1", b"\xff")
                out.append(null if held is None else present)
            if not nullable or held is not None:
                self.struct(out, held, operation.block)
        elif code in (Op.STRING, Op.BYTES, Op.ARRAY):
            if nullable and held is None:
                out.append(b"\0" if compact else b"\xff" * (2 if code == Op.STRING else 4))
            elif code == Op.ARRAY:
                self.array(out, held, operation)
            else:
                self.lengthed(out, held, code, compact)
        else:
            out.append(value_bytes(code, held))

    def array(self, out: Out, held: Any, operation: Operation) -> None:
        items = items_of(held)
        self.length(out, len(items), Op.ARRAY, bool(operation.flags & Flag.COMPACT))
        for index, item in enumerate(items):
            try:
                if operation.element == Op.STRUCT:
                    self.struct(out, item, operation.block)
                elif operation.element in (Op.STRING, Op.BYTES):
                    self.lengthed(out, item, operation.element, bool(operation.flags & Flag.COMPACT))
                else:
                    out.append(value_bytes(operation.element, item))
            except Refusal as refusal:
                refusal.steps.append(index)
                raise

    def lengthed(self, out: Out, held: Any, code: int, compact: bool) -> None:
        content = value_bytes(code, held)
        self.length(out, len(content), code, compact)
        out.append(content)

    @staticmethod
    def length(out: Out, length: int, code: int, compact: bool) -> None:
        if length > MOST_BYTES:
            raise Refusal(f"the array has {length} elements, more than {MOST_BYTES}")
        out.append(varint(length + 1) if compact else length.to_bytes(2 if code == Op.STRING else 4, "big"))


def joined(parts: Out) -> bytes:
    """Join the parts of a message. Raises Rejection of a message that exceeds the size of a frame."""
    size = sum(map(len, parts))
    if size > MOST_BYTES:
        raise Refusal(f"the message would take {size} bytes, more than {MOST_BYTES}")
    return b"".join(parts)


def write_carefully(plan: Plan, classes: tuple[type, ...], message: Any, before: bytes = b"") -> bytes:
    """Write one message after the bytes `before`, such as a header. Raises EncodeError: Kafka does not allow a value in this version."""
    out = [before]
    try:
        _Walk(plan, classes).struct(out, message, 0)
        return joined(out)
    except Refusal as refusal:
        error = EncodeError(refusal.reason, path=join_path(refusal.steps), message=plan.message, api_version=plan.version)
    raise error
