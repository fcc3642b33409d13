"""What one task of the job does: it reads a series, writes its rows itself and gives back the small sums.

No Spark here: the same function runs in a Python worker of any Spark and in a test.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Final

import pyarrow as pa

from kwire.analysis.key_buckets import whole_of
from kwire.analysis.partials import Partial, from_bytes, held, merge, partial_of_series, to_bytes
from kwire.analysis.redaction import Redaction, Redactor
from kwire.analysis.request_sums import RequestSums
from kwire.capture.dividing.packet_routing import RoutedPiece
from kwire.capture.files.capture_points import names_in
from kwire.capture.files.sized_file import SizedFile
from kwire.capture.tls.session_keys import TlsOptions, tls_options
from kwire.errors import InputError
from kwire.files.file_systems import StoreOptions, store_options
from kwire.json_encoding import encode_json
from kwire.spark.dated_parts import DatedParts
from kwire.spark.parts import STATE, PartWriter, progress_file, read_progress
from kwire.spark.series_state import SeriesState, has_states, read_part, read_state, resumed, write_state
from kwire.spark.settled_sums import SettledSums
from kwire.spark.sums_files import SumsFile, write_sums
from kwire.tables import SCHEMAS, SeriesRows, SeriesView, read_series
from kwire.tables.dates import BEGINS
from kwire.tables.series import begin_series, read_piece, skip_piece
from kwire.tables.series_rows import SPOOLED, Fate

__all__ = [
    "KINDS", "WRITTEN", "Earlier", "Piece", "SeriesResult", "SeriesTask", "TaskParts", "Unwritten", "in_folder", "progress_of",
    "rarely_collecting", "run_task", "skip_all",
]  # fmt: skip

WRITTEN: Final = ("requests", "connections", "violations", "telemetry")
"""The tables whose rows a task writes."""

KINDS: Final[dict[Fate, str]] = {"settled": "part", "waiting": "open", "end": "end"}
"""The kind of part that rows go into."""

_PROGRESS_SECONDS: Final = 0.2
_OBJECTS_TO_COLLECT: Final = 50_000

Piece = str | SizedFile | RoutedPiece


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier run left of a series.

    Attributes:
        state: name of its state in the output folder.
        waiting: its parts, `TABLE/NAME`, with the rows of connections that were open.
        with_sums: the sums of connections that are over go on with this task; False in all tasks but one of a pack that was divided.
    """

    state: str
    waiting: tuple[str, ...]
    with_sums: bool = True


@dataclass(frozen=True, slots=True)
class SeriesTask:
    """A series to read.

    Attributes:
        number: its place in the job; names its parts, with the run and a token of the attempt.
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
        store: how to reach the object stores of its files.
        tls: how encrypted connections are read.
        sizes: bytes that the files had when the run was planned: what is written to them later is left for the next run.
        read_before: how many bytes of the first file the earlier run has read, None where it has not.
        point_sizes: of captures of several points the bytes that each file had.
        renamed: files that were read before under other names: the places of both.
        by_date: divide the rows that have a time by their dates (`kwire.spark.dated_parts`).
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
    store: StoreOptions | None = None
    tls: TlsOptions | None = None
    sizes: tuple[int, ...] = ()
    read_before: int | None = None
    point_sizes: tuple[int, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    by_date: bool = False

    def pieces(self) -> list[SizedFile | str]:
        """The files, as far as they are read."""
        sizes = self.sizes or (None,) * len(self.locations)
        before = [None if at else self.read_before for at in range(len(self.locations))]
        return [
            location if size is None else SizedFile(location, size, read, self.point_sizes)
            for location, size, read in zip(self.locations, sizes, before, strict=True)
        ]


@dataclass(slots=True)
class SeriesResult:
    """What a task gives back.

    Attributes:
        number: of the task.
        share: which share of its series it read.
        whole: of its sums what is not divided (`kwire.analysis.key_buckets.WHOLE`).
        sums: files with its sums.
        parts: the parts that it wrote, `TABLE/NAME`.
        skipped: the files that could not be read, each with the reason.
        read: how many files were read.
        fault: why nothing could be written, empty when all went well.
        seconds: of wall clock, by phase (`kwire.spark.phase_times.PHASES`).
        cpu_seconds: of the processor, in all.
        began: when the task began, seconds since 1970.
        unread: the series of a pack of which nothing could be read, by name.
        keeps: a later run can resume from what the task wrote.
    """

    number: int
    share: int = 0
    whole: Partial = field(default_factory=dict)
    sums: list[SumsFile] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    read: int = 0
    fault: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    began: float = 0.0
    unread: list[str] = field(default_factory=list)
    keeps: bool = True

    def to_bytes(self) -> bytes:
        """Pack it for the way through Spark: a line of JSON, then the sums that are not divided."""
        facts = {
            "number": self.number,
            "share": self.share,
            "sums": [(file.part, file.size, file.start) for file in self.sums],
            "parts": self.parts,
            "skipped": self.skipped,
            "read": self.read,
            "fault": self.fault,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "began": self.began,
            "unread": self.unread,
            "keeps": self.keeps,
        }
        return encode_json(facts).encode() + b"\n" + to_bytes(held(self.whole))

    @classmethod
    def from_bytes(cls, data: bytes) -> SeriesResult:
        """Unpack what `to_bytes` packed."""
        line, _, whole = data.partition(b"\n")
        facts = json.loads(line)
        facts["skipped"] = [(location, reason) for location, reason in facts["skipped"]]
        facts["sums"] = [SumsFile(part, True, size, start) for part, size, start in facts["sums"]]
        return cls(whole=from_bytes(whole), **facts)


def progress_of(out: str) -> Callable[[int], None]:
    """Give what tells the driver how far this process is, by a small file beside its parts; object stores hear nothing.

    The tasks of a process count on in the same file, so that the driver has as many to look at as there are processes, not tasks.

    Args:
        out: the output folder, path or URI.
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


