"""Writing and reading of parts of tables in an output folder, for tasks.

On file systems with rename, a part is written in the staging folder and renamed when complete. On object stores, a part is written to its
final place under a unique name, and is valid once the manifest lists it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from kwire.errors import InputError
from kwire.files.file_systems import filesystem_of, has_rename, reason_of
from kwire.files.private_files import make_private, write_private

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow.fs import FileSystem

__all__ = [
    "ROWS", "ROW_GROUP", "RUN", "STAGING", "STATE", "Part", "PartWriter", "bytes_read", "check_running", "copy_part", "home_of",
    "is_row_name", "make_folder", "opened_part", "output_place", "part_batches", "progress_file", "read_progress", "write_blob",
    "writing_to", "written_place",
]  # fmt: skip

STAGING: Final = "_staging"
RUN: Final = f"{STAGING}/run.json"
"""File that names the writing run, while it is active."""
STATE: Final = "_state"
"""Folder with the state for appending to the analysis; table readers ignore names with this prefix."""
ROWS: Final = "rows"
"""Only table of a conversion; its parts are in the output folder itself, as those of a DataFrame that Spark writes."""
_PROGRESS: Final = "read-"
# Rows: smaller batches are put together first, since Parquet begins every column of each of them.
_SMALL_BATCH: Final = 1_000
# A file makes its folders there, which are not more than the beginnings of names.
_WITHOUT_FOLDERS: Final = frozenset(("s3", "gcs", "abfs"))
# Numbers that mostly grow from row to row, as times do: differences take half the room and half the time of a dictionary of them.
_RISING: Final = frozenset(("packet_number", "stream_offset"))
ROW_GROUP: Final = 131_072
"""Rows per row group: large enough for good compression, small enough to read parts of a big file."""

Part = tuple[str, bool]
"""Part `TABLE/NAME`, and whether this run wrote it; parts of an earlier run are published."""


def output_place(location: str) -> tuple[FileSystem, str]:
    """Split the location of an output folder into a file system and a path; local paths become absolute, because tasks run in other
    folders."""
    filesystem, path = filesystem_of(location if "://" in location else str(Path(location).absolute()))
    return filesystem, path.rstrip("/")


def written_place(location: str, part: str) -> tuple[FileSystem, str]:
    """Return file system and path of a part, `TABLE/NAME`, that this run wrote."""
    filesystem, path = output_place(location)
    return filesystem, f"{path}/{STAGING}/{part}" if has_rename(filesystem) else home_of(path, part)


def home_of(path: str, part: str) -> str:
    """Return the final path of a part or of a table, below the output folder's `path`."""
    return f"{path}/{part}" if part.partition("/")[0] != ROWS else f"{path}{part.removeprefix(ROWS)}"


@contextmanager
def opened_part(location: str, part: str, is_fresh: bool) -> Iterator[pq.ParquetFile]:
    """Open a part of a table for reading, from the staging folder if it `is_fresh`, else as published."""
    import pyarrow.parquet as pq

    filesystem, path = written_place(location, part) if is_fresh else output_place(location)
    try:
        with filesystem.open_input_file(path if is_fresh else f"{path}/{part}") as file:
            try:
                found = pq.ParquetFile(file)
            except ValueError as error:  # of Arrow
                raise InputError(f"{part} in {location} is damaged; analyze its captures again.") from error
            yield found
    except OSError as error:
        raise InputError(f"{part} in {location} cannot be read: {reason_of(error)}.") from error


def part_batches(file: pq.ParquetFile, table: str, columns: Iterable[str]) -> Iterator[pa.RecordBatch]:
    """Yield some columns of a part, in the types of their table."""
    import pyarrow as pa

    from kwire.tables import SCHEMAS

    schema = pa.schema([SCHEMAS[table].field(name) for name in columns])
    batches: Iterator[pa.RecordBatch] = file.iter_batches(columns=schema.names)
    for rows in batches:
        yield pa.RecordBatch.from_arrays([rows.column(name).cast(schema.field(name).type) for name in schema.names], schema=schema)


def is_row_name(name: str) -> bool:
    """Return whether a name in a conversion's output folder is that of a part, or of a folder of one value."""
    return name.startswith("part-") or "=" in name


def make_folder(filesystem: FileSystem, folder: str) -> None:
    if filesystem.type_name not in _WITHOUT_FOLDERS:
        filesystem.create_dir(folder, recursive=True)


def check_running(location: str) -> None:
    from pyarrow.fs import FileType

    filesystem, path = output_place(location)
    if filesystem.get_file_info(f"{path}/{RUN}").type == FileType.NotFound:
        raise _not_there(location)


def _not_there(location: str) -> InputError:
    return InputError(f"{location} does not exist on {socket.gethostname()}; use an --out that all machines share, such as a URI.")


def progress_file(location: str) -> Path | None:
    """Return the file in which this process reports the number of bytes read; None on an object store."""
    return None if "://" in location else Path(location, STAGING, f"{_PROGRESS}{socket.gethostname()}-{os.getpid()}")


