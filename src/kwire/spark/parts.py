"""Parts of tables on their way into an output folder, seen from a task: written aside in the staging, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from kwire.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.fs import FileSystem

__all__ = ["STAGING", "PartWriter", "filesystem_of", "progress_file", "reason_of", "write_blob"]

STAGING: Final = "_staging"
# Numbers that mostly grow from row to row, as times do: differences take half the room and half the time of a dictionary of them.
_RISING: Final = frozenset(("packet_number", "stream_offset"))
# Rows of a row group: enough for columns to compress well, and a reader can still take a part of a big file.
_ROW_GROUP: Final = 131_072


def reason_of(error: BaseException) -> str:
    """Say what went wrong with a file, in a few words."""
    # Arrow's own text names the operation that failed, which a user has not asked for; what the system says is enough
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def filesystem_of(location: str) -> tuple[FileSystem, str]:
    """Split a path or URI into a file system and a path in it; paths of this machine become absolute, because tasks have other folders.

    Raises:
        InputError: the URI's scheme is not known.
    """
    from pyarrow import ArrowInvalid, fs

    if "://" not in location:
        return fs.LocalFileSystem(), str(Path(location).absolute())
    try:
        filesystem, path = fs.FileSystem.from_uri(location)
    except (ArrowInvalid, OSError, ValueError) as error:
        raise InputError(f"{location} cannot be used as an output folder: {reason_of(error)}.") from error
    return filesystem, path.rstrip("/")


def progress_file(location: str, number: int) -> Path | None:
    """Where a task of this machine says how many bytes it has read; None for an output folder on an object store."""
    return None if "://" in location else Path(location, STAGING, f"read-{number:05d}")


def _encodings(schema: pa.Schema) -> dict[str, Any]:
    """Which columns are written as differences, and which with a dictionary, as Arrow's writer wants to be told."""
    import pyarrow as pa

    if any(pa.types.is_nested(field.type) for field in schema):
        return {}  # their columns have names of their own in a file, and no such table is large
    rising = [field.name for field in schema if field.name in _RISING or pa.types.is_timestamp(field.type)]
    return {
        "use_dictionary": [name for name in schema.names if name not in rising],
        "column_encoding": dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
    }


class PartWriter:
    """Writes one part of a table into the staging of an output folder, a context manager.

    It overwrites the same part of an earlier attempt, and nothing is seen of it before it is whole.

    Args:
        location: the output folder, path or URI.
        table: the table's name.
        name: the part's file name.
        schema: of its rows.
    """

    def __init__(self, location: str, table: str, name: str, schema: pa.Schema) -> None:
        self._location = location
        self._filesystem, path = filesystem_of(location)
        folder = f"{path}/{STAGING}/{table}"
        # Spark and its like do not look at names that begin with a dot
        self._aside = f"{folder}/.{name}-{os.getpid()}"
        self._path = f"{folder}/{name}"
        self._folder = folder
        self._schema = schema
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._writer: Any = None

    def __enter__(self) -> PartWriter:
        import pyarrow.parquet as pq

        with self._told():
            self._filesystem.create_dir(self._folder, recursive=True)
            more = _encodings(self._schema)
            self._writer = pq.ParquetWriter(self._aside, self._schema, filesystem=self._filesystem, compression="zstd", **more)
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows.

        Raises:
            InputError: the folder cannot be written, the disk is full.
        """
        self._waiting.append(batch)
        self._rows += batch.num_rows
        if self._rows >= _ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._waiting:
            with self._told():
                self._writer.write_table(pa.Table.from_batches(self._waiting, schema=self._schema), row_group_size=_ROW_GROUP)
            self._waiting, self._rows = [], 0

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None:
            with suppress(OSError):
                self._writer.close()
                self._filesystem.delete_file(self._aside)
            return
        self._flush()
        with self._told():
            self._writer.close()
            self._filesystem.move(self._aside, self._path)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(f"{self._location} cannot be written: {reason_of(error)}.") from error


def write_blob(location: str, folder: str, name: str, data: bytes) -> None:
    """Write a part that is no table into the staging of an output folder; nothing is seen of it before it is whole.

    Args:
        location: the output folder, path or URI.
        folder, name: where it will stand in it.
        data: what it holds.

    Raises:
        InputError: the folder cannot be written, the disk is full.
    """
    filesystem, path = filesystem_of(location)
    place = f"{path}/{STAGING}/{folder}"
    aside = f"{place}/.{name}-{os.getpid()}"
    try:
        filesystem.create_dir(place, recursive=True)
        with filesystem.open_output_stream(aside, compression=None) as file:
            file.write(data)
        filesystem.move(aside, f"{place}/{name}")
    except OSError as error:
        raise InputError(f"{location} cannot be written: {reason_of(error)}.") from error
