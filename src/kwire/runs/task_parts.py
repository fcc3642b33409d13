"""Parts of tables and progress reports that a task writes while it reads."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from kwire.analysis.redaction import Redactor
from kwire.errors import InputError
from kwire.runs.dated_parts import DatedParts, undivided
from kwire.runs.parts import progress_file, read_progress
from kwire.tables.dates import BEGINS, rows_by_date

if TYPE_CHECKING:
    from kwire.runs.series_task import SeriesResult, SeriesTask

__all__ = ["TaskParts", "Unwritten", "progress_of", "writing"]

_PROGRESS_SECONDS: Final = 0.2


class Unwritten(Exception):
    """Output that cannot be written, as opposed to an input that cannot be read."""


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """Raise `Unwritten` for an InputError."""
    try:
        yield
    except InputError as error:
        raise Unwritten(f"{error}") from error


def progress_of(out: str) -> Callable[[int], None]:
    """Return a function that reports the bytes read in a small file beside the parts; it does nothing on object stores.

    Tasks of a process share its file, so the driver reads one file per process, not per task. Spark's status tracker counts only tasks, of
    which a run may have two, and needs Spark.
    """
    file = progress_file(out)
    count = 0 if file is None else read_progress(file)
    told = 0.0

    def progress(more: int) -> None:
        nonlocal count, told
        count += more
        now = time.monotonic()
        if file is not None and now - told >= _PROGRESS_SECONDS:
            told = now
            with contextlib.suppress(OSError):  # the folder may be going away: then the job fails for a better reason
                file.write_text(str(count))

    return progress


class TaskParts:
    """Parts of tables that a task writes, each created with its first row; a context manager."""

    def __init__(self, task: SeriesTask, result: SeriesResult) -> None:
        self._task = task
        # Spark may run a task twice, even at the same time; only the attempt whose result comes back is published, by these names
        self._attempt = secrets.token_hex(4)
        self._redactor = None if task.redaction is None else Redactor(task.redaction)
        self._parts = DatedParts(task.out, result.parts.append, _by_date if task.by_date else undivided)

    def __enter__(self) -> TaskParts:
        return self

    def __exit__(self, *fault: Any) -> None:
        self._parts.__exit__(*fault)

    def name(self, kind: str) -> str:
        return f"{kind}-{self._task.number:05d}-{self._task.run:03d}-{self._attempt}"

    def write(self, table: str, kind: str, batch: pa.RecordBatch) -> None:
        """Append rows to a part of a kind: `part` for final rows, `open` and `end` for rows that the next run rewrites."""
        rows = batch if self._redactor is None else self._redactor.batch(table, batch)
        with writing():
            self._parts.write(table, self.name(kind), rows)


def _by_date(table: str, batch: pa.RecordBatch) -> Iterable[tuple[str, pa.RecordBatch]]:
    return rows_by_date(table, batch) if table in BEGINS else undivided(table, batch)