@contextlib.contextmanager
def in_folder(folder: str, locations: Iterable[str]) -> Iterator[None]:
    """Be in the driver's working folder while files are read that are named from there.

    Not for others: what ``--py-files`` put on the path of a worker may be named from the worker's folder.

    Args:
        folder: of the driver; another machine need not have it.
        locations: of the files.
    """
    names = [name for location in locations for name in (names_in(location)[1:] or [location])]
    relative = any("://" not in name and not Path(name).is_absolute() for name in names)
    if not relative or not Path(folder).is_dir():
        yield
        return
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


class Unwritten(Exception):
    """A row cannot be written: not to be taken for a file that cannot be read."""


class TaskParts:
    """The parts of tables that a task writes, each from its first row on; a context manager."""

    def __init__(self, task: SeriesTask, result: SeriesResult) -> None:
        self._task, self._result = task, result
        # Spark may run a task twice, even at the same time; only the attempt whose result comes back is published, by these names
        self._attempt = secrets.token_hex(4)
        self._redactor = None if task.redaction is None else Redactor(task.redaction)
        self._open: dict[tuple[str, str], PartWriter] = {}
        self._stack = contextlib.ExitStack()
        self._dated = self._stack.enter_context(DatedParts(task.out, result.parts.append)) if task.by_date else None

    def __enter__(self) -> TaskParts:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)

    def name(self, kind: str) -> str:
        """Name a part of this attempt."""
        return f"{kind}-{self._task.number:05d}-{self._task.run:03d}-{self._attempt}"

    def write(self, table: str, kind: str, batch: pa.RecordBatch) -> None:
        """Append rows to a part of a kind: `part` for what stays, `open` and `end` for what the next run writes anew.

        Raises:
            Unwritten: the folder cannot be written, the disk is full.
        """
        rows = batch if self._redactor is None else self._redactor.batch(table, batch)
        try:
            if self._dated is not None and table in BEGINS:
                self._dated.write(table, self.name(kind), rows)
                return
            part = self._open.get((table, kind))
            if part is None:
                name = f"{self.name(kind)}.parquet"
                part = self._stack.enter_context(PartWriter(self._task.out, table, name, SCHEMAS[table]))
                self._open[table, kind] = part
                self._result.parts.append(f"{table}/{name}")
            part.write(rows)
        except InputError as error:
            raise Unwritten(f"{error}") from error


