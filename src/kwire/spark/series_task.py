"""What one task of the job does: it reads a series, writes its rows itself and gives back the small sums.

No Spark here: the same function runs in a Python worker of any Spark and in a test.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa

from kwire.analysis.partials import Partial, empty, from_bytes, merge, partial_of_series, to_bytes
from kwire.analysis.redaction import Redaction, Redactor
from kwire.analysis.request_sums import RequestSums
from kwire.errors import InputError
from kwire.spark.output import STATE
from kwire.spark.parts import PartWriter, progress_file, write_blob
from kwire.spark.series_state import SeriesState, read_part, read_state
from kwire.tables import SCHEMAS, SeriesRows, read_series
from kwire.tables.series import begin_series, read_piece, skip_piece
from kwire.tables.series_rows import SPOOLED, Fate

__all__ = ["Earlier", "SeriesResult", "SeriesTask", "run_task"]

_WRITTEN: Final = ("requests", "connections", "violations", "telemetry")
_KINDS: Final[dict[Fate, str]] = {"settled": "part", "waiting": "open", "end": "end"}
_PROGRESS_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier run left of a series.

    Attributes:
        state: name of its state in the output folder.
        waiting: its parts, `TABLE/NAME`, with the rows of connections that were open.
    """

    state: str
    waiting: tuple[str, ...]


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
        share: which of how many shares of the connections, (0, 1) for all.
        run: number of the run that writes, from 0; names its parts.
        keep_state: leave what the next run goes on from.
        earlier: what an earlier run left of this series, None for a new one.
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
    share: tuple[int, int] = (0, 1)
    run: int = 0
    keep_state: bool = False
    earlier: Earlier | None = None


@dataclass(slots=True)
class SeriesResult:
    """What a task gives back.

    Attributes:
        number: of the task.
        share: which share of its series it read.
        partial: what `kwire.analysis` merges.
        parts: the parts that it wrote, `TABLE/NAME`.
        skipped: the files that could not be read, each with the reason.
        read: how many files were read.
        fault: why nothing could be written, empty when all went well.
        seconds: of wall clock, by phase (`kwire.spark.phase_times.PHASES`).
        cpu_seconds: of the processor, in all.
    """

    number: int
    share: int = 0
    partial: Partial = field(default_factory=empty)
    parts: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    read: int = 0
    fault: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    cpu_seconds: float = 0.0

    def to_bytes(self) -> bytes:
        """Pack it for the way through Spark: a line of JSON, then the partial."""
        facts = {
            "number": self.number,
            "share": self.share,
            "parts": self.parts,
            "skipped": self.skipped,
            "read": self.read,
            "fault": self.fault,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
        }
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


def _write(task: SeriesTask, table: str, found: Iterable[tuple[str, pa.RecordBatch]], result: SeriesResult) -> None:
    """Write rows as parts of their table, a part for each kind that they come with; no rows, no part."""
    redactor = None if task.redaction is None else Redactor(task.redaction)
    parts: dict[str, PartWriter] = {}
    with contextlib.ExitStack() as stack:
        for kind, batch in found:
            if kind not in parts:
                name = f"{kind}-{task.number:05d}-{task.run:03d}.parquet"
                parts[kind] = stack.enter_context(PartWriter(task.out, table, name, SCHEMAS[table]))
                result.parts.append(f"{table}/{name}")
            parts[kind].write(batch if redactor is None else redactor.batch(table, batch))


def run_task(task: SeriesTask) -> SeriesResult:
    """Read a series, write its rows into the staging of the output folder and sum it up.

    Never raises for what files or bytes are: a file that cannot be read is a row in `violations`.

    Args:
        task: what to read and where to write.
    """
    result = SeriesResult(task.number, task.share[0])
    began, cpu = time.perf_counter(), time.process_time()
    try:
        with contextlib.chdir(task.folder) if Path(task.folder).is_dir() else contextlib.nullcontext():
            _run(task, result)
    except InputError as error:
        result.fault = str(error)
    result.seconds["second_pass"] = time.perf_counter() - began - result.seconds.get("read", 0.0)
    result.cpu_seconds = time.process_time() - cpu
    return result