def bytes_read(location: str) -> int:
    return 0 if "://" in location else sum(map(read_progress, Path(location, STAGING).glob(f"{_PROGRESS}*")))


def read_progress(file: Path) -> int:
    """Return the number of bytes that a process has read; 0 if the file is missing or incomplete."""
    try:
        return int(file.read_text() or 0)
    except (OSError, ValueError):
        return 0


def _encodings(schema: pa.Schema) -> dict[str, Any]:
    import pyarrow as pa

    if any(pa.types.is_nested(field.type) for field in schema):
        return {}  # their columns have names of their own in a file, and no such table is large
    rising = [field.name for field in schema if field.name in _RISING or pa.types.is_timestamp(field.type)]
    return {
        "use_dictionary": [name for name in schema.names if name not in rising],
        "column_encoding": dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
    }


@contextmanager
def writing_to(location: str) -> Iterator[None]:
    """Convert errors of a file system into one that names the output folder."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{location} cannot be written: {reason_of(error)}.") from error


class _Landing:
    """Temporary and final place of a part's file.

    The staging folder exists only during the run, so an attempt that outlives its run leaves no files.
    """

    def __init__(self, location: str, folder: str, name: str, *, private: bool = False) -> None:
        self._location = location
        date, _, self._name = name.rpartition("/")
        self.filesystem, self._out = output_place(location)
        self._renames = has_rename(self.filesystem)
        self._is_private = private
        self._table = f"{self._out}/{STAGING}/{folder}" if self._renames else home_of(self._out, folder)
        self._folder = f"{self._table}/{date}" if date else self._table
        # Spark and its like do not look at names that begin with a dot
        self.path = f"{self._folder}/.{self._name}-{os.getpid()}" if self._renames else f"{self._folder}/{self._name}"

    def prepare(self) -> None:
        if not self._renames:
            check_running(self._location)
            make_folder(self.filesystem, self._folder)
            return
        try:
            if self._is_private:
                make_private(self.filesystem, self._folder, recursive=False)
            else:
                for folder in dict.fromkeys((self._table, self._folder)):
                    self.filesystem.create_dir(folder, recursive=False)
        except FileNotFoundError as error:
            raise _not_there(self._location) from error

    def land(self) -> None:
        if self._renames:
            self.filesystem.move(self.path, f"{self._folder}/{self._name}")
            return
        try:
            check_running(self._location)
        except InputError:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove the file. Never raises, because it runs after another error."""
        with suppress(OSError):
            self.filesystem.delete_file(self.path)


class PartWriter:
    """Writer of one part of a table, a context manager; the part is valid once it is complete and the folder is published."""

    def __init__(self, location: str, table: str, name: str, schema: pa.Schema) -> None:
        self._location = location
        self._landing = _Landing(location, table, name)
        self._schema = schema
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._writer: Any = None

    def __enter__(self) -> PartWriter:
        import pyarrow.parquet as pq

        with writing_to(self._location):
            self._landing.prepare()
            more, filesystem = _encodings(self._schema), self._landing.filesystem
            self._writer = pq.ParquetWriter(self._landing.path, self._schema, filesystem=filesystem, compression="zstd", **more)
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        self._rows += batch.num_rows
        if self._rows >= ROW_GROUP:
            self.flush()

    def flush(self) -> None:
        """Write the buffered rows; errors as in `write`."""
        import pyarrow as pa

        if self._waiting:
            rows = pa.Table.from_batches(self._waiting, schema=self._schema)
            if self._rows < _SMALL_BATCH * len(self._waiting):
                rows = rows.combine_chunks()
            with writing_to(self._location):
                self._writer.write_table(rows, row_group_size=ROW_GROUP)
            self._waiting, self._rows = [], 0

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None:
            self.discard()
            return
        self.flush()
        with writing_to(self._location):
            self._writer.close()
            self._landing.land()

    def discard(self) -> None:
        """Remove the file. Never raises, because it runs after another error."""
        with suppress(OSError):
            self._writer.close()
        self._landing.remove()


def copy_part(source: str, part: str, location: str, table: str, name: str) -> None:
    """Copy a part of another analysis into the staging of an output folder."""
    landing = _Landing(location, table, name)
    filesystem, path = output_place(source)
    try:
        landing.prepare()
        with filesystem.open_input_file(f"{path}/{part}") as given, landing.filesystem.open_output_stream(landing.path) as file:
            file.write(given.read())
        landing.land()
    except OSError as error:
        raise InputError(f"{source}/{part} cannot be copied to {location}: {reason_of(error)}.") from error


def write_blob(location: str, folder: str, name: str, *pieces: bytes) -> None:
    """Write a file of the state into the staging of an output folder, readable only by its owner: it may hold derived TLS keys."""
    landing = _Landing(location, folder, name, private=True)
    with writing_to(location):
        landing.prepare()
        write_private(landing.filesystem, landing.path, *pieces)
        landing.land()
