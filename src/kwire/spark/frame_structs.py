"""Conversion of request and response frames in a binary column to structs of header fields, body and faults.

An invalid frame keeps the readable part of its header, and its body is null. A typed body is also null for a frame of another message or
version, which is not a fault. Rows are read as columns; invalid and unusual ones are then read one by one to get the texts of their faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.codec.binary_chunks import BinaryChunk, chunks_of, numbers_at
from kwire.codec.classes import compiled
from kwire.codec.decoding import API_VERSIONS, UNSUPPORTED_VERSION, FrameReader
from kwire.codec.header_scan import header_batch
from kwire.codec.json_columns import JsonColumns
from kwire.codec.json_text import json_text
from kwire.errors import BadLength, Fault, WireError, wire_error
from kwire.schema import catalog
from kwire.schema.header_versions import header_version_of
from kwire.spark.body_types import JSON_BODY, NO_BODY, BodyType
from kwire.spark.reading_options import ReadingOptions

__all__ = ["RequestStruct", "ResponseStruct", "Row", "one_array", "response_heads", "scattered", "without_lengths"]

_ERROR: Final[tuple[Any, ...]] = (pa.field("error", pa.string()), pa.field("error_offset", pa.int64()), pa.field("error_path", pa.string()))
_ABSENT: Final = -1  # start of a body that is not read
_LENGTH_BYTES: Final = 4
_MOST_BYTES: Final = 0x7FFFFFFF
_ID_BYTES: Final = 4  # of a correlation id; version 1 of response headers has tagged fields behind it
_LAST: Final = 1023  # above all api keys and versions


@cache
def _reader() -> FrameReader:
    return FrameReader(compiled())


@cache
def _json(kind: Any) -> JsonColumns:
    return JsonColumns(compiled(), kind)


@cache
def _names(kind: str) -> Any:
    found = catalog()
    of_key = found.request if kind == "request" else found.response
    messages = [of_key(key) for key in range(max(found.api_keys) + 1)]
    return pa.array([None if each is None else each.name for each in messages], pa.string())


def _named(kind: str, keys: Any) -> Any:
    names = _names(kind)
    return names.take(pa.array(keys, mask=(keys < 0) | (keys >= len(names))))


@cache
def _header_versions() -> Any:
    """Header versions of responses by api key and version; -1 for unknown ones."""
    found = np.full((_LAST + 1, _LAST + 1), -1, np.int8)
    for key in catalog().api_keys:
        if (message := catalog().response(key)) is not None:
            for version in message.valid_versions:
                found[key, version] = header_version_of(message.header_versions, version)
    return found


def _fits(decoder: Any, frame: Any, start: int) -> bool:
    if isinstance(decoder, WireError):
        return False
    try:
        decoder.decode_whole(frame, start)
    except WireError:
        return False
    return True


def _response_starts(chunk: BinaryChunk, header_versions: Any) -> tuple[Any, Any]:
    """Return the offset of each body, and the correlation ids; -1 where the header is cut, has tags, or its version is not 0 or 1."""
    ids, whole = numbers_at(chunk, 0, ">i4")
    tags, tagged = numbers_at(chunk, _ID_BYTES, "u1")
    plain = whole & ((header_versions == 0) | (tagged & (tags == 0) & (header_versions == 1)))
    return np.where(plain, _ID_BYTES + header_versions, -1).astype(np.int32), ids.astype(np.int32)


class Row(NamedTuple):
    header: tuple[Any, ...] | None
    body: str | None = None
    error: WireError | None = None


def _row_of(header: tuple[Any, ...], decoder: Any, frame: Any, start: int) -> Row:
    try:
        return Row(header, json_text(decoder.decode_whole(frame, start), header[1]))
    except WireError as error:
        return Row(header, None, error)


def scattered(count: int, values: Mapping[int, Any], kind: Any) -> Any:
    """Return an array with values at some rows, null elsewhere."""
    if not values:
        return pa.nulls(count, kind)
    places = np.full(count, -1, np.int64)
    places[list(values)] = np.arange(len(values))
    return pa.array(list(values.values()), kind).take(pa.array(places, mask=places < 0))


def _replaced(column: Any, values: Mapping[int, Any]) -> Any:
    if not values:
        return column
    mask = np.zeros(len(column), bool)
    mask[list(values)] = True
    ordered = [values[row] for row in sorted(values)]
    return pc.replace_with_mask(column, pa.array(mask), pa.array(ordered, column.type))


def without_lengths(frames: Any) -> tuple[Any, dict[int, Row]]:
    """Return frames without the lengths that they begin with, and the rows of those whose length is wrong, which are then empty."""
    [chunk] = chunks_of(frames)
    lengths, held = numbers_at(chunk, 0, ">i4")
    right = held & (lengths == np.asarray(pc.binary_length(frames).fill_null(0)) - _LENGTH_BYTES) | np.asarray(frames.is_null())
    reason = "the 4-byte length in front of the frame does not match its size"
    wrong = [(row, wire_error(Fault.BAD_LENGTH, 0, "", reason=reason)) for row in np.flatnonzero(~right).tolist()]
    found = pc.binary_slice(frames, _LENGTH_BYTES, _MOST_BYTES)  # with a stop: Arrow 26 fails without one
    return pc.if_else(pa.array(right), found, b"") if wrong else found, {row: Row(None, None, error) for row, error in wrong}


def response_heads(frames: Any, keys: Any, versions: Any, absent: Any, body: BodyType) -> tuple[Any, Any, dict[int, Row]]:
    """Read headers of response frames; set the version of refused ApiVersions requests to 0.

    Returns:
        Offset of each body, negative if it is not read; correlation ids; and invalid rows, such as those of unknown versions.
    """
    [chunk] = chunks_of(frames)
    starts, ids = _response_starts(chunk, _header_versions()[keys.clip(-1, _LAST), versions.clip(-1, _LAST)])
    codes, _ = numbers_at(chunk, _ID_BYTES, ">i2")
    starts[(keys == API_VERSIONS) & (versions != 0) & (codes == UNSUPPORTED_VERSION) | absent] = _ABSENT
    alone: dict[int, Row] = {}
    for row in np.flatnonzero((starts < 0) & ~absent).tolist():  # tags in the header, faults, and refused versions
        header, starts[row], error = _response_header(frames[row].as_py(), int(keys[row]), int(versions[row]), body)
        if error is None:
            versions[row], ids[row] = header[1], header[3]
        else:
            alone[row] = Row(header, None, error)
    return starts, ids, alone


def _response_header(frame: Any, key: int, version: int, body: BodyType) -> tuple[tuple[Any, ...], int, WireError | None]:
    """Return the fields before the body, its offset, and the fault."""
    reader = _reader()
    message = catalog().response(key)
    name = None if message is None else message.name
    header_decoder, decoder = reader.response_decoders(key, version, None)
    try:
        header, start = header_decoder.decode(frame)
    except WireError as error:
        return (key, version, name, None), _ABSENT, error
    if key == API_VERSIONS and version != 0 and reader.is_refusal(frame, start) and not _fits(decoder, frame, start):
        return (key, 0, name, header.correlation_id), start, None
    read = (key, version, name, header.correlation_id)
    if isinstance(decoder, WireError) and (body.message is None or (body.version is None and key == body.api_key)):
        return read, _ABSENT, decoder
    return read, start, None


class _FrameStruct:
    """Type and construction of the structs of both kinds of frames."""

    takes = 1
    header: tuple[tuple[str, Any], ...] = ()

    def __init__(self, body: BodyType = JSON_BODY, options: ReadingOptions | None = None, framed: bool = False) -> None:
        self.body = body
        self.options = options or ReadingOptions()
        self.framed = framed

    @property
    def type(self) -> Any:
        corrupt = [] if self.options.corrupt_record is None else [(self.options.corrupt_record, pa.binary())]
        body = [] if self.body == NO_BODY else [("body", self.body.arrow)]
        return pa.struct([*self.header, *body, *_ERROR, *corrupt])

    def _struct(self, frames: Any, header: list[Any], bodies: Any, alone: Mapping[int, Row], absent: Any, faults: Mapping[int, Any]) -> Any:
        """Build the structs; values in `alone` replace those of the columns, and `faults` of typed bodies are name, offset in the frame and
        path."""
        kind = self.type
        fields = [kind.field(index) for index in range(kind.num_fields)]
        empty = (None,) * len(header)
        headers = {row: each.header or empty for row, each in alone.items()}
        arrays = [_replaced(column, {row: each[place] for row, each in headers.items()}) for place, column in enumerate(header)]
        if bodies is not None:
            arrays.append(_replaced(bodies, {row: each.body for row, each in alone.items()}) if self.body.message is None else bodies)
        found = dict(faults)
        found |= {row: (e.fault.name, e.offset, e.path) for row, each in alone.items() if (e := each.error) is not None}
        for place, field in enumerate(_ERROR):
            arrays.append(scattered(len(frames), {row: fault[place] for row, fault in found.items()}, field.type))
        if self.options.corrupt_record is not None:
            arrays.append(scattered(len(frames), {row: frames[row].as_py() for row in found}, pa.binary()))
        mask = pa.array(absent) if absent.any() else None
        return pa.StructArray.from_arrays(arrays, fields=fields, mask=mask)

    def _typed(self, frames: Any, keys: Any, versions: Any, starts: Any) -> tuple[Any, dict[int, Any]]:
        """Return the typed bodies that begin at `starts` of their frames, and their faults by row."""
        starts = np.where((keys == self.body.api_key) & self.body.reads(versions), starts, _ABSENT)
        _, batch = self.body.read(frames, starts, versions)
        *columns, names, offsets, paths = batch.columns
        faults: dict[int, Any] = {}
        for row in np.flatnonzero(np.asarray(names.is_valid())).tolist():
            name, offset, path = (each[row].as_py() for each in (names, offsets, paths))
            if self.options.fails:
                self.options.refuse(self.body.fault(int(versions[row]), name, offset, path), row)
            faults[row] = (name, offset + int(starts[row]), path)
        good = pc.invert(pc.or_(pa.array(starts < 0), names.is_valid()))
        if not columns:  # from_arrays takes the length from them
            return pa.Array.from_buffers(pa.struct([]), len(good), [good.buffers()[1]]), faults
        return pa.StructArray.from_arrays(columns, fields=list(self.body.schema), mask=pc.invert(good)), faults


class RequestStruct(_FrameStruct):
    """Mapping of request frames to structs of `api_key`, `api_version`, `message`, `correlation_id`, `client_id`, `body` and faults."""

    header = (
        ("api_key", pa.int16()), ("api_version", pa.int16()), ("message", pa.string()), ("correlation_id", pa.int32()),
        ("client_id", pa.string()),
    )  # fmt: skip

    def __call__(self, frames: Any) -> Any:
        """Return the structs of an array of any binary type; nulls stay null."""
        given = one_array(frames)
        frames, wrong = without_lengths(given) if self.framed else (given, {})
        [chunk] = chunks_of(frames)
        heads = header_batch(frames, ("header_version", "api_key", "api_version", "correlation_id", "client_id", "body_offset"))
        keys, versions, starts = (_numbers(heads.column(name), kind) for name, kind in _PLACING)
        absent = np.asarray(frames.is_null())
        left = np.flatnonzero((starts < 0) & ~absent).tolist()
        faults: dict[int, Any] = {}
        bodies = None
        if self.body == JSON_BODY:
            bodies, unwritten = _json("request").texts(chunk._replace(starts=starts), keys, versions)
            left = sorted((*left, *unwritten))
        elif self.body.message is not None:
            if self.body.version is None:
                unknown = (starts >= 0) & (keys == self.body.api_key) & ~self.body.reads(versions)
                left = sorted((*left, *np.flatnonzero(unknown).tolist()))
            bodies, faults = self._typed(frames, keys, versions, starts)
        alone: dict[int, Row] = {}
        for row in left:
            alone[row] = wrong.get(row) or self._row(frames[row].as_py())
            self.options.refuse(alone[row].error, row)
        client_ids = heads.column("client_id")
        if (unnamed := _numbers(heads.column("header_version"), np.int8) == 0).any():  # a header without the field, as an object has it
            client_ids = pc.if_else(pa.array(unnamed), "", client_ids)
        header = [heads.column("api_key"), heads.column("api_version"), _named("request", keys), heads.column("correlation_id"), client_ids]
        return self._struct(given, header, bodies, alone, absent, faults)

    def _row(self, frame: Any) -> Row:
        reader = _reader()
        try:
            header, start = reader.read_request_header(frame, strict=False)
        except WireError as error:
            return Row(None, None, error)
        key, version = header.api_key, header.api_version
        message = catalog().request(key)
        read = (key, version, None if message is None else message.name, header.correlation_id, header.client_id)
        decoder = reader.request_decoder(key, version, None, frame)
        if isinstance(decoder, WireError):
            return Row(None if isinstance(decoder, BadLength) else read, None, decoder)
        return Row(read) if self.body == NO_BODY else _row_of(read, decoder, frame, start)


_PLACING: Final = (("api_key", np.int16), ("api_version", np.int16), ("body_offset", np.int32))


def _numbers(column: Any, kind: Any) -> Any:
    return np.ascontiguousarray(column.fill_null(-1) if column.null_count else column, kind)


def one_array(values: Any) -> Any:
    """Return one array of a column in chunks, and of views, from which Arrow takes no rows."""
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return whole.cast(pa.large_binary()) if whole.type == pa.binary_view() else whole


class ResponseStruct(_FrameStruct):
    """Mapping of response frames to structs of `api_key`, `api_version`, `message`, `correlation_id`, `body` and faults.

    `api_version` is the version of the body: 0 if a broker refused the version of an ApiVersions request (KIP-511).
    """

    takes = 3
    header = (("api_key", pa.int16()), ("api_version", pa.int16()), ("message", pa.string()), ("correlation_id", pa.int32()))

    def __call__(self, frames: Any, api_keys: Any, api_versions: Any) -> Any:
        """Return the structs of frames, given the api keys and versions of their requests; a null in any of them gives a null."""
        given = one_array(frames)
        frames, wrong = without_lengths(given) if self.framed else (given, {})
        [chunk] = chunks_of(frames)
        absent = np.logical_or.reduce([np.asarray(each.is_null()) for each in (frames, api_keys, api_versions)])
        keys, versions = (np.array(pc.if_else(absent, -1, each).cast(pa.int16())) for each in (api_keys, api_versions))
        starts, ids, alone = response_heads(frames, keys, versions, absent, self.body)
        alone |= {row: each for row, each in wrong.items() if not absent[row]}
        for row, each in alone.items():
            self.options.refuse(each.error, row)
        names = _named("response", keys)
        columns = [pa.array(keys, mask=absent), pa.array(versions, mask=absent), names, pa.array(ids, pa.int32(), mask=absent)]
        faults: dict[int, Any] = {}
        bodies = None
        if self.body == JSON_BODY:
            bodies, left = _json("response").texts(chunk._replace(starts=starts), keys, versions)
            for row in left:
                header = tuple(column[row].as_py() for column in columns)
                _, decoder = _reader().response_decoders(header[0], header[1], None)
                alone[row] = _row_of(header, decoder, frames[row].as_py(), int(starts[row]))
                self.options.refuse(alone[row].error, row)
        elif self.body.message is not None:
            bodies, faults = self._typed(frames, keys, versions, starts)
        return self._struct(given, columns, bodies, alone, absent, faults)
