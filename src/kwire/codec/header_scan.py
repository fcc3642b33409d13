"""Headers of a stream of request frames as columns: `kwire.scan_headers`.

A row is a whole frame, valid or not; an incomplete last frame is left for the next buffer, which begins at `end`. Headers of unknown apis
are read in version 1, as brokers do, with an `error`; a known api in an unknown version has its highest header (KIP-511). Header 3, so far
only in dialects (KIP-1313), adds the client instance id.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.impl import load_twin
from kwire.codec.plan import Flag, Op, Plan
from kwire.codec.uuids import Uuid
from kwire.errors import Fault
from kwire.schema.header_versions import header_version_of

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Buffer

__all__ = ["HEADER_TYPES", "MAX_FRAME_BYTES", "HeaderColumns", "HeaderScan", "header_batch", "scan_headers"]

HEADER_TYPES: Final[Mapping[str, Any]] = MappingProxyType({
    "frame_length": "int32", "header_version": "int8", "api_key": "int16", "api_version": "int16", "correlation_id": "int32",
    "client_id": "string", "body_offset": "int32", "error": "string",
})  # fmt: skip
"""Columns of `header_batch` with the names of their Arrow types."""

MAX_FRAME_BYTES: Final = 100 * 1024 * 1024  # Kafka's default of socket.request.max.bytes
_UNKNOWN_API_HEADER: Final = 1
_HEADER_VERSIONS: Final = 8  # that a backend has places for
_LENGTH: Final = 4  # bytes of a frame's length
_FIXED: Final = (("api_key", Op.INT16), ("api_version", Op.INT16), ("correlation_id", Op.INT32))
_INSTANCE: Final = "client_instance_id"


class HeaderColumns:
    """Columns with a row per frame, as memoryviews; `numpy` and `to_arrow` share their memory.

    Attributes:
        frame_offset: offset of the frame's length in the buffer (int64).
        frame_length: frame size without its length (int32).
        header_version, api_key, api_version: -1 if the frame ends before its client id, or begins with its own length (int8, int16, int16).
        correlation_id: 0 in that case (int32).
        client_id_offset, client_id_length: position in the buffer, -1 for none (int64, int32).
        body_offset: offset of the body in the buffer, -1 for an unreadable header (int64).
        error: a `Fault`, 0 for none (int8).
        end: end of the last whole frame.
        fault: fault of the length at `end` (`BAD_LENGTH`, `LIMIT_EXCEEDED`), or `NONE`.
    """

    frame_offset: memoryview
    frame_length: memoryview
    header_version: memoryview
    api_key: memoryview
    api_version: memoryview
    correlation_id: memoryview
    client_id_offset: memoryview
    client_id_length: memoryview
    body_offset: memoryview
    error: memoryview

    def __init__(
        self,
        data: Any,
        layout: tuple[tuple[str, str], ...],
        columns: list[Any],
        count: int,
        end: int,
        fault: int,
        instances: Mapping[int, Any] = MappingProxyType({}),
    ) -> None:
        self._data = data
        self._layout = layout
        self._instances = instances  # decoders of the client instance id, by header version
        self._columns = columns
        self._count = count
        self.end = end
        self.fault = Fault(fault)

    def __getattr__(self, name: str) -> memoryview:
        for (column, letter), values in zip(self._layout, self._columns, strict=True):
            if column == name:
                whole: Any = memoryview(values)[: self._count * struct.calcsize(f"={letter}")]
                view: memoryview = whole.cast(letter).toreadonly()
                self.__dict__[name] = view
                return view
        raise AttributeError(f"header columns have no {name!r}")

    def __len__(self) -> int:
        return self._count

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self._layout)

    def numpy(self, name: str) -> Any:
        """Return a column as a numpy array, without a copy."""
        import numpy as np

        return np.asarray(getattr(self, name))

    @cached_property
    def client_ids(self) -> list[str | None]:
        """Client id of each frame, invalid UTF-8 replaced as in Java. Equal client ids share an object."""
        view = memoryview(self._data).cast("B")
        seen: dict[bytes, str] = {}
        texts: list[str | None] = []
        for offset, length in zip(self.client_id_offset, self.client_id_length, strict=True):
            if length < 0:
                texts.append(None)
                continue
            content = bytes(view[offset : offset + length])
            text = seen.get(content)
            if text is None:
                text = seen[content] = content.decode("utf-8", "replace")
            texts.append(text)
        return texts

    @cached_property
    def client_instance_ids(self) -> list[Uuid | None]:
        """Client instance id of each readable header that has one (KIP-1313)."""
        view = memoryview(self._data).cast("B")
        found: list[Uuid | None] = []
        for version, frame, length, body in zip(self.header_version, self.frame_offset, self.frame_length, self.body_offset, strict=True):
            decoder = self._instances.get(version)
            if decoder is None or body < 0:
                found.append(None)
            else:
                start = frame + _LENGTH
                found.append(decoder.decode(view[start : start + length], 0, True)[0].client_instance_id)
        return found

    def to_arrow(self) -> pa.RecordBatch:
        """Return all columns with nulls for missing values, `client_id` as text, `error` as a name.

        Catalogs with header 3 add `client_instance_id`.
        """
        import pyarrow as pa

        def nullable(name: str, missing: Any) -> Any:
            return _masked(self.numpy(name), missing)

        cut = self.numpy("header_version") < 0
        body = self.numpy("body_offset")
        made = {
            "frame_offset": pa.array(self.numpy("frame_offset")),
            "frame_length": pa.array(self.numpy("frame_length")),
            **{name: nullable(name, cut) for name in ("header_version", "api_key", "api_version", "correlation_id")},
            "client_id": self._client_id_array(),
            **({"client_instance_id": self._instance_array()} if self._instances else {}),
            "body_offset": nullable("body_offset", body < 0),
            "error": _fault_names(self.numpy("error")),
        }
        return pa.RecordBatch.from_pydict(made)

    def _instance_array(self) -> Any:
        import pyarrow as pa

        return pa.array([None if each is None else str(each) for each in self.client_instance_ids], pa.string())

    def _client_id_array(self) -> Any:
        import numpy as np
        import pyarrow as pa

        data = np.frombuffer(memoryview(self._data).cast("B"), np.uint8)
        lengths = self.numpy("client_id_length").astype(np.int64)
        missing = lengths < 0
        sizes = np.where(missing, 0, lengths)
        ends = np.cumsum(sizes)
        total = int(ends[-1]) if len(ends) else 0
        places = np.repeat(self.numpy("client_id_offset") - (ends - sizes), sizes) + np.arange(total)
        offsets: Any = np.concatenate([np.zeros(1, np.int64), ends])
        content: Any = data[places]
        validity: Any = np.packbits(~missing, bitorder="little")
        buffers: Any = [pa.py_buffer(validity), pa.py_buffer(offsets), pa.py_buffer(content)]
        plain = pa.Array.from_buffers(pa.large_binary(), len(self), buffers)
        try:
            return plain.cast(pa.string())
        except pa.ArrowInvalid:  # some id is not UTF-8
            return pa.array(self.client_ids, pa.string())


def _masked(values: Any, missing: Any) -> Any:
    """Return numpy values as an Arrow array, null if missing."""
    import pyarrow as pa

    return pa.array(values, mask=missing if missing.any() else None)


def _fault_names(codes: Any) -> Any:
    """Return the names of faults as an Arrow array, null for none."""
    import numpy as np
    import pyarrow as pa

    if not codes.any():
        return pa.nulls(len(codes), pa.string())
    numbers = np.zeros(max(Fault) + 1, np.int64)
    numbers[[int(fault) for fault in Fault]] = np.arange(len(Fault))
    picks: Any = pa.array(numbers[codes], mask=codes == 0)
    return pa.array([fault.name for fault in Fault]).take(picks)


def _texts(texts: tuple[Any, Any, bool], missing: Any) -> Any:
    """Return client ids as an Arrow array; invalid UTF-8 is replaced, as in Java."""
    import numpy as np
    import pyarrow as pa

    ends, content, is_utf8 = texts
    if not is_utf8:
        places = zip(pairwise(memoryview(ends).cast("B").cast("i")), missing, strict=True)
        return pa.array([None if null else content[start:stop].decode("utf-8", "replace") for (start, stop), null in places], pa.string())
    validity: Any = np.packbits(~missing, bitorder="little") if missing.any() else None
    buffers: Any = [None if validity is None else pa.py_buffer(validity), pa.py_buffer(ends), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.string(), len(missing), buffers)


def _has_instance(plan: Plan) -> bool:
    block = plan.blocks[0]
    return _INSTANCE in (plan.attribute(0, number) for number in range(block.first, block.first + block.untagged + block.tagged))


def _check(plans: dict[int, Plan], versions: dict[int, tuple[int, ...]]) -> None:
    """Reject headers that the backends cannot read, because they rely on the position of the first fields and the type of the client id."""
    if not plans.keys() >= {_UNKNOWN_API_HEADER, *chain(*versions.values())} or max(plans) >= _HEADER_VERSIONS:
        raise ValueError("request headers have versions that the catalog lacks, or too many")
    if not all(versions.values()) or not all(0 <= key <= 0x7FFF for key in versions):
        raise ValueError("an api key is outside 0 to 32767, or has no version")
    for plan in plans.values():
        block = plan.blocks[0]
        named = [(plan.attribute(0, number), plan.operation(number)) for number in range(block.first, block.first + block.untagged)]
        if tuple((name, each.code) for name, each in named[:3]) != _FIXED:
            raise ValueError("a request header does not begin with api key, api version and correlation id")
        if named[3:] and (named[3][0] != "client_id" or named[3][1].code != Op.STRING or named[3][1].flags & Flag.COMPACT):
            raise ValueError("behind the correlation id of a request header is no client id, as a plain string")


class HeaderScan:
    """Reader of the headers of request frames of a catalog."""

    def __init__(self, source: CompiledCatalog) -> None:
        plans = {version: source.plan("RequestHeader", version) for version in source.message("RequestHeader").valid_versions}
        versions: dict[int, tuple[int, ...]] = {}
        for key in source.catalog.api_keys:
            message = source.catalog.request(key)
            if message is not None:
                ranges = message.header_versions
                highest = max(ranges[-1][0].lowest, message.valid_versions.highest)
                versions[key] = tuple(header_version_of(ranges, version) for version in range(highest + 1))
        _check(plans, versions)
        used = set(chain(*versions.values()))
        used = {version for version in used if _has_instance(plans[version])}
        self._instances = {version: source.decoder("RequestHeader", version, (_INSTANCE,)) for version in used}
        twin = load_twin("codec", "header_scan", source.twin)
        self._layout = twin.COLUMNS
        self._schemas: dict[tuple[str, ...], pa.Schema] = {}
        self._scanner = twin.HeaderScanner(plans, versions, _UNKNOWN_API_HEADER)

    def scan_headers(self, buffer: Buffer, *, max_frame_bytes: int = MAX_FRAME_BYTES) -> HeaderColumns:
        """Read the headers of all complete frames in a buffer.

        Arguments:
            buffer: request frames with their 4-byte lengths; any contiguous buffer. Do not change it while the result lives.
            max_frame_bytes: stop before a frame that claims to be longer, or has a negative length.

        Raises:
            BufferError: `buffer` is not contiguous.
        """
        columns, count, end, fault = self._scanner.scan_buffer(buffer, max_frame_bytes)
        return HeaderColumns(buffer, self._layout, columns, count, end, fault, self._instances)

    def header_batch(self, frames: pa.Array[Any] | pa.ChunkedArray[Any], columns: Iterable[str] | None = None) -> pa.RecordBatch:
        """Read the headers of request frames in an Arrow array; return a row per frame, and a row of nulls for a null.

        Arguments:
            frames: Arrow array of any binary type; frames have no 4-byte lengths.
            columns: columns of `HEADER_TYPES`, in this order; all by default. `body_offset` counts from the frame and is null for an
                unreadable header; if the frame ends before its client id, all but `frame_length` and `error` (name of a `Fault`) are null.
                The same holds for a frame that begins with its own length (`BAD_LENGTH`).

        Raises:
            KwireError: the client ids take more than 2 GiB.
            ValueError: invalid columns, or buffers that do not fit the array.
        """
        import pyarrow as pa

        from kwire.codec.binary_chunks import chunks_of

        names = tuple(HEADER_TYPES if columns is None else columns)
        schema = self._schemas.get(names)
        if schema is None:
            if not names or len(set(names)) < len(names) or not HEADER_TYPES.keys() >= set(names):
                raise ValueError(f"headers have the columns {', '.join(HEADER_TYPES)}; asked for: {', '.join(names) or 'none'}")
            schema = pa.schema([(name, pa.type_for_alias(HEADER_TYPES[name])) for name in names])
            self._schemas[names] = schema
        found = [self._batch(chunk, names, schema) for chunk in chunks_of(frames)]
        if len(found) == 1:
            return found[0]
        whole = pa.Table.from_batches(found, schema).combine_chunks().to_batches()
        return whole[0] if whole else pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)

    def _batch(self, chunk: Any, names: tuple[str, ...], schema: pa.Schema) -> pa.RecordBatch:
        import numpy as np
        import pyarrow as pa

        columns, texts = self._scanner.scan_column(chunk, "client_id" in names)
        values = {name: np.frombuffer(column, letter) for (name, letter), column in zip(self._layout, columns, strict=True)}
        cut = values["header_version"] < 0

        def column(name: str) -> Any:
            if name == "client_id":
                return _texts(texts, values["client_id_length"] < 0)
            if name == "error":
                return _fault_names(values["error"])
            found = values[name]
            if name == "body_offset":
                return _masked(found.astype(np.int32), found < 0)
            return _masked(found, found < 0 if name == "frame_length" else cut)

        return pa.RecordBatch.from_arrays([column(name) for name in names], schema=schema)


_SCAN: Final = HeaderScan(compiled())

scan_headers: Final = _SCAN.scan_headers
header_batch: Final = _SCAN.header_batch
