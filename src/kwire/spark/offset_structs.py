"""Records of `__consumer_offsets` to structs.

A struct has group, topic, partition and member, and one struct for each kind of value in any release; at most one of these is not null.
Fields missing from a value's version are null.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.codec.arrow_types import ArrowArray, ArrowType, definition_type
from kwire.codec.binary_chunks import chunks_of, numbers_at
from kwire.codec.column_layout import ERROR_FIELDS
from kwire.codec.columns import to_arrow
from kwire.codec.layout import attribute_of
from kwire.protocol.coordinator import key_message, read_key, read_record, read_value, value_message
from kwire.schema import catalog
from kwire.spark.body_types import widened
from kwire.spark.frame_structs import one_array, scattered
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
_ABOUT: Final[tuple[Any, ...]] = (("kind", pa.string()), ("type", pa.int16()), ("value_version", pa.int16()), ("is_tombstone", pa.bool_()))
_ERROR: Final[tuple[Any, ...]] = (
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
        keys, values = one_array(keys), one_array(values)
        types, typed = _prefixes(keys)
        versions, versioned = _prefixes(values)
        tombstones = np.asarray(values.is_null())
        absent = np.asarray(keys.is_null()) & tombstones
        of_keys, of_values = _Groups(len(types)), _Groups(len(types))
        for type_id in np.unique(types[typed]).tolist():
            if (found := key_message(_TOPIC, type_id)) is None:
                continue
            of_type = of_keys.read(*found, keys, typed & (types == type_id))
            for version in np.unique(versions[of_type & versioned]).tolist():
                name = value_message(_TOPIC, type_id, version)
                if name is not None and version in catalog()[name].valid_versions:
                    of_values.read(name, version, values, of_type & versioned & (versions == version))
        errors: dict[int, tuple[Any, ...]] = {}
        raw: dict[int, Any] = {}
        for row in np.flatnonzero(~(of_values.valid | of_keys.valid & tombstones | absent)).tolist():
            raw[row] = {"key": keys[row].as_py(), "value": values[row].as_py()}
            error, place, version = _fault(**raw[row])
            self.options.refuse(error, row)
            versioned[row] = version is not None
            errors[row] = (error.fault.name, place, error.offset, error.path)
        columns = {
            "kind": of_keys.column(pa.string(), lambda name, batch: pa.repeat(name.removesuffix("Key"), len(batch))),
            "type": pa.array(types, mask=~typed),
            "value_version": pa.array(versions, mask=~versioned),
            "is_tombstone": pa.array(tombstones),
        }
        for name, kind in _KEY_FIELDS:
            columns[name] = of_keys.column(kind, partial(_key_field, name))
        for name, kind in _value_types().items():
            columns[_field_name(name)] = of_values.column(kind, partial(_value_struct, name, kind))
        for index, (name, kind) in enumerate(_ERROR):
            columns[name] = scattered(len(types), {row: error[index] for row, error in errors.items()}, kind)
        fields = list(self.type)
        if self.options.corrupt_record is not None:
            columns[self.options.corrupt_record] = scattered(len(types), raw, fields[-1].type)
        return pa.StructArray.from_arrays([columns[each.name] for each in fields], fields=fields, mask=pa.array(absent))


class _Groups:
    """Messages read in groups of one kind and version, and the rows of a batch that have them."""

    def __init__(self, count: int) -> None:
        self.valid = np.zeros(count, bool)
        self._groups: list[tuple[str, Any, Any]] = []

    def read(self, name: str, version: int, column: Any, rows: Any) -> Any:
        """Read the messages behind the prefixes of some rows; return which of these are valid."""
        places = np.flatnonzero(rows)
        [chunk] = chunks_of(column if rows.all() else column.take(pa.array(places)))
        batch = to_arrow(name, chunk._replace(starts=np.full(len(places), _PREFIX, np.int32)), version, errors="column")
        good = batch.column("error").is_null()
        if not pc.all(good).as_py():
            batch, places = batch.filter(good), places[np.asarray(good)]
        self.valid[places] = True
        self._groups.append((name, places, batch))
        return self.valid & rows

    def column(self, kind: ArrowType, of_group: Callable[[str, Any], Any]) -> ArrowArray:
        """Return a column with what the groups have for it, null elsewhere."""
        found = [(places, part) for name, places, batch in self._groups if (part := of_group(name, batch)) is not None]
        if not found:
            return pa.nulls(len(self.valid), kind)
        whole = pa.concat_arrays([part for _, part in found])
        order = np.concatenate([places for places, _ in found])
        if len(found) == 1 and len(order) == len(self.valid):
            return whole
        index = np.full(len(self.valid), -1)
        index[order] = np.arange(len(order))
        return whole.take(pa.array(index, mask=index < 0))


def _prefixes(column: Any) -> tuple[Any, Any]:
    [chunk] = chunks_of(column)
    numbers, held = numbers_at(chunk, 0, ">i2")
    return numbers.astype(np.int16), held


def _key_field(field: str, _name: str, batch: Any) -> Any:
    return next((batch.column(each) for each in (field, f"{field}_id") if each in batch.schema.names), None)


def _value_struct(target: str, kind: ArrowType, name: str, batch: Any) -> Any:
    if _LEGACY.get(name, name) != target:
        return None
    fields = [field for field in batch.schema if field not in ERROR_FIELDS]
    return widened(pa.StructArray.from_arrays(batch.columns[: len(fields)], fields=fields), kind)


def _fault(key: Any, value: Any) -> tuple[Any, str, int | None]:
    """Return the fault of an invalid record, where it is, and the version in which its value was read."""
    if key is None:
        return read_record(_TOPIC, None, value).violations[0], "key", None
    first = read_key(_TOPIC, key, strict=True)
    if first.violation is not None:
        return first.violation, "key", None
    second = read_value(_TOPIC, first.version, value, strict=True)
    return second.violation, "value", second.read_as
