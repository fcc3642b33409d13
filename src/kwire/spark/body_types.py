"""Type of a `body` column: Kafka's JSON, or the struct of one message, at one version or with the fields of all versions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from kwire.codec.arrow_types import ArrowArray, ArrowType, definition_type, spark_ddl
from kwire.codec.binary_chunks import chunks_of
from kwire.codec.column_layout import ERROR_FIELDS, MESSAGE_INDEX
from kwire.codec.columns import arrow_schema, to_arrow
from kwire.codec.layout import attribute_of, current_path
from kwire.errors import Fault, InputError, WireError, wire_error
from kwire.schema import catalog
from kwire.spark.reading_options import paths_of

__all__ = ["JSON_BODY", "NO_BODY", "BodyType", "body_type", "ddl", "widened"]


class BodyType(NamedTuple):
    """Type of a `body` column; without a message, it is JSON. Without a version, it has the fields of all versions, null where missing."""

    message: str | None = None
    version: int | None = None
    fields: tuple[str, ...] | None = None

    @property
    def schema(self) -> pa.Schema:
        return self._schema(explode=False)

    @property
    def rows_schema(self) -> pa.Schema:
        """Type with one row for each element of the arrays in the fields' paths (`kwire.to_arrow`), and `api_version` without a version."""
        first = [pa.field("api_version", pa.int16())] if self.version is None else []
        return pa.schema([*first, *self._schema(explode=True)])

    def _schema(self, explode: bool) -> pa.Schema:
        assert self.message is not None
        if self.version is None:
            return _all_versions(self.message, self.fields, explode)
        found = arrow_schema(self.message, self.version, self.fields, explode=explode)
        return pa.schema([field for field in found if field.name != MESSAGE_INDEX])

    @property
    def arrow(self) -> Any:
        return pa.string() if self.message is None else pa.struct(list(self.schema))

    @property
    def api_key(self) -> int:
        found = -1 if self.message is None else catalog()[self.message].api_key
        return -1 if found is None else found

    def reads(self, versions: Any) -> Any:
        """Return which versions of the message are read."""
        if self.version is not None:
            return versions == self.version
        return np.isin(versions, list(catalog()[str(self.message)].valid_versions))

    def read(self, frames: Any, starts: Any, versions: Any, wanted: Any = None, *, explode: bool = False) -> tuple[Any, pa.RecordBatch]:
        """Read messages to columns, `error`, `error_offset` (in the message) and `error_path`.

        Args:
            frames: array of one chunk, not of views.
            starts: offset of the message in each frame; a negative one gives a row of nulls.
            versions: version of each message, if the type has none.
            wanted: frames to return, None for all.
            explode: return a row for each element of the arrays in the fields' paths.

        Returns:
            Index in `frames` of each row, None if they are the same; and the rows.
        """
        if wanted is None:
            wanted = np.ones(len(frames), bool)
        groups = [(self.version, wanted)]
        if self.version is None:
            there = wanted & (starts >= 0)
            first = versions[there.argmax()] if there.any() else catalog()[str(self.message)].valid_versions.lowest
            versions = np.where(there, versions, first)
            groups = [(int(each), wanted & (versions == each)) for each in np.unique(versions[wanted])] or [(first, wanted)]
        schema = pa.schema([*self._schema(explode), *ERROR_FIELDS])
        indexes, parts = [], []
        for version, of_group in groups:
            index, batch = self._read(frames, starts, version, np.flatnonzero(of_group), explode)
            indexes.append(index)
            names = batch.schema.names
            parts.append([widened(batch.column(f.name) if f.name in names else pa.nulls(len(index), f.type), f.type) for f in schema])
        index = np.concatenate(indexes)
        columns = [pa.concat_arrays(each) for each in zip(*parts, strict=True)]
        if len(groups) > 1:
            order = np.argsort(index, kind="stable")
            index, columns = index[order], [column.take(pa.array(order)) for column in columns]
        same = len(index) == len(frames) and bool((index == np.arange(len(frames))).all())
        return None if same else index, pa.RecordBatch.from_arrays(columns, schema=schema)

    def _read(self, frames: Any, starts: Any, version: Any, rows: Any, explode: bool) -> tuple[Any, pa.RecordBatch]:
        [chunk] = chunks_of(frames if len(rows) == len(frames) else frames.take(pa.array(rows)))
        chunk = chunk._replace(starts=np.ascontiguousarray(starts[rows], np.int32))
        batch = to_arrow(str(self.message), chunk, version, self.fields, errors="column", explode=explode)
        return rows[np.asarray(batch.column(0))] if batch.schema.names[:1] == [MESSAGE_INDEX] else rows, batch

    def fault(self, version: int, name: str, offset: int, path: str) -> WireError:
        """Return the error of a message, as `read` gives it."""
        return wire_error(Fault[name], offset, path, str(self.message), self.api_key, version)


