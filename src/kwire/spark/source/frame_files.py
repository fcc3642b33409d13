"""Frames in Parquet and Arrow files, which a task opens itself, so rows are decoded before Spark gets them.

Large files are divided: a task reads the Parquet row groups whose middle is in its byte range, as Spark's own reader does, or its share of
an Arrow file's record batches. The driver opens only one file, to get the types of the kept columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from kwire.errors import InputError
from kwire.files.file_systems import filesystem_of, reason_of
from kwire.spark.source.frame_options import FrameFiles
from kwire.tables.schemas import TIME

__all__ = ["FilePart", "batches_of_parts", "kept_fields"]

_BATCH_BYTES: Final = 8 << 20  # of the frames; more does not make a task faster
_BATCH_ROWS: Final = 65_536

_SCALARS: Final = {
    pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(), pa.large_string(): pa.string(), pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(), pa.binary_view(): pa.binary(),
}  # fmt: skip
_PLAIN: Final = frozenset((
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float64(), pa.string(), pa.binary(), TIME,
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class FilePart:
    """Share `(k, n)` of a file, the k-th of n."""

    location: str
    size: int
    share: tuple[int, int]


def _kept_type(kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        return _kept_type(kind.value_type)
    if pa.types.is_timestamp(kind):
        return TIME
    found = _SCALARS.get(kind, kind)
    return found if found in _PLAIN else None


def kept_fields(files: FrameFiles, location: str) -> list[Any]:
    """Return the kept columns of a file, with the types that Spark gets."""
    with closing(_opened(files, location)) as file:
        schema = file.schema
    for name in (files.column, *files.keep):
        if name not in schema.names:
            raise InputError(f"{location} has no column {name!r}; it has {', '.join(schema.names)}.")
    kind: Any = schema.field(files.column).type
    if not any(
        check(kind) for check in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    ):
        raise InputError(f"The column {files.column!r} of {location} holds {kind}, but frames must be binary.")
    found = []
    for name in files.keep:
        wanted = _kept_type(schema.field(name).type)
        if wanted is None:
            raise InputError(f"The column {name!r} of {location} is {schema.field(name).type}, which keep does not support.")
        found.append(pa.field(name, wanted))
    return found


class _ParquetFile:
    def __init__(self, source: Any, remote: bool) -> None:
        self._file = pq.ParquetFile(source, pre_buffer=remote)  # a store is asked for a row group at once
        self.schema = self._file.schema_arrow

    def close(self) -> None:
        self._file.close()

    def batches(self, names: list[str], size: int, share: tuple[int, int]) -> Iterator[pa.RecordBatch]:
        metadata = self._file.metadata
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            columns = [group.column(index) for index in range(group.num_columns)]
            start = min(each.dictionary_page_offset or each.data_page_offset for each in columns)
            middle = start + sum(each.total_compressed_size for each in columns) // 2
            if min(middle * share[1] // max(size, 1), share[1] - 1) != share[0] or not group.num_rows:
                continue
            row_bytes = max(1, sum(each.total_uncompressed_size for each in columns if each.path_in_schema in names) // group.num_rows)
            rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // row_bytes))
            yield from self._file.iter_batches(batch_size=rows, row_groups=[number], columns=names, use_threads=False)


class _ArrowFile:
    def __init__(self, source: Any) -> None:
        self._source = source
        self._file = pa.ipc.open_file(source)
        self.schema = self._file.schema

    def close(self) -> None:
        self._source.close()

    def batches(self, names: list[str], size: int, share: tuple[int, int]) -> Iterator[pa.RecordBatch]:
        count = self._file.num_record_batches
        for number in range(count):
            if number * share[1] // count == share[0]:
                batch = self._file.get_batch(number).select(names)
                rows = max(1, min(_BATCH_ROWS, batch.num_rows * _BATCH_BYTES // max(batch.nbytes, 1)))
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows)


def _opened(files: FrameFiles, location: str) -> _ParquetFile | _ArrowFile:
    try:
        filesystem, path = filesystem_of(location)
        remote = filesystem.type_name != "local"
        source: Any = filesystem.open_input_file(path) if remote else pa.memory_map(path)
        return _ParquetFile(source, remote) if files.format == "parquet" else _ArrowFile(source)
    except pa.ArrowInvalid as error:
        raise InputError(f"{location} cannot be read as {files.format}: {reason_of(error)}") from error
    except OSError as error:
        raise InputError(f"{location} cannot be read: {reason_of(error)}") from error


def batches_of_parts(parts: Sequence[FilePart], files: FrameFiles, kept: Sequence[Any], skip_corrupt: bool) -> Iterator[pa.RecordBatch]:
    """Read the frames of one task, with the kept columns; `skip_corrupt` skips the rest of a damaged file."""
    names = [*(field.name for field in kept), *((files.column,) if files.column not in files.keep else ())]
    for part in parts:
        try:
            with closing(_opened(files, part.location)) as file:
                if missing := [name for name in names if name not in file.schema.names]:
                    raise InputError(f"{part.location} has no column {missing[0]!r}; but other files of the query have one.")
                for batch in file.batches(names, part.size, part.share):
                    columns = [_cast(batch.column(field.name), field, part) for field in kept]
                    if files.column not in files.keep:
                        columns.append(batch.column(files.column))
                    yield pa.RecordBatch.from_arrays(columns, names=names)
        except (InputError, pa.ArrowException, OSError) as error:
            if skip_corrupt:
                continue
            if isinstance(error, InputError):
                raise
            raise InputError(f"{part.location} cannot be read: {reason_of(error)}") from error


def _cast(column: Any, field: Any, part: FilePart) -> Any:
    try:
        return column if column.type == field.type else column.cast(field.type)
    except pa.ArrowException as error:
        raise InputError(f"{part.location} has {column.type} in the column {field.name!r}, where others have {field.type}.") from error
