"""What one task of the job does: it reads a series, writes its rows itself and gives back the small sums.

No Spark here: the same function runs in a Python worker of any Spark and in a test.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa

from kwire.analysis.partials import Partial, empty, from_bytes, partial_of_series, to_bytes
from kwire.analysis.redaction import Redaction, Redactor
from kwire.errors import InputError
from kwire.spark.output import PartWriter, progress_file
from kwire.tables import SCHEMAS, read_series
from kwire.tables.series import begin_series, read_piece, skip_piece

__all__ = ["SeriesResult", "SeriesTask", "run_task"]

_WRITTEN: Final = ("requests", "connections", "violations", "telemetry")
_PROGRESS_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class SeriesTask:
    """A series to read.

    Attributes:
        number: its place in the job; names its parts.
        name: of the capture point.
        locations: its files in order, paths or URIs.
        disorder: what is odd about that order, a sentence or empty.
        ports: where brokers listen; empty to find them out.
        out: the output folder, path or URI.
        folder: the driver's working folder, which relative locations start from.
        log_zone: time zone of request logs, None for UTC.
        redaction: what to hash in the rows that are written, None for nothing.
    """

    number: int
    name: str
    locations: tuple[str, ...]
    disorder: str
    ports: tuple[int, ...]
    out: str
    folder: str
    log_zone: str | None = None
    redaction: Redaction | None = None


@dataclass(slots=True)
class SeriesResult:
    """What a task gives back.

    Attributes:
        number: of the task.
        partial: what `kwire.analysis` merges.
        parts: the parts that it wrote, `TABLE/NAME`.
        skipped: the files that could not be read, each with the reason.
        read: how many files were read.
        fault: why nothing could be written, empty when all went well.
    """

    number: int
    partial: Partial = field(default_factory=empty)
    parts: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    read: int = 0
    fault: str = ""

    def to_bytes(self) -> bytes:
        """Pack it for the way through Spark: a line of JSON, then the partial."""
        facts = {"number": self.number, "parts": self.parts, "skipped": self.skipped, "read": self.read, "fault": self.fault}
        return json.dumps(facts).encode() + b"\n" + to_bytes(self.partial)

    @classmethod
    def from_bytes(cls, data: bytes) -> SeriesResult:
        """Unpack what `to_bytes` packed."""
        line, _, partial = data.partition(b"\n")
        facts = json.loads(line)
        facts["skipped"] = [(location, reason) for location, reason in facts["skipped"]]
        return cls(partial=from_bytes(partial), **facts)


def _progress_of(task: SeriesTask) -> Callable[[int], None]:
    """Tell the driver how far the task is, by a small file beside its parts; object stores hear nothing."""
    file = progress_file(task.out, task.number)
    count, told = 0, 0.0

    def progress(more: int) -> None:
        nonlocal count, told
        count += more
        now = time.monotonic()
        if file is not None and now - told >= _PROGRESS_SECONDS:
            told = now
            with contextlib.suppress(OSError):  # the folder may be going away: then the job fails for a better reason
                file.write_text(str(count))

    return progress


def _write(task: SeriesTask, table: str, batches: Iterable[pa.RecordBatch], result: SeriesResult) -> None:
    name = f"part-{task.number:05d}.parquet"
    redactor = None if task.redaction is None else Redactor(task.redaction)
    with PartWriter(task.out, table, name, SCHEMAS[table]) as part:
        for batch in batches:
            part.write(batch if redactor is None else redactor.batch(table, batch))
    result.parts.append(f"{table}/{name}")


def run_task(task: SeriesTask) -> SeriesResult:
    """Read a series, write its rows into the staging of the output folder and sum it up.

    Never raises for what files or bytes are: a file that cannot be read is a row in `violations`.

    Args:
        task: what to read and where to write.
    """
    result = SeriesResult(task.number)
    try:
        with contextlib.chdir(task.folder) if Path(task.folder).is_dir() else contextlib.nullcontext():
            _run(task, result)
    except InputError as error:
        result.fault = str(error)
    return result


def _run(task: SeriesTask, result: SeriesResult) -> None:
    try:
        rows = read_series(
            task.locations, task.name, task.ports, progress=_progress_of(task), disorder=task.disorder, log_zone=task.log_zone
        )
    except InputError:
        _skip_all(task, result)
        return
    with rows:
        for table in _WRITTEN:
            _write(task, table, rows.batches(table), result)
        result.partial = partial_of_series(rows)
        result.skipped = [(location, str(error)) for location, error in rows.skipped]
        result.read = len(task.locations) - len(rows.skipped)


def _skip_all(task: SeriesTask, result: SeriesResult) -> None:
    """No file of the series can be read: say so of each."""
    carry = begin_series(task.name, task.ports)
    batches: list[pa.RecordBatch] = []
    for location in task.locations:
        try:
            read_piece(location, carry)
        except InputError as error:
            result.skipped.append((location, str(error)))
            batches += skip_piece(location, carry, error)["violations"]
    _write(task, "violations", batches, result)
