"""Rows of frames in a binary column: the mapping of batches for `map_frames`.

Without a message, a request frame becomes the columns of its header. With one, request frames of that message and version become its
columns as `kwire.to_arrow` returns them, one row for each element of the arrays in the fields' paths, and other frames are dropped; all
response frames and bodies are read as that message. A null gives a row of nulls, as in Spark's `explode_outer`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa

from kwire.codec.arrow_types import ArrowArray
from kwire.codec.binary_chunks import chunks_of
from kwire.codec.classes import compiled
from kwire.codec.column_layout import ERROR_FIELDS, MESSAGE_INDEX
from kwire.codec.columns import to_arrow
from kwire.codec.decoding import with_length_hint
from kwire.codec.header_scan import HEADER_TYPES, header_batch
from kwire.errors import Fault, InputError, WireError, wire_error
from kwire.schema import catalog
from kwire.schema.header_versions import header_version_of
from kwire.spark.body_types import BodyType
from kwire.spark.frame_structs import one_array, response_starts
from kwire.spark.reading_options import ReadingOptions

__all__ = ["HEADER_COLUMNS", "FrameRows"]

_SLICE: Final = 65_536  # rows of a batch that goes back to Spark
HEADER_COLUMNS: Final = ("api_key", "api_version", "correlation_id", "client_id", "error")
"""Default columns of a request header; `kwire.codec.header_scan.HEADER_TYPES` has all."""


class FrameRows:
    """Mapping of batches with frames (bodies without `header`) to batches of rows."""

    def __init__(
        self,
        column: str,
        kept: tuple[str, ...],
        body: BodyType,
        options: ReadingOptions,
        header: bool = True,
        columns: tuple[str, ...] | None = None,
    ) -> None:
        self.column = column
        self.kept = kept
        self.body = body
        self.options = options
        self.header = header
        self.columns = columns
        self._check_columns()

    def _check_columns(self) -> None:
        if self.columns is None:
            return
        known = tuple(HEADER_TYPES) if self.body.message is None else self._message_columns.names
        for name in self.columns:
            if name not in known:
                raise InputError(f"Unknown column {name!r}; choose from {', '.join(known)}.")
            if self.columns.count(name) > 1:
                raise InputError(f"The column {name!r} is asked for twice.")
        if not self.columns:
            raise InputError(f"No column is requested; available are {', '.join(known)}.")

    @property
    def _message_columns(self) -> pa.Schema:
        return pa.schema([*self.body.rows_schema, *ERROR_FIELDS])

    @property
    def schema(self) -> pa.Schema:
        if self.body.message is None:
            fields = [pa.field(name, pa.type_for_alias(HEADER_TYPES[name])) for name in self.columns or HEADER_COLUMNS]
        else:
            known = self._message_columns
            fields = [known.field(name) for name in self.columns or known.names]
        if self.options.corrupt_record is not None:
            fields.append(pa.field(self.options.corrupt_record, pa.binary()))
        return pa.schema(fields)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        schema = self.schema
        names = [*self.kept, *schema.names]
        wanted = [name for name in schema.names if name != self.options.corrupt_record]
        for batch in batches:
            given = one_array(batch.column(self.column))
            rows, found = self._headers(given, wanted) if self.body.message is None else self._messages(given)
            columns = [found[name] for name in wanted]
            if self.options.corrupt_record is not None:
                every = np.arange(len(given)) if rows is None else rows
                bad = np.where(np.asarray(found["error"].is_valid()), every, -1)
                columns.append(given.cast(pa.binary()).take(pa.array(bad, pa.int64(), mask=bad < 0)))
            kept = [batch.column(name) for name in self.kept]
            if rows is not None and kept:
                index = pa.array(rows, pa.int32())
                kept = [column.take(index) for column in kept]
            made = pa.RecordBatch.from_arrays([*kept, *columns], names=names)
            if self.options.drops:
                made = made.filter(found["error"].is_null())
            for start in range(0, made.num_rows, _SLICE):
                yield made.slice(start, _SLICE)

    def _headers(self, frames: ArrowArray, wanted: list[str]) -> tuple[None, dict[str, Any]]:
        judges = self.options.fails or self.options.drops or self.options.corrupt_record is not None
        read = header_batch(frames, dict.fromkeys([*wanted, "error"] if judges else wanted))
        if self.options.fails and read.column("error").null_count < read.num_rows:
            errors = read.column("error")
            place = errors.is_valid().index(True).as_py()
            self.options.refuse(_header_error(errors[place], frames[place]), place)
        return None, dict(zip(read.schema.names, read.columns, strict=True))

    def _messages(self, given: ArrowArray) -> tuple[Any, dict[str, Any]]:
        """Return the frame index of each row (None if each frame has one row), and the columns."""
        rows, bodies, starts, faults = self._bodies(given)
        message = str(self.body.message)
        errors: Any = "raise" if self.options.fails else "column"
        batch = to_arrow(message, bodies, self.body.version, self.body.fields, errors=errors)
        names = batch.schema.names
        messages = np.asarray(batch.column(0)) if names[:1] == [MESSAGE_INDEX] else None
        found = dict(zip(names, batch.columns, strict=True))
        if self.options.fails:
            found |= {field.name: pa.nulls(batch.num_rows, field.type) for field in ERROR_FIELDS}
        else:
            of_errors = [field.name for field in ERROR_FIELDS]
            read = [found[name] for name in of_errors]
            found |= dict(zip(of_errors, _in_frames(read, messages, starts, faults), strict=True))
        if messages is None or rows is None:
            return rows if messages is None else messages, found
        return rows[messages], found

    def _bodies(self, given: ArrowArray) -> tuple[Any, Any, Any, dict[int, WireError]]:
        """Return frame indexes (None for all), bytes and offsets (None for 0) of the messages to read, and the faults of headers."""
        kind = catalog()[str(self.body.message)].kind
        if not self.header or kind not in ("request", "response"):
            return None, given, None, {}
        return self._request_bodies(given) if kind == "request" else self._response_bodies(given)

    def _request_bodies(self, given: ArrowArray) -> tuple[Any, Any, Any, dict[int, WireError]]:
        heads = header_batch(given, ("api_key", "api_version", "body_offset", "error"))
        keys, versions, starts = (_numbers(heads.column(name)) for name in ("api_key", "api_version", "body_offset"))
        absent = np.asarray(given.is_null())
        wanted = absent | (starts < 0) | ((keys == self.body.api_key) & (versions == self.body.version))
        rows = None
        if not wanted.all():
            rows = np.flatnonzero(wanted)
            given, starts, absent = given.take(pa.array(rows)), starts[wanted], absent[wanted]
        faults: dict[int, WireError] = {}
        for place in np.flatnonzero((starts < 0) & ~absent).tolist():
            row = place if rows is None else int(rows[place])
            faults[place] = _header_error(heads.column("error")[row], given[place])
            self.options.refuse(faults[place], row)
        [chunk] = chunks_of(given)
        return rows, chunk._replace(starts=np.ascontiguousarray(starts, np.int32)), starts, faults

    def _response_bodies(self, given: ArrowArray) -> tuple[Any, Any, Any, dict[int, WireError]]:
        version = header_version_of(catalog()[str(self.body.message)].header_versions, self.body.version)
        decoder = compiled().decoder("ResponseHeader", version)
        [chunk] = chunks_of(given)
        starts, _ = response_starts(chunk, version)
        faults: dict[int, WireError] = {}
        for row in np.flatnonzero((starts < 0) & np.asarray(given.is_valid())).tolist():
            try:
                starts[row] = decoder.decode(given[row].as_py())[1]
            except WireError as error:
                self.options.refuse(error, row)
                faults[row] = error
        return None, chunk._replace(starts=starts), starts, faults


def _header_error(name: Any, frame: Any) -> WireError:
    return with_length_hint(frame.as_py(), wire_error(Fault[name.as_py()], 0, "", "RequestHeader"))


def _numbers(column: ArrowArray) -> Any:
    return np.asarray(column.fill_null(-1) if column.null_count else column)


def _in_frames(columns: list[Any], messages: Any, starts: Any, faults: dict[int, WireError]) -> list[Any]:
    if columns[0].null_count == len(columns[0]) and not faults:
        return columns
    found: list[tuple[Any, ...]] = []
    of_rows = range(len(columns[0])) if messages is None else messages.tolist()
    for message, name, offset, path in zip(of_rows, *(column.to_pylist() for column in columns), strict=True):
        fault = faults.get(message)
        if fault is not None:
            found.append((fault.fault.name, fault.offset, fault.path))
        else:
            found.append((name, offset if offset is None or starts is None else offset + int(starts[message]), path))
    types: list[Any] = [pa.string(), pa.int64(), pa.string()]
    return [pa.array([row[place] for row in found], kind) for place, kind in enumerate(types)]
