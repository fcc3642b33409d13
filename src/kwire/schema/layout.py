"""One version of a message: fields in wire order, ranges and structs resolved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kwire.schema.model import Field, Message

__all__ = ["LayoutField", "fields_at", "paired_fields", "wire_shape"]


@dataclass(frozen=True, slots=True)
class LayoutField:
    """A field at one version."""

    name: str
    type: str
    nullable: bool
    tag: int | None  # tag number if it is tagged at this version, else None
    compact: bool  # whether its length or count is compact
    default: str | None
    ignorable: bool
    entity_type: str | None
    map_key: bool
    fields: tuple[LayoutField, ...]  # fields of its struct at this version


def fields_at(message: Message, version: int) -> tuple[LayoutField, ...]:
    """Return the fields of a message at a version, in wire order, tagged fields where the definition has them."""
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
    """Return the layout without names, defaults and entity types: equal shapes read and write the same bytes."""
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
    """Pair the fields of a struct in two definitions of a version: by name, else by position if types agree."""
    old_names, by_name = {field.name for field in old}, {field.name: field for field in new}
    yield from ((field, by_name[field.name]) for field in old if field.name in by_name)
    gone = {(at, _wire_type(field), field.tag): field for at, field in enumerate(old) if field.name not in by_name}
    came = {(at, _wire_type(field), field.tag): field for at, field in enumerate(new) if field.name not in old_names}
    if len(old) == len(new):
        yield from ((field, came[key]) for key, field in gone.items() if key in came)
