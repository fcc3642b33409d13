"""Task of the job that reads series, writes their rows and returns small sums; it does not depend on Spark.

A task reads one series, a share of its connections, or several small series (`kwire.runs.packing`). It writes one part per table, and one
state.
"""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from kwire.analysis.hourly_days import changed_days, days_of
from kwire.analysis.key_buckets import whole_of
from kwire.analysis.partials import Partial, empty, held, merge, partial_of_series, to_bytes
from kwire.analysis.redaction import Redaction
from kwire.analysis.request_sums import RequestSums
from kwire.capture.dividing.packet_routing import RoutedPiece
from kwire.capture.files.capture_points import names_in
from kwire.capture.files.sized_file import SizedFile
from kwire.errors import InputError
from kwire.runs.parts import STATE, opened_part, part_batches
from kwire.runs.series_state import SeriesState, has_states, read_state, resumed, sums_of_state, write_state
from kwire.runs.settled_sums import SettledSums
from kwire.runs.sums_files import SumsFile, read_all_sums, write_sums
from kwire.runs.task_parts import TaskParts, Unwritten, progress_of, writing
from kwire.tables import SCHEMAS, SeriesRows, SeriesView, read_series
from kwire.tables.joined_views import JoinedViews
from kwire.tables.series import TablesCarry, begin_series, read_piece, skip_piece
from kwire.tables.series_rows import SETTLE_BYTES, SPOOLED, RowStatus

__all__ = ["WRITTEN", "Earlier", "Piece", "SeriesFiles", "SeriesResult", "SeriesTask", "in_folder", "run_task"]

WRITTEN: Final = ("requests", "connections", "violations", "telemetry")
"""Tables whose rows a task writes."""

_KINDS: Final[dict[RowStatus, str]] = {"settled": "part", "waiting": "open", "end": "end"}
_OBJECTS_TO_COLLECT: Final = 50_000

