"""What one version of a message looks like: its fields in wire order, ranges resolved, structs in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kwire.schema.model import Field, Message

__all__ = ["LayoutField", "fields_at", "paired_fields", "wire_shape"]


@dataclass(frozen=True, slots=True)
class LayoutField:
    """A field at one version.

    Attributes:
        name, type, default, ignorable, entity_type, map_key: as in `Field`.
        nullable: it may be null at this version.
        tag: its tag number where it is a tagged field at this version, else None.
        compact: its length or count is a compact varint, where it has one.
        fields: the fields of its struct at this version.
    """

    name: str
    type: str
    nullable: bool
    tag: int | None
    compact: bool
    default: str | None
    ignorable: bool
    entity_type: str | None
    map_key: bool
    fields: tuple[LayoutField, ...]


def fields_at(message: Message, version: int) -> tuple[LayoutField, ...]:
    """The fields of a message at a version, in the order of the wire, tagged fields where the definition has them.

    Raises:
        ValueError: the message has no such version.
    """
    found: tuple[LayoutField, ...] | None = message.derived.get((fields_at, version))
    if found is not None:
        return found
    if version not in message.valid_versions:
        raise ValueError(f"{message.name} has no version {version}, only {message.valid_versions}")

    def place(fields: tuple[Field, ...]) -> Iterator[LayoutField]:
        for field in fields:
            if version not in field.versions:
                continue
            inner = message.structs[field.element_type].fields if field.is_struct else ()
            flexible = message.flexible_versions if field.flexible_versions is None else field.flexible_versions
            yield LayoutField(
                field.name,
                field.type,
                nullable=version in field.nullable_versions,
                tag=field.tag if version in field.tagged_versions else None,
                compact=version in flexible,
                default=field.default,
                ignorable=field.ignorable,
                entity_type=field.entity_type,
                map_key=field.map_key,
                fields=tuple(place(inner)),
            )

    found = message.derived[fields_at, version] = tuple(place(message.fields))
    return found


def _wire_type(field: LayoutField) -> str:
    if field.fields:
        return "[]struct" if field.type.startswith("[]") else "struct"
    # Up to 2.7 Produce and Fetch said bytes where later definitions say records.
    return "bytes" if field.type == "records" else field.type


def wire_shape(fields: tuple[LayoutField, ...]) -> tuple[LayoutField, ...]:
    """The layout without what bytes do not show (names, defaults, entity types): equal shapes read and write the same bytes."""
    shapes = [
        replace(
            field,
            name="",
            type=_wire_type(field),
            default=None,
            ignorable=False,
            entity_type=None,
            map_key=False,
            fields=wire_shape(field.fields),
        )
        for field in fields
    ]
    plain = [shape for shape in shapes if shape.tag is None]
    return (*plain, *sorted((shape for shape in shapes if shape.tag is not None), key=lambda shape: shape.tag or 0))


def paired_fields(old: tuple[LayoutField, ...], new: tuple[LayoutField, ...]) -> Iterator[tuple[LayoutField, LayoutField]]:
    """Pair the fields of one struct in two definitions of a version: by name, and by position where names differ and types agree."""
    old_names, by_name = {field.name for field in old}, {field.name: field for field in new}
    yield from ((field, by_name[field.name]) for field in old if field.name in by_name)
    gone = {(at, _wire_type(field), field.tag): field for at, field in enumerate(old) if field.name not in by_name}
    came = {(at, _wire_type(field), field.tag): field for at, field in enumerate(new) if field.name not in old_names}
    if len(old) == len(new):
        yield from ((field, came[key]) for key, field in gone.items() if key in came)
