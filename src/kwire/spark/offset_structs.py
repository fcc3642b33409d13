"""Records of `__consumer_offsets` to structs.

A struct has group, topic, partition and member, and one struct for each kind of value in any release; at most one of these is not null.
Fields missing from a value's version are null.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

import pyarrow as pa

from kwire.codec.arrow_types import ArrowArray, ArrowType, definition_type
from kwire.codec.binary_chunks import messages_in
from kwire.codec.columns import to_arrow
from kwire.codec.layout import attribute_of
from kwire.errors import WireError
from kwire.protocol.coordinator import CoordinatorRecord, read_key, read_record, read_value
from kwire.schema import catalog
from kwire.spark.reading_options import ReadingOptions

__all__ = ["OffsetStructs"]

_TOPIC: Final = "__consumer_offsets"
_PREFIX: Final = 2  # bytes of a value's version
# Newer values of OffsetCommit have every field of the legacy one.
_LEGACY: Final = {"LegacyOffsetCommitValue": "OffsetCommitValue"}
_KEY_FIELDS: Final[tuple[tuple[str, Any], ...]] = (
    ("group", pa.string()), ("topic", pa.string()), ("partition", pa.int32()), ("member_id", pa.string()),
    ("regular_expression", pa.string()),
)  # fmt: skip
_ABOUT: Final[tuple[tuple[str, Any], ...]] = (
    ("kind", pa.string()),
    ("type", pa.int16()),
    ("value_version", pa.int16()),
    ("is_tombstone", pa.bool_()),
)
_ERROR: Final[tuple[tuple[str, Any], ...]] = (
    ("error", pa.string()),
    ("error_in", pa.string()),
    ("error_offset", pa.int64()),
    ("error_path", pa.string()),
)


def _field_name(message: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", message.removesuffix("Value")).lower()


@cache
def _value_types() -> dict[str, ArrowType]:
    known = catalog()
    found: dict[int, str] = {}
    for name in known:
        if name.endswith("Value") and name not in _LEGACY:  # spares parsing the other definitions
            message = known[name]
            if message.topic == _TOPIC and message.api_key is not None:
                found[message.api_key] = name
    return {
        name: pa.struct([(attribute_of(known[name], field), definition_type(known[name], field.type)) for field in known[name].fields])
        for _, name in sorted(found.items())
    }


def _widened(array: ArrowArray, kind: ArrowType) -> ArrowArray:
    """Convert an array to a type whose structs have more fields; the new fields are null."""
    if pa.types.is_struct(kind):
        held = {field.name: array.field(index) for index, field in enumerate(array.type)}
        fields = [kind.field(index) for index in range(kind.num_fields)]
        made = [_widened(held[each.name], each.type) if each.name in held else pa.nulls(len(array), each.type) for each in fields]
        return pa.StructArray.from_arrays(made, fields=fields, mask=array.is_null())
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(array.offsets, _widened(array.values, kind.value_type), type=kind, mask=array.is_null())
    return array


class OffsetStructs:
    """Mapping of keys and values of `__consumer_offsets` to structs; the bytes of invalid records are kept as a struct of `key` and
    `value`."""

    takes = 2

    def __init__(self, options: ReadingOptions | None = None) -> None:
        self.options = options or ReadingOptions()

    @property
    def type(self) -> Any:
        values = [(_field_name(name), kind) for name, kind in _value_types().items()]
        name = self.options.corrupt_record
        corrupt = [] if name is None else [(name, pa.struct([("key", pa.binary()), ("value", pa.binary())]))]
        return pa.struct([*_ABOUT, *_KEY_FIELDS, *values, *_ERROR, *corrupt])

    def __call__(self, keys: Any, values: Any) -> Any:
        """Return the structs of two arrays of any binary type; a key and a value that are both null give a null."""
        key_bytes, value_bytes = messages_in(keys), messages_in(values)
        records = [_read(key, value) for key, value in zip(key_bytes, value_bytes, strict=True)]
        for row, record in enumerate(records):
            self.options.refuse(next(iter(record.violations), None), row)
        columns: dict[str, ArrowArray] = self._values(records, value_bytes)
        abouts = [_about(record, value) for record, value in zip(records, value_bytes, strict=True)]
        faults = [_fault(record) for record in records]
        for rows, fields in ((abouts, (*_ABOUT, *_KEY_FIELDS)), (faults, _ERROR)):
            for place, (name, kind) in enumerate(fields):
                columns[name] = pa.array([row[place] for row in rows], kind)
        struct = self.type
        if self.options.corrupt_record is not None:
            raw = [
                None if not record.violations else {"key": _copied(key), "value": _copied(value)}
                for record, key, value in zip(records, key_bytes, value_bytes, strict=True)
            ]
            columns[self.options.corrupt_record] = pa.array(raw, struct.field(self.options.corrupt_record).type)
        absent = pa.array([key is None and value is None for key, value in zip(key_bytes, value_bytes, strict=True)], pa.bool_())
        whole = [struct.field(index) for index in range(struct.num_fields)]
        return pa.StructArray.from_arrays([columns[each.name] for each in whole], fields=whole, mask=absent)

    def _values(self, records: list[CoordinatorRecord], values: list[Any]) -> dict[str, ArrowArray]:
        """Return the structs of each kind of value, by column; values of one version are read in one call."""
        groups: dict[str, dict[tuple[str, int], list[int]]] = {name: {} for name in _value_types()}
        for row, record in enumerate(records):
            if record.value is not None and record.value_version is not None and not record.violations:
                name = type(record.value).layout.name
                groups[_LEGACY.get(name, name)].setdefault((name, record.value_version), []).append(row)
        columns: dict[str, ArrowArray] = {}
        for target, kind in _value_types().items():
            if not groups[target]:
                columns[_field_name(target)] = pa.nulls(len(records), kind)
                continue
            parts: list[ArrowArray] = []
            places: list[int | None] = [None] * len(records)
            filled = 0
            for (name, version), rows in groups[target].items():
                batch = to_arrow(name, [values[row][_PREFIX:] for row in rows], version)
                parts.append(_widened(pa.StructArray.from_arrays(batch.columns, fields=list(batch.schema)), kind))
                for row in rows:
                    places[row] = filled
                    filled += 1
            columns[_field_name(target)] = pa.concat_arrays(parts).take(pa.array(places, pa.int64()))
        return columns


def _read(key: Any, value: Any) -> CoordinatorRecord:
    if key is None:
        return read_record(_TOPIC, None, value)
    first = read_key(_TOPIC, key, strict=True)
    if first.violation is not None:
        return CoordinatorRecord(first.version, first.message, None, None, None, (first.violation,))
    second = read_value(_TOPIC, first.version, value, strict=True)
    violations = () if second.violation is None else (second.violation,)
    return CoordinatorRecord(first.version, first.message, second.message, first.read_as, second.read_as, violations)


def _copied(data: Any) -> bytes | None:
    return None if data is None else bytes(data)


def _about(record: CoordinatorRecord, value: Any) -> tuple[Any, ...]:
    key = record.key if record.key_version is not None else None
    kind = None if key is None else type(key).layout.name.removesuffix("Key")
    group = getattr(key, "group", getattr(key, "group_id", None))
    named = (getattr(key, name, None) for name, _ in _KEY_FIELDS[1:])
    return (kind, record.type_id, record.value_version, value is None, group, *named)


def _fault(record: CoordinatorRecord) -> tuple[Any, ...]:
    if not record.violations:
        return (None, None, None, None)
    first: WireError = record.violations[0]
    return (first.fault.name, "key" if record.key_version is None else "value", first.offset, first.path)