def _run(task: SeriesTask, result: SeriesResult) -> None:
    earlier = None if task.earlier is None else read_state(task.out, task.earlier.state)
    began = time.perf_counter()
    try:
        rows = read_series(
            task.locations,
            task.name,
            task.ports,
            progress=_progress_of(task),
            disorder=task.disorder,
            log_zone=task.log_zone,
            share=task.share,
            resume=None if earlier is None else (earlier.carry, _waiting(task, earlier)),
            keep_state=task.keep_state,
        )
    except InputError:
        _skip_all(task, result)
        return
    result.seconds["read"] = time.perf_counter() - began
    with rows:
        views = {"settled": rows.settled, "open": rows.open} if task.keep_state else {"settled": rows.whole}
        sums = {name: RequestSums(view) for name, view in views.items()}
        for table in _WRITTEN:
            _write(task, table, _kinds(task, rows, table, sums), result)
        if task.keep_state:
            _keep(task, rows, None if earlier is None else earlier.settled, sums, result)
        else:
            result.partial = partial_of_series(rows, sums["settled"])
        result.skipped = [(location, str(error)) for location, error in rows.skipped]
        result.read = len(task.locations) - len(rows.skipped)


def _kinds(task: SeriesTask, rows: SeriesRows, table: str, sums: Mapping[str, RequestSums]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Rows with the kind of part that they belong into; requests are summed up on the way."""
    if table == "connections":  # all there is of open connections comes out of the state again
        for kind, view in (("part", rows.settled), ("end", rows.open)) if task.keep_state else (("part", rows.whole),):
            yield from ((kind, batch) for batch in view.batches(table) if batch.num_rows)
        return
    for fate, batch in rows.by_fate(table):
        if table == "requests":
            sums["settled" if fate == "settled" or not task.keep_state else "open"].add(batch)
        yield _KINDS[fate] if task.keep_state else "part", batch


def _keep(
    task: SeriesTask, rows: SeriesRows, before: Partial | None, sums: Mapping[str, RequestSums], result: SeriesResult
) -> None:  # fmt: skip
    """Write the state that the next run goes on from."""
    settled = merge([*([] if before is None else [before]), partial_of_series(rows.settled, sums["settled"])])
    still = partial_of_series(rows.open, sums["open"])
    result.partial = merge([settled, still])
    waiting = {
        table: pa.Table.from_batches((batch for fate, batch in rows.by_fate(table) if fate == "waiting"), schema=schema)
        for table, schema in SPOOLED.items()
        if table not in _WRITTEN
    }
    name = f"state-{task.number:05d}-{task.run:03d}"
    write_blob(task.out, STATE, name, SeriesState(rows.state, settled, still, waiting).to_bytes())
    result.parts.append(f"{STATE}/{name}")


def _waiting(task: SeriesTask, earlier: SeriesState) -> dict[str, Iterable[pa.RecordBatch]]:
    """The rows of connections that were open when the earlier run ended."""
    assert task.earlier is not None
    found: dict[str, Iterable[pa.RecordBatch]] = {table: rows.to_batches() for table, rows in earlier.waiting.items()}
    for part in task.earlier.waiting:
        table, _, name = part.partition("/")
        found[table] = read_part(task.out, table, name, SCHEMAS[table])
    return found


def _skip_all(task: SeriesTask, result: SeriesResult) -> None:
    """No file of the series can be read: say so of each."""
    carry = begin_series(task.name, task.ports, share=task.share)
    batches: list[pa.RecordBatch] = []
    for location in task.locations:
        try:
            read_piece(location, carry)
        except InputError as error:
            result.skipped.append((location, str(error)))
            batches += skip_piece(location, carry, error)["violations"]
    _write(task, "violations", (("part", batch) for batch in batches), result)
