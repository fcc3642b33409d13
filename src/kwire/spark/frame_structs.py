"""Request and response frames in a binary column to structs: header fields, body, and what is wrong. One Arrow array in, one out.

Nothing here needs Spark: `kwire.spark.functions` puts it into column functions. A frame that breaks a rule keeps what could be read of its
header; its body is null. A typed body is null too where the frame is of another message or version, which is no error.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import pyarrow as pa

from kwire.codec.binary_chunks import messages_in
from kwire.codec.classes import compiled
from kwire.codec.decoding import API_VERSIONS, FrameReader
from kwire.errors import WireError
from kwire.schema import catalog
from kwire.spark.body_types import JSON_BODY, BodyType, json_text
from kwire.spark.reading_options import ReadingOptions

__all__ = ["RequestStruct", "ResponseStruct"]

_ERROR: Final[tuple[Any, ...]] = (pa.field("error", pa.string()), pa.field("error_offset", pa.int64()), pa.field("error_path", pa.string()))


@cache
def _reader() -> FrameReader:
    return FrameReader(compiled())


def _fits(decoder: Any, frame: Any, start: int) -> bool:
    """Whether a body is one of the version that was asked for."""
    if isinstance(decoder, WireError):
        return False
    try:
        decoder.decode_whole(frame, start)
    except WireError:
        return False
    return True


class _Rows:
    """The columns of the structs of one batch, row by row."""

    def __init__(self, names: tuple[str, ...], body: BodyType, options: ReadingOptions) -> None:
        self.names = names
        self.body = body
        self.options = options
        self.headers: list[tuple[Any, ...] | None] = []
        self.bodies: list[Any] = []  # texts, or the bytes of messages that are to be typed
        self.starts: list[int] = []  # of the body in the frame
        self.errors: list[WireError | None] = []

    def add(self, header: tuple[Any, ...] | None, body: Any = None, start: int = 0, error: WireError | None = None) -> None:
        """A row; without a header and without an error it is null."""
        if error is not None and self.options.fails:
            error.add_note(f"in row {len(self.headers)} of the batch; the mode is FAILFAST")
            raise error
        self.headers.append(header)
        self.bodies.append(body)
        self.starts.append(start)
        self.errors.append(error)

    def struct(self, kind: Any, frames: list[Any]) -> Any:
        absent = [
            frame is None or (header is None and error is None)
            for frame, header, error in zip(frames, self.headers, self.errors, strict=True)
        ]
        empty = (None,) * len(self.names)
        columns: list[list[Any]] = [list(column) for column in zip(*(header or empty for header in self.headers), strict=True)]
        faults: list[tuple[Any, Any, Any]] = [
            (None, None, None) if error is None else (error.fault.name, error.offset, error.path) for error in self.errors
        ]
        bodies: Any
        if self.body.message is None:
            bodies = pa.array(self.bodies, pa.string())
        else:
            bodies, found = self.body.read(self.bodies)
            if found.column(0).null_count < len(faults):
                self._take_faults(found, faults)
        arrays: list[Any] = [pa.array(column, kind.field(index).type) for index, column in enumerate(columns or [[] for _ in self.names])]
        arrays.append(bodies)
        arrays += [pa.array([fault[place] for fault in faults], kind.field(field.name).type) for place, field in enumerate(_ERROR)]
        if self.options.corrupt_record is not None:
            raw = [None if fault[0] is None else bytes(frame) for frame, fault in zip(frames, faults, strict=True)]
            arrays.append(pa.array(raw, pa.binary()))
        fields = [kind.field(index) for index in range(kind.num_fields)]
        return pa.StructArray.from_arrays(arrays, fields=fields, mask=pa.array(absent, pa.bool_()))

    def _take_faults(self, found: pa.RecordBatch, faults: list[tuple[Any, Any, Any]]) -> None:
        """Note what is wrong with typed bodies, with the offset in the frame."""
        for row, (name, offset, path) in enumerate(zip(*(column.to_pylist() for column in found.columns), strict=True)):
            if name is not None:
                if self.options.fails:
                    self._raise(row)
                faults[row] = (name, None if offset is None else offset + self.starts[row], path)

    def _raise(self, row: int) -> None:
        """Raise what is wrong with a typed body, as its decoder says it."""
        decoder = compiled().decoder(str(self.body.message), self.body.version)
        try:
            decoder.decode_whole(self.bodies[row])
        except WireError as error:
            error.add_note(f"in the body of row {row} of the batch; the mode is FAILFAST")
            raise


class _FrameStruct:
    """What both kinds of frames share: the type of the result.

    Attributes:
        takes: how many arrays it is called with.
        header: names and types of the fields before `body`.
    """

    takes = 1
    header: tuple[tuple[str, Any], ...] = ()

    def __init__(self, body: BodyType = JSON_BODY, options: ReadingOptions | None = None) -> None:
        self.body = body
        self.options = options or ReadingOptions()

    @property
    def type(self) -> Any:
        """The Arrow type of the structs."""
        corrupt = [] if self.options.corrupt_record is None else [(self.options.corrupt_record, pa.binary())]
        return pa.struct([*self.header, ("body", self.body.arrow), *_ERROR, *corrupt])

    def _rows(self) -> _Rows:
        return _Rows(tuple(name for name, _ in self.header), self.body, self.options)


class RequestStruct(_FrameStruct):
    """Request frames to structs of `api_key`, `api_version`, `message`, `correlation_id`, `client_id`, `body` and what is wrong.

    Arguments:
        body: what the bodies become.
        options: what a frame that breaks a rule does.
    """

    header = (
        ("api_key", pa.int16()), ("api_version", pa.int16()), ("message", pa.string()), ("correlation_id", pa.int32()),
        ("client_id", pa.string()),
    )  # fmt: skip

    def __call__(self, frames: Any) -> Any:
        """The structs of an array of any binary type; a null gives a null.

        Raises:
            WireError: a frame breaks a rule and the mode is FAILFAST.
        """
        reader, rows, found = _reader(), self._rows(), messages_in(frames)
        typed, wanted = self.body.message is not None, (self.body.api_key, self.body.version)
        for frame in found:
            if frame is None:
                rows.add(None)
                continue
            try:
                header, start = reader.read_request_header(frame, strict=False)
            except WireError as error:
                rows.add(None, None, 0, error)
                continue
            key, version = header.api_key, header.api_version
            message = catalog().request(key)
            told = (key, version, None if message is None else message.name, header.correlation_id, header.client_id)
            if typed:
                rows.add(told, frame[start:] if (key, version) == wanted else None, start)
                continue
            decoder = reader.request_decoder(key, version, None)
            if isinstance(decoder, WireError):
                rows.add(told, None, start, decoder)
                continue
            try:
                rows.add(told, json_text(decoder.decode_whole(frame, start), version), start)
            except WireError as error:
                rows.add(told, None, start, error)
        return rows.struct(self.type, found)


class ResponseStruct(_FrameStruct):
    """Response frames to structs of `api_key`, `api_version`, `message`, `correlation_id`, `body` and what is wrong.

    `api_version` is the one that the body is in: 0 where a broker refused the version of an ApiVersions request (KIP-511).

    Arguments:
        body: what the bodies become.
        options: what a frame that breaks a rule does.
    """

    takes = 3
    header = (("api_key", pa.int16()), ("api_version", pa.int16()), ("message", pa.string()), ("correlation_id", pa.int32()))

    def __call__(self, frames: Any, api_keys: Any, api_versions: Any) -> Any:
        """The structs of arrays of frames and of the api keys and versions of their requests; a null among them gives a null.

        Raises:
            WireError: a frame breaks a rule and the mode is FAILFAST.
        """
        rows, found = self._rows(), messages_in(frames)
        for frame, key, version in zip(found, api_keys.to_pylist(), api_versions.to_pylist(), strict=True):
            if frame is None or key is None or version is None:
                rows.add(None)
            else:
                self._add(rows, frame, key, version)
        return rows.struct(self.type, found)

    def _add(self, rows: _Rows, frame: Any, key: int, version: int) -> None:
        reader = _reader()
        message = catalog().response(key)
        name = None if message is None else message.name
        header_decoder, decoder = reader.response_decoders(key, version, None)
        try:
            header, start = header_decoder.decode(frame)
        except WireError as error:
            rows.add((key, version, name, None), None, 0, error)
            return
        told = (key, version, name, header.correlation_id)
        typed = self.body.message is not None
        if key == API_VERSIONS and version != 0 and reader.is_refusal(frame, start) and not _fits(decoder, frame, start):
            told, version = (key, 0, name, header.correlation_id), 0
            decoder = compiled().decoder("ApiVersionsResponse", 0)
        if typed:
            rows.add(told, frame[start:] if (key, version) == (self.body.api_key, self.body.version) else None, start)
        elif isinstance(decoder, WireError):
            rows.add(told, None, start, decoder)
        else:
            try:
                rows.add(told, json_text(decoder.decode_whole(frame, start), version), start)
            except WireError as error:
                rows.add(told, None, start, error)
