"""Frames in a binary column to rows: what `map_frames` does to the batches of a DataFrame, many at once and without an object for a frame.

Without a message a request frame becomes the columns of its header. With one, request frames of that message and version become its columns
as `kwire.to_arrow` gives them, one row for each element of the arrays that the fields lead into, and frames of others are left out;
response frames and bodies are all taken to be of it. A null stays a row of nulls, as for Spark's `explode_outer`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.codec.arrow_types import ArrowArray
from kwire.codec.binary_chunks import messages_in
from kwire.codec.classes import compiled
from kwire.codec.column_layout import ERROR_FIELDS, MESSAGE_INDEX
from kwire.codec.columns import arrow_schema, to_arrow
from kwire.codec.header_scan import scan_headers
from kwire.errors import Fault, WireError, wire_error
from kwire.schema import catalog
from kwire.schema.header_versions import header_version_of
from kwire.spark.body_types import BodyType
from kwire.spark.reading_options import ReadingOptions

__all__ = ["FrameRows"]

_LENGTH: Final = 4
_MOST: Final = (1 << 31) - 1
_SLICE: Final = 65_536  # rows of a batch that goes back to Spark
_HEADER: Final[tuple[Any, ...]] = (
    pa.field("api_key", pa.int16()), pa.field("api_version", pa.int16()), pa.field("correlation_id", pa.int32()),
    pa.field("client_id", pa.string()), pa.field("error", pa.string()),
)  # fmt: skip


def _stream(frames: ArrowArray) -> Any:
    """Frames with their lengths, one behind the other; nulls are left out."""
    frames = frames.cast(pa.large_binary()).drop_null()
    lengths = np.asarray(pc.binary_length(frames)).astype(">i4").tobytes()
    ends: Any = np.arange(len(frames) + 1, dtype=np.int64) * _LENGTH
    prefixes: Any = pa.Array.from_buffers(pa.large_binary(), len(frames), [None, pa.py_buffer(ends), pa.py_buffer(lengths)])
    joined: Any = pc.binary_join_element_wise(prefixes, frames, pa.scalar(b"", pa.large_binary()))
    return joined.buffers()[2] or b""


class FrameRows:
    """Maps batches of a DataFrame.

    Arguments:
        column: the binary column of frames or bodies.
        kept: columns that go along.
        body: the message, or none for headers.
        options: what a frame that breaks a rule does.
        header: the column holds frames; else bodies.
    """

    def __init__(self, column: str, kept: tuple[str, ...], body: BodyType, options: ReadingOptions, header: bool = True) -> None:
        self.column = column
        self.kept = kept
        self.body = body
        self.options = options
        self.header = header

    @property
    def schema(self) -> pa.Schema:
        """The columns that come behind those kept."""
        if self.body.message is None:
            fields = list(_HEADER)
        else:
            found = arrow_schema(self.body.message, self.body.version, self.body.fields, errors="column")
            fields = [field for field in found if field.name != MESSAGE_INDEX]
        if self.options.corrupt_record is not None:
            fields.append(pa.field(self.options.corrupt_record, pa.binary()))
        return pa.schema(fields)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches, mapped.

        Raises:
            WireError: a frame breaks a rule and the mode is FAILFAST.
        """
        names = [*self.kept, *self.schema.names]
        for batch in batches:
            given = batch.column(self.column)
            rows, columns = self._headers(given) if self.body.message is None else self._messages(given)
            errors = columns[self.schema.get_field_index("error")]
            if self.options.corrupt_record is not None:
                bad = np.where(np.asarray(errors.is_valid()), rows, -1)
                columns.append(given.cast(pa.binary()).take(pa.array(bad, pa.int64(), mask=bad < 0)))
            index = pa.array(rows, pa.int32())
            made = pa.RecordBatch.from_arrays([*(batch.column(name).take(index) for name in self.kept), *columns], names=names)
            if self.options.drops:
                made = made.filter(errors.is_null())
            for start in range(0, made.num_rows, _SLICE):
                yield made.slice(start, _SLICE)

    def _headers(self, frames: ArrowArray) -> tuple[Any, list[Any]]:
        """Of each row the frame that it is of, and the columns."""
        scanned = scan_headers(_stream(frames), max_frame_bytes=_MOST).to_arrow()
        present = np.asarray(frames.is_valid())
        if self.options.fails and scanned.column("error").null_count < scanned.num_rows:
            place = scanned.column("error").is_valid().index(True).as_py()
            error = wire_error(Fault[scanned.column("error")[place].as_py()], 0, "", "RequestHeader")
            self._refuse(error, int(np.flatnonzero(present)[place]))
        columns = [scanned.column(field.name) for field in _HEADER]
        if frames.null_count:
            index = pa.array(np.cumsum(present) - 1, pa.int64(), mask=~present)
            columns = [column.take(index) for column in columns]
        return np.arange(len(frames)), columns

    def _messages(self, given: ArrowArray) -> tuple[Any, list[Any]]:
        frames = messages_in(given)
        rows, bodies, starts, faults = self._bodies(given, frames)
        message = str(self.body.message)
        errors: Any = "raise" if self.options.fails else "column"
        batch = to_arrow(message, bodies, self.body.version, self.body.fields, errors=errors)
        indexed = batch.schema.names[:1] == [MESSAGE_INDEX]
        messages = np.asarray(batch.column(0)) if indexed else np.arange(len(bodies))
        columns = batch.columns[1:] if indexed else batch.columns
        if self.options.fails:
            columns = [*columns, *(pa.nulls(batch.num_rows, field.type) for field in ERROR_FIELDS)]
        else:
            columns = [*columns[:-3], *_in_frames(columns[-3:], messages, starts, faults)]
        return np.asarray(rows, np.int64)[messages], columns

    def _bodies(self, given: ArrowArray, frames: list[Any]) -> tuple[list[int], list[Any], list[int], dict[int, WireError]]:
        """Of the messages to be read: the frame, the bytes, where these begin in the frame; and headers that cannot be read."""
        kind = catalog()[str(self.body.message)].kind
        if not self.header or kind not in ("request", "response"):
            return list(range(len(frames))), frames, [0] * len(frames), {}
        return self._request_bodies(given, frames) if kind == "request" else self._response_bodies(frames)

    def _request_bodies(self, given: ArrowArray, frames: list[Any]) -> tuple[list[int], list[Any], list[int], dict[int, WireError]]:
        scanned = scan_headers(_stream(given), max_frame_bytes=_MOST)
        wanted = (self.body.api_key, self.body.version)
        rows: list[int] = []
        bodies: list[Any] = []
        starts: list[int] = []
        faults: dict[int, WireError] = {}
        headers = zip(scanned.api_key, scanned.api_version, scanned.frame_offset, scanned.body_offset, scanned.error, strict=True)
        for row, frame in enumerate(frames):
            start, body = 0, None
            if frame is not None:
                key, version, at, body_at, code = next(headers)
                if body_at < 0:
                    faults[len(rows)] = wire_error(Fault(code), 0, "", "RequestHeader")
                    self._refuse(faults[len(rows)], row)
                elif (key, version) != wanted:
                    continue
                else:
                    start = body_at - at - _LENGTH
                    body = frame[start:]
            rows.append(row)
            bodies.append(body)
            starts.append(start)
        return rows, bodies, starts, faults

    def _response_bodies(self, frames: list[Any]) -> tuple[list[int], list[Any], list[int], dict[int, WireError]]:
        message = catalog()[str(self.body.message)]
        decoder = compiled().decoder("ResponseHeader", header_version_of(message.header_versions, self.body.version))
        bodies: list[Any] = []
        starts: list[int] = []
        faults: dict[int, WireError] = {}
        for row, frame in enumerate(frames):
            start, body = 0, None
            if frame is not None:
                try:
                    _, start = decoder.decode(frame)
                    body = frame[start:]
                except WireError as error:
                    self._refuse(error, row)
                    faults[row] = error
            bodies.append(body)
            starts.append(start)
        return list(range(len(frames))), bodies, starts, faults

    def _refuse(self, error: WireError, row: int) -> None:
        if self.options.fails:
            error.add_note(f"in row {row} of the batch; the mode is FAILFAST")
            raise error


def _in_frames(columns: list[Any], messages: Any, starts: list[int], faults: dict[int, WireError]) -> list[Any]:
    """The columns of errors with offsets in frames, and with what is wrong with headers."""
    if columns[0].null_count == len(columns[0]) and not faults:
        return columns
    told: list[tuple[Any, ...]] = []
    for message, name, offset, path in zip(messages.tolist(), *(column.to_pylist() for column in columns), strict=True):
        fault = faults.get(message)
        if fault is not None:
            told.append((fault.fault.name, fault.offset, fault.path))
        else:
            told.append((name, None if offset is None else offset + starts[message], path))
    types: list[Any] = [pa.string(), pa.int64(), pa.string()]
    return [pa.array([row[place] for row in told], kind) for place, kind in enumerate(types)]
