"""Types of the bodies of a JSON request log: a msgspec struct of a plan's fields.

`json_form` and `bodies` are the reference; they read bodies with another type or a missing field.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from types import GenericAlias
from typing import Annotated, Any, Final

import msgspec

from kwire.capture.request_logs.bodies import INTEGER_BOUNDS, RECORDS_SIZE, default_struct
from kwire.capture.request_logs.entry import WantedBodies
from kwire.capture.request_logs.json_entries import releases_before_renames
from kwire.codec.classes import compiled
from kwire.codec.layout import Default, SlotLayout
from kwire.codec.plan import Flag, Op, Operation, Plan
from kwire.codec.uuids import Uuid
from kwire.schema import camel_name, catalog, releases
from kwire.schema.release_table import name_in

__all__ = ["Decode", "body_decoders", "converted", "struct_of"]

# Of these brokers log an empty text for the records, and no size.
_WITHOUT_SIZES: Final = ("ShareFetchResponse",)

_SCALARS: Final[dict[int, Any]] = {
    Op.STRING: str, Op.BOOL: bool, Op.FLOAT64: float, Op.UUID: Uuid, Op.BYTES: bytes,
    **{code: Annotated[int, msgspec.Meta(ge=low, le=high)] for code, (low, high) in INTEGER_BOUNDS.items()},
}  # fmt: skip
_LONGEST_KEPT: Final = 36  # with hyphens; spaces around it may be many


def struct_of(plan: Plan, index: int = 0, *, minor: str = "") -> type[msgspec.Struct]:
    """Create the type of a plan's block, with current field names or those of a minor release (then without the sizes of
    `_WITHOUT_SIZES`)."""
    block = plan.blocks[index]
    fields = catalog()[plan.message].structs[plan.layouts[block.layout].name].fields
    typed: list[Any] = []
    names: dict[str, str] = {}
    constants: dict[str, Any] = {}
    for number in range(block.first, block.first + block.untagged + block.tagged):
        operation = plan.operation(number)
        slot = plan.layouts[block.layout].slots[operation.slot]
        if operation.flags & Flag.SKIP:
            continue
        name = camel_name(name_in(fields[operation.slot], minor)) if minor else slot.json_name
        attribute, kind = slot.attribute, _type_of(plan, operation, minor)
        if operation.flags & Flag.RECORDS and not (minor and plan.message in _WITHOUT_SIZES):
            constants[attribute] = slot.value
            name, attribute, kind = f"{name}{RECORDS_SIZE[0]}", f"{attribute}{RECORDS_SIZE[1]}", _SCALARS[Op.INT32]
        names[attribute] = name
        if number < block.first + block.untagged:
            typed.append((attribute, kind))
        else:  # brokers leave tagged fields out that are at their default
            typed.append((attribute, kind, _default_of(plan, operation, slot)))
    # nothing in it leads back to it
    return msgspec.defstruct("Body", typed, namespace=constants, rename=names, kw_only=True, gc=False)


def _type_of(plan: Plan, operation: Operation, minor: str) -> Any:
    if operation.code == Op.STRUCT:
        return struct_of(plan, operation.block, minor=minor) | None
    if operation.code == Op.ARRAY:
        if operation.element == Op.STRUCT:
            return GenericAlias(list, (struct_of(plan, operation.block, minor=minor),)) | None
        return GenericAlias(tuple, (_SCALARS[operation.element], ...)) | None
    kind = _SCALARS[operation.code]
    return kind if operation.code in INTEGER_BOUNDS or operation.code == Op.UUID else kind | None  # which are never null


def _default_of(plan: Plan, operation: Operation, slot: SlotLayout) -> Any:
    if slot.default == Default.LIST:
        return msgspec.field(default_factory=list)
    if slot.default == Default.STRUCT:
        value = default_struct(plan, operation.block)  # messages are not changed
        return msgspec.field(default_factory=lambda: value)
    return msgspec.field(default=slot.value)


def converted(_kind: type, value: Any) -> Uuid:
    """Read an id, for which msgspec has no type; used as a decoder's `dec_hook`."""
    if value.__class__ is not str:
        raise ValueError("an id is a text")
    return _uuid(value) if len(value) <= _LONGEST_KEPT else Uuid.parse(value)


@lru_cache(maxsize=4096)
def _uuid(text: str) -> Uuid:
    return Uuid.parse(text)


Decode = Callable[[bytes], Any]


def body_decoders(version: int, wanted: WantedBodies, is_response: bool) -> tuple[Decode, ...]:
    """Return the decoders of a body to try in order: the current form, then those of former releases; empty for a body kept as text."""
    body = wanted.response if is_response else wanted.request
    if body is None:
        return ()
    older = releases_before_renames(body[0]) or ((releases().newest.minor,) if body[0] in _WITHOUT_SIZES else ())
    return tuple(_decoder(version, *body, minor) for minor in ("", *reversed(older)))


@cache
def _decoder(version: int, name: str, fields: tuple[str, ...] | None, minor: str) -> Decode:
    plan = compiled().plan(name, version, fields)
    decode = msgspec.json.Decoder(struct_of(plan, minor=minor), dec_hook=converted).decode
    fields_of_all = [field for struct in catalog()[name].structs.values() for field in struct.fields] if minor else []
    renamed = [field for field in fields_of_all if name_in(field, minor) != field.name]
    todays = [f'"{camel_name(field.name)}{RECORDS_SIZE[0] if field.type == "records" else ""}"'.encode() for field in renamed]
    if not todays:
        return decode

    def of_older_release(text: bytes) -> Any:
        if any(today in text for today in todays):  # a damaged line can have both names: the fallback takes today's
            raise msgspec.ValidationError("a field has the name of today")
        return decode(text)

    return of_older_release
