"""Rows of frames in a binary column: the mapping of batches for `map_frames`.

Without a message, a request frame becomes the columns of its header. With one, frames of that message and version become its columns as
`kwire.to_arrow` returns them, one row for each element of the arrays in the fields' paths, and other frames are dropped. Responses and
bodies do not hold their API key and version: columns of the batch do, or all are read as that message. A null gives a row of nulls, as in
Spark's `explode_outer`. `framed` ones begin with their lengths; offsets of errors count behind them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.codec.arrow_types import ArrowArray
from kwire.codec.column_layout import ERROR_FIELDS
from kwire.codec.decoding import with_length_hint
from kwire.codec.header_scan import HEADER_TYPES, header_batch
from kwire.errors import Fault, InputError, WireError, wire_error
from kwire.schema import catalog
from kwire.spark.body_types import BodyType
from kwire.spark.frame_structs import Row, one_array, response_heads, without_lengths
from kwire.spark.reading_options import ReadingOptions

__all__ = ["HEADER_COLUMNS", "FrameRows"]

Wrong = dict[int, Row]  # frames whose length is wrong

_SLICE: Final = 65_536  # rows of a batch that goes back to Spark
HEADER_COLUMNS: Final = ("api_key", "api_version", "correlation_id", "client_id", "error")
"""Default columns of a request header; `kwire.codec.header_scan.HEADER_TYPES` has all."""


@dataclass(eq=False, slots=True)
class FrameRows:
    """Mapping of batches with frames (bodies without `header`) to batches of rows."""

    column: str
    kept: tuple[str, ...]
    body: BodyType
    options: ReadingOptions
    header: bool = True
    columns: tuple[str, ...] | None = None
    api_key: str | None = None
    api_version: str | None = None
    framed: bool = False

    def __post_init__(self) -> None:
        self._check_columns()
        if self._holds_key and (self.api_key or self.api_version):
            raise InputError("Request frames have their own API keys and versions: remove api_key and api_version.")
        if not self._holds_key and self.body.version is None and self.api_version is None:
            raise InputError(f"{self.body.message} needs a version, or api_version, the name of the column with the version of each row.")

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
    def _holds_key(self) -> bool:
        """True for frames that begin with an API key and version."""
        return self.body.message is None or (self.header and catalog()[self.body.message].kind == "request")

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
            frames, wrong = without_lengths(given) if self.framed else (given, {})
            rows, found = self._headers(frames, wrong, wanted) if self.body.message is None else self._messages(batch, frames, wrong)
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

    def _headers(self, frames: ArrowArray, wrong: Wrong, wanted: list[str]) -> tuple[None, dict[str, Any]]:
        judges = self.options.fails or self.options.drops or self.options.corrupt_record is not None
        read = header_batch(frames, dict.fromkeys([*wanted, "error"] if judges else wanted))
        found: dict[str, Any] = dict(zip(read.schema.names, read.columns, strict=True))
        if wrong and "error" in found:
            found["error"] = pc.if_else(np.isin(np.arange(len(frames)), list(wrong)), Fault.BAD_LENGTH.name, found["error"])
        if self.options.fails and found["error"].null_count < read.num_rows:
            place = found["error"].is_valid().index(True).as_py()
            self.options.refuse(_header_error(found["error"][place], frames[place], wrong.get(place)), place)
        return None, found

    def _messages(self, batch: pa.RecordBatch, frames: ArrowArray, wrong: Wrong) -> tuple[Any, dict[str, Any]]:
        """Return the frame index of each row (None if each frame has one row), and the columns."""
        keys, versions, starts, faults, empty = self._placed(batch, frames, wrong)
        here, known = (keys == self.body.api_key) & (starts >= 0), self.body.reads(versions)
        if self.body.version is None:
            faults |= {row: self._unknown_version(int(versions[row])) for row in np.flatnonzero(here & ~known).tolist()}
        for row in sorted(faults):
            self.options.refuse(faults[row], row)
        wanted = empty | here & known
        wanted[list(faults)] = True
        rows, read = self.body.read(frames, np.where(known, starts, -1), versions, wanted, explode=True)
        *columns, names, offsets, paths = read.columns
        index = np.arange(len(frames)) if rows is None else rows
        if self.options.fails and names.null_count < len(names):
            first = names.is_valid().index(True).as_py()
            row = int(index[first])
            error = self.body.fault(int(versions[row]), *(each[first].as_py() for each in (names, offsets, paths)))
            error.index = row
            self.options.refuse(error, row)
        if self.body.version is None:
            columns.insert(0, pa.array(versions[index], pa.int16(), mask=versions[index] < 0))
        columns += _in_frames([names, offsets, paths], index, starts, faults)
        return rows, dict(zip(self._message_columns.names, columns, strict=True))

    def _placed(self, batch: pa.RecordBatch, frames: ArrowArray, wrong: Wrong) -> tuple[Any, Any, Any, dict[int, WireError], Any]:
        """Return API keys, versions and offsets of the messages (-1 for none), faults of headers, and which frames are rows of nulls."""
        absent = np.asarray(frames.is_null())
        if self._holds_key:
            heads = header_batch(frames, ("api_key", "api_version", "body_offset", "error"))
            keys, versions, starts = (_numbers(heads.column(name)) for name in ("api_key", "api_version", "body_offset"))
            errors, bad = heads.column("error"), np.flatnonzero((starts < 0) & ~absent).tolist()
            return keys, versions, starts, {row: _header_error(errors[row], frames[row], wrong.get(row)) for row in bad}, absent
        keys, no_key = _given(batch, self.api_key, self.body.api_key)
        versions, no_version = _given(batch, self.api_version, self.body.version)
        ours = no_key | (keys == self.body.api_key)
        absent |= no_key | no_version
        empty = absent & ours & (no_version | self.body.reads(versions))
        if not self.header or catalog()[str(self.body.message)].kind != "response":
            starts = np.where(absent, -1, 0)
            starts[list(wrong)] = -1
            judged = ours & ~absent & (self.body.reads(versions) | (self.body.version is None))
            return keys, versions, starts, {row: each.error for row, each in wrong.items() if judged[row] and each.error is not None}, empty
        asked = versions.copy()
        starts, _, alone = response_heads(frames, keys, versions, absent | ~ours, self.body)
        if self.api_version is None:  # all are read in the version of the type, refused or not
            versions = asked
        judged = self.body.reads(versions) | (self.body.version is None)
        alone |= {row: each for row, each in wrong.items() if row in alone}
        faults = {row: each.error for row, each in alone.items() if judged[row] and each.error is not None}
        return keys, versions, starts, faults, empty

    def _unknown_version(self, version: int) -> WireError:
        name, known = str(self.body.message), catalog()[str(self.body.message)].valid_versions
        offset, path = (2, "api_version") if self._holds_key else (0, "")
        reason = f"version {version} of {name} is not known, only {known}"
        return wire_error(Fault.UNSUPPORTED_VERSION, offset, path, name, self.body.api_key, version, reason)


def _given(batch: pa.RecordBatch, name: str | None, usual: int | None) -> tuple[Any, Any]:
    """Return the numbers of a column, -1 for nulls, and which are null; without a name, the usual one for all."""
    if name is None:
        return np.full(batch.num_rows, usual, np.int16), np.zeros(batch.num_rows, bool)
    column = batch.column(name)
    return np.array(_numbers(column.cast(pa.int16()))), np.asarray(column.is_null())


def _header_error(name: Any, frame: Any, wrong: Row | None) -> WireError:
    if wrong is not None and wrong.error is not None:
        return wrong.error
    return with_length_hint(frame.as_py(), wire_error(Fault[name.as_py()], 0, "", "RequestHeader"))


def _numbers(column: ArrowArray) -> Any:
    return np.asarray(column.fill_null(-1) if column.null_count else column)


def _in_frames(columns: list[Any], index: Any, starts: Any, faults: dict[int, WireError]) -> list[Any]:
    """Return `error`, `error_offset` and `error_path` with offsets in the frames, and the faults of headers."""
    if columns[0].null_count == len(columns[0]) and not faults:
        return columns
    found: list[tuple[Any, ...]] = []
    for row, name, offset, path in zip(index.tolist(), *(column.to_pylist() for column in columns), strict=True):
        fault = faults.get(row)
        if fault is not None:
            found.append((fault.fault.name, fault.offset, fault.path))
        else:
            found.append((name, None if offset is None else offset + int(starts[row]), path))
    return [pa.array([row[place] for row in found], column.type) for place, column in enumerate(columns)]