def _union(whole: ArrowType, kinds: list[ArrowType]) -> ArrowType:
    """Return a type with the fields of all given types, in the order of `whole`."""
    if pa.types.is_list(whole):
        return pa.list_(_union(whole.value_type, [each.value_type for each in kinds]))
    if pa.types.is_struct(whole):
        held = {field.name: [each.field(field.name).type for each in kinds if each.get_field_index(field.name) >= 0] for field in whole}
        return pa.struct([(field.name, _union(field.type, held[field.name])) for field in whole if held[field.name]])
    return whole


@cache
def _all_versions(message: str, fields: tuple[str, ...] | None, explode: bool) -> pa.Schema:
    definition = catalog()[message]
    whole = pa.struct([(attribute_of(definition, each), definition_type(definition, each.type)) for each in definition.fields])
    versions = definition.valid_versions
    found: dict[str, list[ArrowType]] = {}
    for version in reversed(list(versions)):
        for field in arrow_schema(message, version, fields, explode=explode):
            if field.name != MESSAGE_INDEX:
                found.setdefault(field.name, []).append(field.type)
    names = list(found) if fields is not None and explode else [field.name for field in whole if field.name in found]

    def type_of(name: str) -> ArrowType:
        kind = whole
        for step in current_path(definition, versions.highest, name).split("."):
            kind = (kind.value_type if pa.types.is_list(kind) else kind).field(step).type
        return _union(kind, found[name])

    # Where a version lacks an array that stays one, its fields are columns of their own.
    return pa.schema([(name, type_of(name)) for name in names if not any(name.startswith(f"{each}.") for each in names)])


def widened(array: ArrowArray, kind: ArrowType) -> ArrowArray:
    """Convert an array to a type whose structs have more fields; the new fields are null."""
    if array.type == kind:
        return array
    mask = array.is_null() if array.null_count else None
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(array.offsets, widened(array.values, kind.value_type), type=kind, mask=mask)
    held = {field.name: array.field(index) for index, field in enumerate(array.type)}
    fields = [kind.field(index) for index in range(kind.num_fields)]
    made = [widened(held[each.name], each.type) if each.name in held else pa.nulls(len(array), each.type) for each in fields]
    return pa.StructArray.from_arrays(made, fields=fields, mask=mask)


JSON_BODY: Final = BodyType()
NO_BODY: Final = BodyType(fields=())


def body_type(
    message: str | None, version: int | None, fields: str | Iterable[str] | None, kind: str | None = None, function: str = "ddl"
) -> BodyType:
    """Return the requested type of a message of a `kind` (``request``, ``response``, None for any); arguments as in `ddl`."""
    if message is None:
        if version is not None or fields is not None:
            raise InputError(f"{function} needs a message for version and fields.")
        return JSON_BODY
    found = BodyType(message, version, paths_of(fields))
    if kind is not None and message in catalog() and catalog()[message].kind != kind:
        raise InputError(f"{function} takes the name of a {kind}, which {message} is not.")
    if not found.schema.names and (kind is None or fields is not None):
        at = "all versions" if version is None else f"version {version}"
        raise InputError(f"{message} has in {at} no field of {', '.join(found.fields or ('it',))}: its struct would be empty.")
    return found


def ddl(message: str, version: int | None = None, fields: str | Iterable[str] | None = None) -> str:
    """Return the columns of a typed `body` as Spark's DDL: ``ddl("MetadataResponse", 12, "topics.name")``.

    Args:
        message: name of the message.
        version: its version; None for the fields of all versions.
        fields: paths such as ``topics.partitions.leader_id``, a sequence or one text with commas; None for all. Arrays stay arrays; fields
            that the version lacks are left out.

    Raises:
        InputError: none of the fields is in the version.
        KwireError: unknown message or field.
        UnsupportedVersion: the message has no such version.
    """
    return spark_ddl(body_type(message, version, fields).schema)