Piece = str | SizedFile | RoutedPiece
_Batches = dict[str, list[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class Earlier:
    """Outcome of an earlier run that a task continues.

    `waiting` has parts with the rows of connections that were open. If a pack was divided, only the task `with_sums` continues its sums.
    """

    state: str
    waiting: tuple[str, ...]
    with_sums: bool = True


@dataclass(frozen=True, slots=True)
class SeriesFiles:
    """Files of a series that a task reads.

    With `sizes`, bytes written later are left for the next run. `read_before` is the number of bytes of the first file that an earlier run
    has read.
    """

    name: str
    locations: tuple[str, ...]
    disorder: str = ""
    sizes: tuple[int, ...] = ()
    read_before: int | None = None
    point_sizes: tuple[int, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()

    def pieces(self) -> list[Piece]:
        """Return the files, limited to the bytes to read."""
        if not self.sizes:
            return [*self.locations]
        before = [self.read_before, *[None] * (len(self.locations) - 1)]
        return [SizedFile(*each, self.point_sizes) for each in zip(self.locations, self.sizes, before, strict=True)]


@dataclass(frozen=True, slots=True)
class SeriesTask:
    """Task that reads series, or share k of n, `(k, n)`, of their connections.

    Its parts are named by the number, the run and a token of the attempt. Relative locations are relative to the driver's `folder`.
    """

    number: int
    members: tuple[SeriesFiles, ...]
    ports: tuple[int, ...]
    out: str
    folder: str
    log_zone: str | None = None
    redaction: Redaction | None = None
    share: tuple[int, int] = (0, 1)
    run: int = 0
    keep_state: bool = False
    earlier: Earlier | None = None
    by_date: bool = False

    @property
    def locations(self) -> tuple[str, ...]:
        return tuple(location for member in self.members for location in member.locations)


@dataclass(slots=True)
class SeriesResult:
    """Outcome of a task; `whole` is packed, `days` are those of its hourly sums, and `seconds` are wall clock by phase."""

    number: int
    share: int = 0
    whole: bytes = b""
    sums: list[SumsFile] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    read: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    began: float = 0.0
    unread: list[str] = field(default_factory=list)
    keeps: bool = True
    days: set[str] = field(default_factory=set)


@contextlib.contextmanager
def in_folder(folder: str, locations: Iterable[str]) -> Iterator[None]:
    """Change to the driver's working folder while files are read whose locations are relative to it.

    Other files do not need this; and modules of ``--py-files`` may be relative to the worker's own folder.
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


@contextlib.contextmanager
def _gc_relaxed() -> Iterator[None]:
    """Run the garbage collector rarely, and exclude modules and schemas; with Python's defaults it takes 3 % of a task's time."""
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_OBJECTS_TO_COLLECT, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def run_task(task: SeriesTask, routed: Sequence[Piece] | None = None) -> SeriesResult:
    """Read series, write their rows into the staging folder and sum them up.

    An unreadable file is a row in `violations`. `routed` has the files of the only series if its packets were routed.
    """
    task = task if has_states() else replace(task, keep_state=False)
    result = SeriesResult(task.number, task.share[0], began=time.time(), keeps=task.keep_state)
    began = time.perf_counter()
    try:
        with _gc_relaxed(), TaskParts(task, result) as parts:
            _Reading(task, parts, result).run(routed)
    except Unwritten as error:
        raise InputError(f"{error}") from error
    result.seconds["second_pass"] = time.perf_counter() - began - result.seconds.get("read", 0.0)
    return result


class _Reading:
    def __init__(self, task: SeriesTask, parts: TaskParts, result: SeriesResult) -> None:
        self._task, self._parts, self._result = task, parts, result
        self._keeps, self._is_packed = task.keep_state, len(task.members) > 1
        self._progress = progress_of(task.out)
        self._sums = SettledSums(task.out, parts.name("sums"), by_day=task.keep_state and task.run > 0)
        self._before: list[Partial] = [empty()]
        self._settling = 0.0
        # of packed series: sums over the rows of many cost what the sums over one of their size cost
        self._settled, self._open = JoinedViews(), JoinedViews()
        self._still: list[Partial] = []
        self._state = SeriesState({}, {}, {})

    def run(self, routed: Sequence[Piece] | None) -> None:
        task, result = self._task, self._result
        earlier, open_rows = self._earlier()
        for member in task.members:
            with in_folder(task.folder, member.locations):
                self._read(member, member.pieces() if routed is None else routed, self._resume(member, earlier, open_rows))
            if self._settled.nbytes + self._open.nbytes > SETTLE_BYTES:
                self._sum_up()
        self._sum_up()
        settled, still = self._sums.take(), merge(self._still)
        result.whole = to_bytes(held(whole_of(merge([self._sums.whole, whole_of(settled), whole_of(still)]))))
        days = days_of(settled)
        result.days = self._sums.days | changed_days(self._before, [settled, still])
        result.sums = self._sums.files
        if not self._keeps:
            result.sums.append(write_sums(task.out, f"{self._parts.name('sums')}-last", settled))
            return
        newest = max(days, default="")
        if not any(newest in days_of(sums) for sums in self._before[:1]):  # once a day, also with what was closed since
            settled = self._sums.without(settled, days - {newest})
        result.parts += [file.part for file in result.sums]
        if self._state.carries:
            name = self._parts.name("state")
            result.sums = [*result.sums, *write_state(task.out, name, replace(self._state, settled=settled), still)]
            result.parts.append(f"{STATE}/{name}")

    def _earlier(self) -> tuple[SeriesState | None, dict[str, _Batches]]:
        """Return the state of an earlier run, and the rows of its open connections by series and table."""
        known = self._task.earlier
        found: dict[str, _Batches] = {}
        if known is None:
            return None, found
        state = read_state(self._task.out, known.state)
        if known.with_sums:
            self._add(state.settled)
        if state.carries.keys() == {member.name for member in self._task.members}:  # else its sums are those of several tasks now
            self._before = [state.settled, read_all_sums(self._task.out, sums_of_state(self._task.out, f"{STATE}/{known.state}")[1])]
        for part in known.waiting:
            table = part.partition("/")[0]
            with opened_part(self._task.out, part, is_fresh=False) as file:
                for batch in part_batches(file, table, SCHEMAS[table].names):
                    for series, rows in _by_series(batch):
                        found.setdefault(series, {}).setdefault(table, []).append(rows)
        return state, found

    def _resume(
        self, member: SeriesFiles, earlier: SeriesState | None, open_rows: dict[str, _Batches]
    ) -> tuple[TablesCarry, _Batches] | None:
        if self._task.earlier is None or earlier is None or member.name not in earlier.carries:  # new, or nothing of it could be read
            return None
        waiting = {table: rows.to_batches() for table, rows in earlier.waiting.get(member.name, {}).items()}
        carry = resumed(self._task.out, self._task.earlier.state, earlier.carries[member.name])
        return carry, waiting | open_rows.pop(member.name, {})

    def _add(self, sums: Partial) -> None:
        with writing():
            self._sums.add(sums)

    def _read(self, member: SeriesFiles, pieces: Sequence[Piece], resume: tuple[TablesCarry, _Batches] | None) -> None:
        task, result = self._task, self._result
        began, settling = time.perf_counter(), self._settling
        try:
            rows = read_series(
                pieces,
                member.name,
                task.ports,
                progress=self._progress,
                disorder=member.disorder,
                log_zone=task.log_zone,
                share=task.share,
                rename=dict(member.renamed),
                resume=resume,
                keep_state=self._keeps,
                settle=self._settle,
            )
        except InputError:
            result.unread.append(member.name)
            self._skip_all(member, pieces)
            return
        seconds = time.perf_counter() - began - (self._settling - settling)
        result.seconds["read"] = result.seconds.get("read", 0.0) + seconds
        with rows:
            self._take(member, rows)
        result.skipped += [(location, str(error)) for location, error in rows.skipped]
        result.read += len(member.locations) - len(rows.skipped)

    def _settle(self, view: SeriesView) -> None:
        """Write and sum up the rows of closed connections while the series is read."""
        since = time.perf_counter()
        sums = RequestSums(view)
        for table in WRITTEN:
            for batch in view.batches(table):
                if table == "requests":
                    sums.add(batch)
                self._parts.write(table, "part", batch)
        self._add(partial_of_series(view, sums))
        self._settling += time.perf_counter() - since

    def _take(self, member: SeriesFiles, rows: SeriesRows) -> None:
        """Write the rows of a series, and sum them up now or later with those of others."""
        views = [("part", rows.settled), ("end", rows.open)] if self._keeps else [("part", rows.whole)]
        sums = [] if self._is_packed else [RequestSums(view) for _, view in views]
        kept: list[_Batches] = [{} for _ in views]
        waiting: _Batches = {}
        for table in SPOOLED if self._keeps or self._is_packed else [table for table in SPOOLED if table in WRITTEN]:
            for fate, batch in rows.by_status(table):
                is_open = self._keeps and fate != "settled"
                if table in WRITTEN:
                    self._parts.write(table, _KINDS[fate] if self._keeps else "part", batch)
                elif self._keeps and fate == "waiting":
                    waiting.setdefault(table, []).append(batch)
                if self._is_packed:
                    kept[is_open].setdefault(table, []).append(batch)
                elif table == "requests":
                    sums[is_open].add(batch)
        for kind, view in views:  # all that is known of open connections comes out of the state again
            for batch in view.batches("connections"):
                if batch.num_rows:
                    self._parts.write("connections", kind, batch)
        if self._is_packed:
            for joined, (_, view), batches in zip((self._settled, self._open), views, kept, strict=False):
                joined.add(view, batches)
        else:
            self._add(partial_of_series(views[0][1], sums[0]))
            self._still += [partial_of_series(view, found) for (_, view), found in zip(views[1:], sums[1:], strict=True)]
        if self._keeps:
            self._state.carries[member.name] = rows.state
            self._state.waiting[member.name] = {table: pa.Table.from_batches(batches) for table, batches in waiting.items()}

    def _sum_up(self) -> None:
        for view in self._settled.take():
            self._add(partial_of_series(view))
        self._still += map(partial_of_series, self._open.take())

    def _skip_all(self, member: SeriesFiles, pieces: Sequence[Piece]) -> None:
        """Report each file of a series without readable data; a later run that can read it rewrites the report."""
        carry = begin_series(member.name, self._task.ports, share=self._task.share)
        batches: list[pa.RecordBatch] = []
        for location, piece in zip(member.locations, pieces, strict=True):
            try:
                read_piece(piece, carry)
            except InputError as error:
                self._result.skipped.append((location, str(error)))
                batches += skip_piece(location, carry, error)["violations"]
        for batch in batches:
            self._parts.write("violations", "end" if self._keeps else "part", batch)


def _by_series(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Split a batch between the rows of different series."""
    column: Any = batch.column("series")
    if not len(column):
        return
    codes = column.dictionary_encode().indices.to_numpy()
    borders = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist(), len(codes)]
    for start, end in pairwise(borders):
        yield column[start].as_py(), batch.slice(start, end - start)
