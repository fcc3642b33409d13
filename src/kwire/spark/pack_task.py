"""What one task does that reads several small series: one part a table for all of them, one file of state, sums over all rows at once.

The rows are those of a task for each series. No Spark here, as in `kwire.spark.series_task`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa

from kwire.analysis.key_buckets import whole_of
from kwire.analysis.partials import Partial, merge, partial_of_series
from kwire.analysis.request_sums import RequestSums
from kwire.capture.tls.session_keys import tls_options
from kwire.errors import InputError
from kwire.files.file_systems import store_options
from kwire.spark.parts import STATE
from kwire.spark.series_state import SeriesState, has_states, read_part, read_state, refusing, resumed, write_state
from kwire.spark.series_task import (
    KINDS,
    WRITTEN,
    SeriesResult,
    SeriesTask,
    TaskParts,
    Unwritten,
    in_folder,
    progress_of,
    rarely_collecting,
    run_task,
    skip_all,
)
from kwire.spark.settled_sums import SettledSums
from kwire.spark.sums_files import write_sums
from kwire.tables import SCHEMAS, SeriesRows, SeriesView, read_series
from kwire.tables.joined_views import JoinedViews
from kwire.tables.series_rows import SETTLE_BYTES, SPOOLED
from kwire.tables.state_records import MOST_RECORD_BYTES, packed, read_rows, unpacked, written_rows

__all__ = ["PackState", "PackTask", "locations_of", "run_pack", "run_read"]

_CODEC: Final = "zstd"
Waiting = dict[str, pa.Table]


@dataclass(frozen=True, slots=True)
class PackTask:
    """Several series to read, one after the other.

    Attributes:
        members: their tasks, which have one number, one output folder and, where they were read before, one state.
    """

    members: tuple[SeriesTask, ...]

    @property
    def number(self) -> int:
        """Of the task."""
        return self.members[0].number

    @property
    def out(self) -> str:
        """The output folder, path or URI."""
        return self.members[0].out


@dataclass(frozen=True, slots=True)
class PackState:
    """What a pack leaves for the next run; the sums of its connections stand beside it in the same file (`kwire.spark.series_state`).

    Attributes:
        carries: by name of the series (`kwire.tables.SeriesRows.state`).
        waiting: by name of the series, rows of open connections of tables that are not written.
    """

    carries: dict[str, bytes]
    waiting: dict[str, Waiting]

    def to_bytes(self) -> bytes:
        """Pack it. The carries of small series are much alike: a fifteenth of the bytes is written."""
        waiting = {series: {table: written_rows(rows) for table, rows in tables.items()} for series, tables in self.waiting.items()}
        held = packed((self.carries, waiting))
        return packed((len(held), pa.compress(held, _CODEC, asbytes=True)))

    @classmethod
    def from_bytes(cls, data: bytes) -> PackState:
        """Unpack what `to_bytes` packed.

        Raises:
            ValueError: it is no such thing.
        """
        size, held = unpacked(data, tuple[int, bytes])
        if not 0 <= size <= MOST_RECORD_BYTES:
            raise ValueError("a length in it is wrong")
        carries, waiting = unpacked(pa.decompress(held, size, _CODEC), tuple[dict[str, bytes], dict[str, dict[str, bytes]]])
        return cls(
            carries,
            {series: {table: read_rows(rows, SPOOLED[table]) for table, rows in tables.items()} for series, tables in waiting.items()},
        )


def locations_of(task: SeriesTask | PackTask) -> tuple[str, ...]:
    """Give the files that a task reads, paths or URIs."""
    return tuple(location for each in task.members for location in each.locations) if isinstance(task, PackTask) else task.locations


def run_read(task: SeriesTask | PackTask) -> SeriesResult:
    """Do a task that reads files as they lie there."""
    return run_pack(task) if isinstance(task, PackTask) else run_task(task)


def run_pack(pack: PackTask) -> SeriesResult:
    """Read the series of a pack, write their rows and sum them up; as `kwire.spark.series_task.run_task` does for one.

    Never raises for what files or bytes are: a file that cannot be read is a row in `violations`.
    """
    first = pack.members[0]
    result = SeriesResult(pack.number, began=time.time())
    began, cpu = time.perf_counter(), time.process_time()
    try:
        with rarely_collecting(), store_options(first.store), tls_options(first.tls), TaskParts(first, result) as parts:
            _Pack(pack, parts, result).run()
    except (InputError, Unwritten) as error:
        result.fault = str(error)
    result.seconds["second_pass"] = time.perf_counter() - began - result.seconds.get("read", 0.0)
    result.cpu_seconds = time.process_time() - cpu
    return result


@dataclass(slots=True)
class _Earlier:
    """What an earlier run left: its state, and the rows of open connections by series and table."""

    pack: PackState
    open_rows: dict[str, dict[str, list[pa.RecordBatch]]] = field(default_factory=dict)


class _Pack:
    """One attempt at a pack."""

    def __init__(self, pack: PackTask, parts: TaskParts, result: SeriesResult) -> None:
        self._members, self._parts, self._result = pack.members, parts, result
        first = pack.members[0]
        self._out, self._keeps = first.out, first.keep_state and has_states()
        result.keeps = self._keeps
        self._progress = progress_of(first.out)
        self._sums = SettledSums(first.out, parts.name("sums"))
        self._settled, self._open = JoinedViews(), JoinedViews()
        self._still: list[Partial] = []
        self._carries: dict[str, bytes] = {}
        self._waiting: dict[str, Waiting] = {}

    def run(self) -> None:
        earlier = self._earlier()
        for member in self._members:
            with in_folder(member.folder, member.locations):
                self._read(member, earlier)
            if self._settled.nbytes + self._open.nbytes > SETTLE_BYTES:
                self._sum_up()
        self._sum_up()
        result, settled, still = self._result, self._sums.take(), merge(self._still)
        result.whole = whole_of(merge([self._sums.whole, whole_of(settled), whole_of(still)]))
        result.sums = self._sums.files
        if not self._keeps:
            result.sums.append(write_sums(self._out, f"{self._parts.name('sums')}-last", settled))
            return
        result.parts += [file.part for file in result.sums]
        if self._carries:
            name = self._parts.name("state")
            state = SeriesState(PackState(self._carries, self._waiting).to_bytes(), settled, {})
            result.sums = [*result.sums, *write_state(self._out, name, state, still)]
            result.parts.append(f"{STATE}/{name}")

    def _earlier(self) -> _Earlier | None:
        known = self._members[0].earlier
        if known is None:
            return None
        state = read_state(self._out, known.state)
        with refusing(self._out, known.state):
            earlier = _Earlier(PackState.from_bytes(state.carry))
        if known.with_sums:
            self._add(state.settled)
        for part in known.waiting:
            table, _, name = part.partition("/")
            for batch in read_part(self._out, table, name, SCHEMAS[table]):
                for series, rows in _by_series(batch):
                    earlier.open_rows.setdefault(series, {}).setdefault(table, []).append(rows)
        return earlier

    def _add(self, sums: Partial) -> None:
        try:
            self._sums.add(sums)
        except InputError as error:
            raise Unwritten(f"{error}") from error

    def _read(self, task: SeriesTask, earlier: _Earlier | None) -> None:
        began, resume = time.perf_counter(), None
        if earlier is not None:
            waiting = {table: rows.to_batches() for table, rows in earlier.pack.waiting.get(task.name, {}).items()}
            carry = earlier.pack.carries.get(task.name)  # none of it could be read
            if carry is not None and task.earlier is not None:
                resume = resumed(self._out, task.earlier.state, carry), waiting | earlier.open_rows.get(task.name, {})
        try:
            rows = read_series(
                task.pieces(),
                task.name,
                task.ports,
                progress=self._progress,
                disorder=task.disorder,
                log_zone=task.log_zone,
                rename=dict(task.renamed),
                resume=resume,
                keep_state=self._keeps,
                settle=self._settle,
            )
        except InputError:
            self._result.unread.append(task.name)
            # what is said of it goes when it is read after all
            skip_all(task, task.pieces(), self._parts, self._result, "end" if self._keeps else "part")
            return
        self._result.seconds["read"] = self._result.seconds.get("read", 0.0) + time.perf_counter() - began
        with rows:
            self._take(task, rows)
        self._result.skipped += [(location, str(error)) for location, error in rows.skipped]
        self._result.read += len(task.locations) - len(rows.skipped)

    def _settle(self, view: SeriesView) -> None:
        """A series of the pack has grown large: its rows go on as they come."""
        sums = RequestSums(view)
        for table in WRITTEN:
            for batch in view.batches(table):
                if table == "requests":
                    sums.add(batch)
                self._parts.write(table, "part", batch)
        self._add(partial_of_series(view, sums))

    def _take(self, task: SeriesTask, rows: SeriesRows) -> None:
        """Write the rows of a series, and keep them for the sums."""
        over: dict[str, list[pa.RecordBatch]] = {}
        still: dict[str, list[pa.RecordBatch]] = {}
        waiting: dict[str, list[pa.RecordBatch]] = {}
        for table in SPOOLED:
            for fate, batch in rows.by_fate(table):
                found = over if fate == "settled" or not self._keeps else still
                found.setdefault(table, []).append(batch)
                if table in WRITTEN:
                    self._parts.write(table, KINDS[fate] if self._keeps else "part", batch)
                elif fate == "waiting":
                    waiting.setdefault(table, []).append(batch)
        for kind, view in (("part", rows.settled), ("end", rows.open)) if self._keeps else (("part", rows.whole),):
            for batch in view.batches("connections"):
                if batch.num_rows:
                    self._parts.write("connections", kind, batch)
        self._settled.add(rows.settled if self._keeps else rows.whole, over)
        if self._keeps:
            self._open.add(rows.open, still)
            self._carries[task.name] = rows.state
            self._waiting[task.name] = {table: pa.Table.from_batches(found) for table, found in waiting.items()}

    def _sum_up(self) -> None:
        for view in self._settled.take():
            self._add(partial_of_series(view))
        self._still += map(partial_of_series, self._open.take())


def _by_series(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Cut a batch where its rows go over from one series to the next."""
    column = batch.column("series")
    if not len(column):
        return
    names = column.dictionary_encode()
    codes = names.indices.to_numpy()
    borders = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist(), len(codes)]
    for start, end in pairwise(borders):
        yield column[start].as_py(), batch.slice(start, end - start)
