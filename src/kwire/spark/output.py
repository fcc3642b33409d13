"""The folder of an analysis: written aside, published as a whole, marked complete last.

    DIR/_staging/run.json           who writes
    DIR/_staging/TABLE/part-*       while the job runs
    DIR/TABLE/part-*                moved there by the driver when every part is written
    DIR/_manifest.json              what was read and what was written
    DIR/_SUCCESS                    last of all

A run that failed or was killed leaves no `_SUCCESS`, and its staging is removed by itself or by the next run. Names of parts are made from
the place of the input in the job, so that a task that Spark runs twice writes the same file twice.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from kwire.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.fs import FileSystem

__all__ = ["MANIFEST", "PAGE", "STAGING", "SUCCESS", "OutputFolder", "PartWriter", "filesystem_of", "progress_file"]

STAGING: Final = "_staging"
SUCCESS: Final = "_SUCCESS"
MANIFEST: Final = "_manifest.json"
PAGE: Final = "report.html"
_RUN: Final = "run.json"
# Rows of a row group: enough for columns to compress well, and a reader can still take a part of a big file.
_ROW_GROUP: Final = 262_144


def _reason(error: BaseException) -> str:
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
        raise InputError(f"{location} cannot be used as an output folder: {_reason(error)}.") from error
    return filesystem, path.rstrip("/")


def progress_file(location: str, number: int) -> Path | None:
    """Where a task of this machine says how many bytes it has read; None for an output folder on an object store."""
    return None if "://" in location else Path(location, STAGING, f"read-{number:05d}")


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
            self._writer = pq.ParquetWriter(self._aside, self._schema, filesystem=self._filesystem, compression="zstd")
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
            raise InputError(f"{self._location} cannot be written: {_reason(error)}.") from error


class OutputFolder:
    """The output folder of one run, seen from the driver.

    Args:
        location: path or URI.
        tables: names of all tables that an analysis may write; nothing else is ever removed.
    """

    def __init__(self, location: str, tables: Sequence[str]) -> None:
        self.location = location if "://" in location else str(Path(location).absolute())
        self.tables = tuple(tables)
        self._filesystem, self._path = filesystem_of(location)
        self._shown = location
        self._made = False

    def _kind(self, name: str = "") -> str:
        """`folder`, `file` or empty."""
        from pyarrow.fs import FileType

        info = self._filesystem.get_file_info(f"{self._path}/{name}" if name else self._path)
        return {FileType.Directory: "folder", FileType.NotFound: ""}.get(info.type, "file")

    def _remove(self, *names: str) -> None:
        for name in names:
            kind = self._kind(name)
            if kind == "folder":
                self._filesystem.delete_dir(f"{self._path}/{name}")
            elif kind:
                self._filesystem.delete_file(f"{self._path}/{name}")

    def _write(self, name: str, text: str) -> None:
        with self._filesystem.open_output_stream(f"{self._path}/{name}", compression=None) as file:
            file.write(text.encode())

    def begin(self, *, overwrite: bool = False) -> None:
        """Make the folder ready for staging.

        A folder that holds only what a killed run left is taken as if it were not there.

        Args:
            overwrite: an earlier analysis there may be replaced; it stays until `publish`.

        Raises:
            InputError: the folder exists and may not be replaced, is in use by another run, or cannot be written.
        """
        try:
            kind = self._kind()
            if kind == "file":
                raise InputError(f"{self._shown} is a file, not a folder; choose another --out.")
            if kind:
                self._check(overwrite)
            self._made = not kind
            self._remove(STAGING)
            self._filesystem.create_dir(f"{self._path}/{STAGING}", recursive=True)
            self._write(f"{STAGING}/{_RUN}", json.dumps({"host": socket.gethostname(), "pid": os.getpid()}))
        except OSError as error:
            raise InputError(f"{self._shown} cannot be written: {_reason(error)}.") from error

    def _check(self, overwrite: bool) -> None:
        if self._in_use():
            raise InputError(f"Another run is writing to {self._shown}; wait for it, or choose another --out.")
        if self._kind(SUCCESS):
            if not overwrite:
                raise InputError(f"{self._shown} exists already; give --overwrite to replace the analysis in it, or choose another --out.")
        elif not self._kind(STAGING):
            if not overwrite:
                raise InputError(f"{self._shown} exists already; choose a folder that does not exist yet.")
            from pyarrow.fs import FileSelector

            held = {info.base_name for info in self._filesystem.get_file_info(FileSelector(self._path))}
            if held - {*self.tables, MANIFEST, PAGE}:
                raise InputError(f"{self._shown} holds something else than an analysis, so it is not overwritten; choose another --out.")

    def _in_use(self) -> bool:
        """Is the run that staged here still alive? Only a run on this machine can be told; another's staging counts as left over."""
        if not self._kind(f"{STAGING}/{_RUN}"):
            return False
        with self._filesystem.open_input_stream(f"{self._path}/{STAGING}/{_RUN}") as file:
            try:
                run = json.loads(file.read())
                host, pid = run["host"], int(run["pid"])
            except (ValueError, KeyError, TypeError):
                return False  # killed while it wrote this
        if host != socket.gethostname() or pid == os.getpid() or os.name == "nt":
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def publish(self, manifest: Mapping[str, Any], expected: Sequence[str]) -> None:
        """Replace what was there by what is staged. The folder is not complete yet: `complete` says so.

        Args:
            manifest: what was read and by what; the parts are added.
            expected: the parts that were written, `TABLE/NAME`.

        Raises:
            InputError: the folder cannot be written, or parts that executors wrote are not in it.
        """
        missing = [part for part in expected if self._kind(f"{STAGING}/{part}") != "file"]
        if missing:
            raise InputError(
                f"{len(missing)} parts that executors wrote are not in {self._shown}; give an --out that all machines share, such as a URI."
            )
        from pyarrow.fs import FileSelector, FileType

        try:
            self._remove(SUCCESS)  # first: from here on the folder is neither the old analysis nor the new one
            self._remove(*self.tables, MANIFEST, PAGE)
            parts: dict[str, list[str]] = {}
            for table in self.tables:
                if not self._kind(f"{STAGING}/{table}"):
                    continue
                self._filesystem.create_dir(f"{self._path}/{table}", recursive=True)
                parts[table] = []
                # file by file: object stores do not move folders
                for info in self._filesystem.get_file_info(FileSelector(f"{self._path}/{STAGING}/{table}")):
                    if info.type is FileType.File and not info.base_name.startswith("."):  # with a dot: what a killed task left
                        self._filesystem.move(info.path, f"{self._path}/{table}/{info.base_name}")
                        parts[table].append(info.base_name)
                parts[table].sort()
            written = {**manifest, "written": datetime.now(UTC).isoformat(timespec="seconds"), "parts": parts}
            self._write(MANIFEST, json.dumps(written, indent=1))
        except OSError as error:
            raise InputError(f"{self._shown} cannot be written: {_reason(error)}.") from error

    def remove_page(self) -> None:
        """Remove a page that may be half written. Never raises: it follows another fault."""
        with suppress(OSError):
            self._remove(PAGE)

    def complete(self) -> None:
        """Mark the analysis as complete.

        Raises:
            InputError: the folder cannot be written.
        """
        try:
            self._write(SUCCESS, "")
            self._remove(STAGING)
        except OSError as error:
            raise InputError(f"{self._shown} cannot be written: {_reason(error)}.") from error

    @contextmanager
    def writing(self, *, overwrite: bool = False) -> Iterator[None]:
        """`begin`, and `abandon` when what is inside fails or is interrupted."""
        self.begin(overwrite=overwrite)
        done = False
        try:
            yield
            done = True
        finally:
            if not done:
                self.abandon()

    def abandon(self) -> None:
        """Remove what this run staged; an earlier analysis that was not replaced yet stays. Never raises: it follows another fault."""
        with suppress(OSError):
            self._remove(STAGING)
            if self._made and not self._kind(SUCCESS):
                self._remove(*self.tables, MANIFEST, PAGE)
                self._filesystem.delete_dir(self._path)
