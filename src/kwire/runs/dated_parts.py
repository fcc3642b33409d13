"""Writing of a task's rows to parts, also by date, `TABLE/date=2026-11-23/NAME`.

Captures may hold any number of dates, in any order. So the rows of a few row groups are buffered before the date with the most rows gets a
file; most files are written at the end, one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final

import pyarrow as pa

from kwire.runs.parts import ROW_GROUP, PartWriter
from kwire.tables import SCHEMAS
from kwire.tables.dates import NO_DATE, rows_by_date

__all__ = ["MAX_DATES", "DatedParts", "undivided"]

MAX_DATES: Final = 4000
"""Largest number of dates of a table in a task, eleven years. More dates come only from damaged times; their rows are written like rows
without a time."""

_WAITING_ROWS: Final = 4 * ROW_GROUP
_OPEN_FILES: Final = 128


@dataclass(slots=True)
class _Waiting:
    rows: list[pa.RecordBatch] = field(default_factory=list)
    count: int = 0


_Key = tuple[str, str, str]  # table, folder, name


def undivided(_table: str, batch: pa.RecordBatch) -> list[tuple[str, pa.RecordBatch]]:
    """Return all rows for the table's own folder."""
    return [("", batch)]


class DatedParts:
    """Writer of these parts, a context manager.

    `begun` is called with each new part; `divide` takes a table and a batch, and returns rows by folder, which may be empty.
    """

    def __init__(
        self,
        location: str,
        begun: Callable[[str], object],
        divide: Callable[[str, pa.RecordBatch], Iterable[tuple[str, pa.RecordBatch]]] = rows_by_date,
        schemas: Mapping[str, pa.Schema] = SCHEMAS,
    ) -> None:
        self._location, self._begun, self._divide, self._schemas = location, begun, divide, schemas
        self._waiting: dict[_Key, _Waiting] = {}
        self._open: dict[_Key, PartWriter] = {}  # the one that was written longest ago comes first
        self._parts: dict[_Key, int] = defaultdict(int)
        self._folders: dict[str, set[str]] = defaultdict(set)
        self._count = 0

    def __enter__(self) -> DatedParts:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if error is None:
                for key in sorted(self._waiting.keys() | self._open.keys()):
                    self._write(key)
                    self._close(key)
        finally:
            for part in self._open.values():  # after a fault
                part.discard()
            self._open.clear()

    def write(self, table: str, name: str, batch: pa.RecordBatch) -> None:
        """Append rows to parts of a name, given without `.parquet`."""
        for folder, rows in self._divide(table, batch):
            key = (table, self._room_for(table, folder), name)
            waiting = self._waiting.setdefault(key, _Waiting())
            waiting.rows.append(rows)
            waiting.count += rows.num_rows
            self._count += rows.num_rows
            if waiting.count >= ROW_GROUP:
                self._write(key)
        while self._count > _WAITING_ROWS:
            self._write(max(self._waiting, key=lambda key: self._waiting[key].count))

    def _room_for(self, table: str, folder: str) -> str:
        folders = self._folders[table]
        if folder in folders:
            return folder
        if len(folders) >= MAX_DATES:
            return NO_DATE
        folders.add(folder)
        return folder

    def _write(self, key: _Key) -> None:
        waiting = self._waiting.pop(key, None)
        if waiting is None:
            return
        self._count -= waiting.count
        part = self._open.pop(key, None)
        if part is None:
            if len(self._open) >= _OPEN_FILES:
                self._close(next(iter(self._open)))
            part = self._begin(key)
        self._open[key] = part
        for rows in waiting.rows:
            part.write(rows)
        part.flush()

    def _begin(self, key: _Key) -> PartWriter:
        table, folder, name = key
        again = self._parts[key]  # parts of this date that had to be closed
        self._parts[key] += 1
        file = f"{folder}/{name}-{again:03d}.parquet" if again else f"{folder}/{name}.parquet"
        file = file.removeprefix("/")
        part = PartWriter(self._location, table, file, self._schemas[table]).__enter__()
        self._begun(f"{table}/{file}")
        return part

    def _close(self, key: _Key) -> None:
        part = self._open.pop(key, None)
        if part is not None:
            part.__exit__(None, None, None)
