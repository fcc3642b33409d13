"""Bodies of a JSON request log by the types that their plan says: a struct of msgspec for each, with the fields that are asked for.

The short way of `kwire.capture.request_log_bodies`, which is the contract: what has another type, or lacks a field, is None here and
left to that. Fields that nobody asks for are stepped over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from types import GenericAlias
from typing import Annotated, Any, Final

import msgspec

from kwire.capture.request_log_body_source import WantedField
from kwire.codec.uuids import Uuid

__all__ = ["body_reader", "struct_of"]

_SIMPLE: Final[dict[str, Any]] = {"string": str, "boolean": bool, "float": float, "bytes": bytes}

_LONGEST_KEPT: Final = 36  # with hyphens; spaces around it may be many


def struct_of(fields: Iterable[WantedField]) -> type[msgspec.Struct]:
    """Make the type of a struct.

    Args:
        fields: those that are asked for.
    """
    typed: list[Any] = []
    constants: dict[str, Any] = {}
    names: dict[str, str] = {}
    for field in fields:
        names[field.attribute] = field.json_name
        typed.append((field.attribute, _type_of(field)))
        if field.absent is not None:
            typed[-1] += (msgspec.field(default_factory=field.absent),)
        constants.update(field.beside)
    # nothing in it leads back to it
    return msgspec.defstruct("Body", typed, namespace=constants, rename=names, kw_only=True, gc=False)


def _type_of(field: WantedField) -> Any:
    one: Any
    if field.inner is not None:
        one = field.inner()
        many: Any = GenericAlias(list, (one,))
        return many | None if field.kind == "structs" else one | None
    if field.bounds is not None:
        one = Annotated[int, msgspec.Meta(ge=field.bounds[0], le=field.bounds[1] - 1)]
    elif field.kind == "uuid":
        one = Uuid
    else:
        one = _SIMPLE[field.kind]
    if field.many:
        many = GenericAlias(tuple, (one, ...))
        return many | None
    return one if field.kind in ("integer", "uuid") else one | None  # which are never null


def body_reader(struct: type[msgspec.Struct]) -> Callable[[bytes], Any]:
    """Make the function that reads the text of a JSON object; it gives None for what the long way has to read.

    Args:
        struct: made by `struct_of`.
    """
    decode = msgspec.json.Decoder(struct, dec_hook=_converted).decode

    def read(body: bytes) -> Any:
        try:
            return decode(body)
        except (msgspec.MsgspecError, ValueError, RecursionError):  # another type, no JSON, UTF-8 that is none
            return None

    return read


def _converted(_kind: type, value: Any) -> Uuid:
    if value.__class__ is not str:
        raise ValueError("an id is a text")
    return _uuid(value) if len(value) <= _LONGEST_KEPT else Uuid.parse(value)


@lru_cache(maxsize=4096)
def _uuid(text: str) -> Uuid:
    return Uuid.parse(text)
