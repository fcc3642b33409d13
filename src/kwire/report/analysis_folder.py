"""Reads the tables of one analysis, only the columns and rows that a picture needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow import fs

from kwire.errors import InputError
from kwire.tables.schemas import SCHEMAS

__all__ = ["AnalysisFolder", "tally"]


def tally(column: pa.Array[Any]) -> dict[str, int]:
    """How often each text stands in a column; null counts as ``unknown``."""
    counted = pc.value_counts(column)
    found: dict[str, int] = {}
    for name, number in zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True):
        found["unknown" if name is None else str(name)] = number or 0
    return found


class AnalysisFolder:
    """The output folder of an analysis: DIR/TABLE/*.parquet, on any file system that Arrow knows.

    A table that is not there reads as empty, a column that is not there as null: an older analysis stays readable.
    """

    def __init__(self, location: str | Path) -> None:
        """Open the folder.

        Raises:
            InputError: there is no such folder, or no table of an analysis in it.
        """
        text = str(location)
        try:
            self.filesystem, self.path = fs.FileSystem.from_uri(text) if "://" in text else (fs.LocalFileSystem(), text)
            kinds = {
                info.base_name for info in self.filesystem.get_file_info(fs.FileSelector(self.path)) if info.type is fs.FileType.Directory
            }
        except (OSError, pa.ArrowInvalid, NotADirectoryError) as error:
            raise InputError(f"{text} cannot be read as the folder of an analysis: {error}.") from error
        self._tables: dict[str, ds.Dataset] = {}
        if not kinds & SCHEMAS.keys():
            raise InputError(f"{text} holds no tables of an analysis; `kwire analyze CAPTURE --out {text}` writes them.")

    def _dataset(self, table: str) -> ds.Dataset | None:
        if table not in self._tables:
            folder = f"{self.path}/{table}"
            if self.filesystem.get_file_info(folder).type is not fs.FileType.Directory:
                return None
            self._tables[table] = ds.dataset(folder, schema=SCHEMAS[table], format="parquet", filesystem=self.filesystem)
        return self._tables[table]

    def read(self, table: str, columns: Sequence[str], where: pc.Expression | None = None) -> pa.Table:
        """Load columns of a small table."""
        dataset = self._dataset(table)
        if dataset is None:
            return pa.schema([SCHEMAS[table].field(name) for name in columns]).empty_table()
        try:
            return dataset.to_table(columns=list(columns), filter=where)
        except (OSError, pa.ArrowInvalid) as error:
            raise InputError(f"The table {table} in {self.path} cannot be read: {error}.") from error

    def scan(self, table: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Walk through a table that may be larger than memory."""
        dataset = self._dataset(table)
        if dataset is None:
            return
        try:
            yield from dataset.to_batches(columns=list(columns))
        except (OSError, pa.ArrowInvalid) as error:
            raise InputError(f"The table {table} in {self.path} cannot be read: {error}.") from error

    def rows(self, table: str, columns: Sequence[str], where: pc.Expression | None = None) -> list[dict[str, Any]]:
        """Load columns of a small table as one dict a row."""
        return self.read(table, columns, where).to_pylist()

    def time_range(self) -> tuple[datetime, datetime] | None:
        """First and last packet of all captures."""
        times = self.read("captures", ["start", "end"])
        first, last = pc.min(times["start"]).as_py(), pc.max(times["end"]).as_py()
        return None if first is None or last is None else (first, last)

    def write(self, name: str, content: bytes) -> str:
        """Write a file beside the tables, whole or not at all, and return where it is.

        Raises:
            InputError: the folder cannot be written.
        """
        target, draft = f"{self.path}/{name}", f"{self.path}/.{name}.part"
        try:
            with self.filesystem.open_output_stream(draft) as stream:
                stream.write(content)
            self.filesystem.move(draft, target)
        except OSError as error:
            with suppress(OSError):
                self.filesystem.delete_file(draft)
            raise InputError(f"{target} cannot be written: {error}.") from error
        return target