@contextlib.contextmanager
def rarely_collecting() -> Iterator[None]:
    """Let no collection go through what is loaded already, modules and schemas: a large part of what there is, and it stays.

    Rows are no objects, and what a task makes of objects has few cycles: collections as often as Python has them take 3 % of its time.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_OBJECTS_TO_COLLECT, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def run_task(task: SeriesTask, routed: Sequence[Piece] | None = None) -> SeriesResult:
    """Read a series, write its rows into the staging of the output folder and sum it up.

    Never raises for what files or bytes are: a file that cannot be read is a row in `violations`.

    Args:
        task: what to read and where to write.
        routed: its files, where packets of theirs come from elsewhere.
    """
    task = task if has_states() else replace(task, keep_state=False)
    result = SeriesResult(task.number, task.share[0], began=time.time(), keeps=task.keep_state)
    began, cpu = time.perf_counter(), time.process_time()
    try:
        with (
            rarely_collecting(),
            in_folder(task.folder, task.locations),
            store_options(task.store),
            tls_options(task.tls),
            TaskParts(task, result) as parts,
        ):
            _run(task, task.pieces() if routed is None else routed, parts, result)
    except (InputError, Unwritten) as error:
        result.fault = str(error)
    result.seconds["second_pass"] = time.perf_counter() - began - result.seconds.get("read", 0.0)
    result.cpu_seconds = time.process_time() - cpu
    return result


def _run(task: SeriesTask, pieces: Sequence[Piece], parts: TaskParts, result: SeriesResult) -> None:
    earlier = None if task.earlier is None else read_state(task.out, task.earlier.state)
    began, settling = time.perf_counter(), 0.0
    settled = SettledSums(task.out, parts.name("sums"))

    def add(sums: Partial) -> None:
        try:
            settled.add(sums)
        except InputError as error:
            raise Unwritten(f"{error}") from error

    def settle(view: SeriesView) -> None:
        nonlocal settling
        since = time.perf_counter()
        sums = RequestSums(view)
        for table in WRITTEN:
            for batch in view.batches(table):
                if table == "requests":
                    sums.add(batch)
                parts.write(table, "part", batch)
        add(partial_of_series(view, sums))
        settling += time.perf_counter() - since

    resume = None
    if task.earlier is not None and earlier is not None:
        add(earlier.settled)
        resume = resumed(task.out, task.earlier.state, earlier.carry), _waiting(task, earlier)
    try:
        rows = read_series(
            pieces,
            task.name,
            task.ports,
            progress=progress_of(task.out),
            disorder=task.disorder,
            log_zone=task.log_zone,
            share=task.share,
            rename=dict(task.renamed),
            resume=resume,
            keep_state=task.keep_state,
            settle=settle,
        )
    except InputError:
        skip_all(task, pieces, parts, result)
        return
    result.seconds["read"] = time.perf_counter() - began - settling
    with rows:
        views = {"settled": rows.settled, "open": rows.open} if task.keep_state else {"settled": rows.whole}
        sums = {name: RequestSums(view) for name, view in views.items()}
        for table in WRITTEN:
            for kind, batch in _kinds(task, rows, table, sums):
                parts.write(table, kind, batch)
        add(partial_of_series(views["settled"], sums["settled"]))
        last = settled.take()
        result.sums, result.whole = settled.files, whole_of(merge([settled.whole, whole_of(last)]))
        if task.keep_state:
            result.parts += [file.part for file in settled.files]
            _keep(task, rows, sums["open"], last, parts.name("state"), result)
        else:
            result.sums.append(write_sums(task.out, f"{parts.name('sums')}-last", last))
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
        yield KINDS[fate] if task.keep_state else "part", batch


def _keep(task: SeriesTask, rows: SeriesRows, sums: RequestSums, settled: Partial, name: str, result: SeriesResult) -> None:
    """Write the state that the next run goes on from, and add the sums of open connections."""
    still = partial_of_series(rows.open, sums)
    result.whole = whole_of(merge([result.whole, whole_of(still)]))
    waiting = {
        table: pa.Table.from_batches((batch for fate, batch in rows.by_fate(table) if fate == "waiting"), schema=schema)
        for table, schema in SPOOLED.items()
        if table not in WRITTEN
    }
    result.sums += write_state(task.out, name, SeriesState(rows.state, settled, waiting), still)
    result.parts.append(f"{STATE}/{name}")


def _waiting(task: SeriesTask, earlier: SeriesState) -> dict[str, Iterable[pa.RecordBatch]]:
    """The rows of connections that were open when the earlier run ended."""
    assert task.earlier is not None
    found: dict[str, Iterable[pa.RecordBatch]] = {table: rows.to_batches() for table, rows in earlier.waiting.items()}
    for part in task.earlier.waiting:
        table, _, name = part.partition("/")
        found[table] = read_part(task.out, table, name, SCHEMAS[table])
    return found


def skip_all(task: SeriesTask, pieces: Sequence[Piece], parts: TaskParts, result: SeriesResult, kind: str = "part") -> None:
    """No file of the series can be read: say so of each."""
    carry = begin_series(task.name, task.ports, share=task.share)
    batches: list[pa.RecordBatch] = []
    for location, piece in zip(task.locations, pieces, strict=True):
        try:
            read_piece(piece, carry)
        except InputError as error:
            result.skipped.append((location, str(error)))
            batches += skip_piece(location, carry, error)["violations"]
    for batch in batches:
        parts.write("violations", kind, batch)
