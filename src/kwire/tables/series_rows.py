"""All rows of one series: reads its files, then fills in the client keys, which are known at the end of a connection.

Memory is limited: rows are buffered in a spool, and the caller can take the rows of closed connections during reading (`settle`).

A series may grow. Rows of connections that ended before its last packet are *settled*: they never change. Rows of other connections are
*open*: the next reader of the series continues them (`resume`) and returns them again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import Any, BinaryIO, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from kwire.errors import InputError
from kwire.tables.batch_spool import BatchSpool
from kwire.tables.connection_index import ConnectionIndex
from kwire.tables.facts import FACT_SCHEMAS, REFUSALS, empty_table, table_of
from kwire.tables.node_ids import node_finder, with_nodes
from kwire.tables.observed_rows import OBSERVED
from kwire.tables.schemas import CAPTURES, CONNECTIONS, REQUESTS, ROW_TABLES, VIOLATIONS
from kwire.tables.series import Batches, TablesCarry, begin_series, finish_series, iter_piece, rename_files, skip_piece, take_rows

__all__ = [
    "SETTLE_BYTES",
    "SPOOLED",
    "VIEWED",
    "RowStatus",
    "SeriesRows",
    "SeriesView",
    "check_table",
    "from_capture",
    "iter_series",
    "read_series",
]

# Tables whose rows wait for the end of the series.
SPOOLED: Final[dict[str, pa.Schema]] = {"requests": REQUESTS, "violations": VIOLATIONS, **OBSERVED}
VIEWED: Final = {"captures": CAPTURES, "connections": CONNECTIONS, **SPOOLED}
# So much of rows is worth a look at which of them are of connections that are over.
SETTLE_BYTES: Final = 64 << 20
# They have no client key to be filled in.
_KEYLESS: Final = frozenset(("topic_use",))


Location = str | os.PathLike[str] | BinaryIO
Facts = dict[str, pa.Table]
# Rows of closed connections, rows of open ones, and rows emitted at the end
RowStatus = Literal["settled", "waiting", "end"]


@dataclass(frozen=True, slots=True)
class SeriesView:
    """View of the rows of some connections of a series.

    Attributes:
        facts: `advertised`, `nodes`, `refusals` and `topic_names` (`kwire.tables.facts`).
        batches: function that returns the rows of a table of `ROW_TABLES` or `SPOOLED`, in the order of reading; it can be called
            repeatedly.
        rows_of: function that returns the row in `connections` of each given connection id, null if there is none.
    """

    captures: pa.Table
    connections: pa.Table
    facts: Facts
    batches: Callable[[str], Iterator[pa.RecordBatch]]
    rows_of: Callable[[Any], Any]

    def table(self, name: str) -> pa.Table:
        return pa.Table.from_batches(self.batches(name), schema=VIEWED[name])


@dataclass(slots=True)
class _Part:
    """Batch made before the end of the series, or at the end."""

    connections: list[pa.RecordBatch] = field(default_factory=list)
    refusals: pa.Table = field(default_factory=lambda: empty_table(REFUSALS))
    spools: dict[str, BatchSpool] = field(default_factory=lambda: {name: BatchSpool(schema) for name, schema in SPOOLED.items()})
    connection_bytes: int = 0

    @property
    def nbytes(self) -> int:
        return self.connection_bytes + sum(spool.nbytes for spool in self.spools.values())

    def close(self) -> None:
        for spool in self.spools.values():
            spool.__exit__(None, None, None)

    def add(self, batches: Batches) -> None:
        for batch in batches.get("connections", ()):
            self.connections.append(batch)
            self.connection_bytes += batch.get_total_buffer_size()
        for name, spool in self.spools.items():
            for batch in batches.get(name, ()):
                spool.add(batch)


class SeriesRows:
    """Rows of a series that was read to its end; a context manager, because they may be in a temporary file.

    Attributes:
        whole, settled, open: all rows, final rows, and rows that may change when the series grows.
        state: carry of the series as bytes (`kwire.tables.carry_state`), without the open rows; empty unless requested.
    """

    def __init__(self, series: str) -> None:
        self.series = series
        self.skipped: list[tuple[str, InputError]] = []
        self.state = b""
        self._read, self._end = _Part(), _Part()

    def __enter__(self) -> SeriesRows:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._read.close()
        self._end.close()

    @property
    def captures(self) -> pa.Table:
        return self.whole.captures

    @property
    def connections(self) -> pa.Table:
        return self.whole.connections

    @property
    def facts(self) -> Facts:
        return self.whole.facts

    def batches(self, table: str) -> Iterator[pa.RecordBatch]:
        return self.whole.batches(table)

    @property
    def rows_of(self) -> Callable[[Any], Any]:
        return self.whole.rows_of

    def by_status(self, table: str) -> Iterator[tuple[RowStatus, pa.RecordBatch]]:
        """Yield the rows of a table of `SPOOLED`, each batch with whether its connections have ended (`settled`) or are open.

        `resume` needs only the `waiting` open rows, because the state restores the rows of the `end`.
        """
        return self._fates_of(table)

    def table(self, name: str) -> pa.Table:
        return self.whole.table(name)

    def _steps(
        self, carry: TablesCarry, locations: Sequence[Location], progress: Callable[[int], None] | None, *, settling: bool, strict: bool
    ) -> Iterator[SeriesView]:
        """Read files, and yield the rows of closed connections whenever enough are buffered."""
        limit = SETTLE_BYTES
        for location in locations:
            try:
                for batches in iter_piece(location, carry, progress=progress, flush=False):
                    self._read.add(batches)
                    if settling and self._read.nbytes > limit:
                        yield from self._settled_rows(carry)
                        limit = max(SETTLE_BYTES, 2 * self._read.nbytes)  # what waits for long is not gone through time and again
            except InputError as error:
                if strict:
                    raise
                name = os.fspath(location) if isinstance(location, str | os.PathLike) else "standard input"
                self.skipped.append((name, error))
                self._read.add(skip_piece(name, carry, error, given=location))

    def _settled_rows(self, carry: TablesCarry) -> Iterator[SeriesView]:
        """Yield the rows of closed connections in one view, valid until the next; other rows stay buffered."""
        self._read.add(take_rows(carry))
        connections = pa.Table.from_batches(self._read.connections, schema=CONNECTIONS)
        index = ConnectionIndex(connections.column("connection_id"))
        keys = connections.column("client_key").combine_chunks()
        over, still = _Part(), _Part()
        places: dict[str, list[Any]] = {table: [] for table in over.spools}  # of the batches in `over`
        for table, spool in self._read.spools.items():
            for batch in spool:
                ids = batch.column("connection_id")
                at = index.rows_of(ids)
                gone: Any = pc.or_(pc.is_valid(at), pc.is_null(ids))  # what is said of a file has no connection to wait for
                count = pc.sum(gone).as_py() or 0
                if count:
                    over.spools[table].add(batch if count == len(batch) else batch.filter(gone))
                    places[table].append(at if count == len(batch) else at.filter(gone))
                if count < len(batch):
                    still.spools[table].add(batch.filter(pc.invert(gone)) if count else batch)
        self._read.close()
        self._read = still
        refusals = self._take_refusals(carry, index)
        facts = no_facts() | {"refusals": refusals}

        def batches_of(table: str) -> Iterator[pa.RecordBatch]:
            if table in ("captures", "connections"):
                yield from connections.to_batches() if table == "connections" else ()
                return
            for batch, at in zip(over.spools[table], places[table], strict=True):
                index.remember(batch.column("connection_id"), at)
                yield _with_keys(table, batch, keys, at)

        try:
            yield SeriesView(empty_table(CAPTURES), connections, facts, batches_of, index.rows_of)
        finally:
            over.close()

    @staticmethod
    def _take_refusals(carry: TablesCarry, index: ConnectionIndex) -> pa.Table:
        if not carry.sink.facts.refusals:
            return empty_table(REFUSALS)
        refusals = table_of(REFUSALS, carry.sink.facts.refusals)
        known = pc.is_valid(index.rows_of(refusals.column("connection_id")))
        kept = known.to_pylist()
        carry.sink.facts.refusals = [row for row, taken in zip(carry.sink.facts.refusals, kept, strict=True) if not taken]
        return refusals.filter(known)

    def _finish(self, carry: TablesCarry, *, keep_state: bool) -> None:
        settled = pa.Table.from_batches(self._read.connections, schema=CONNECTIONS)
        self._read.refusals = self._take_refusals(carry, ConnectionIndex(settled.column("connection_id")))
        if keep_state:
            from kwire.tables.carry_state import pack_carry  # msgspec is loaded where states are

            self.state = b"".join(pack_carry(carry))
        batches, facts = finish_series(carry)
        self._end.add(batches)
        self._end.refusals = facts["refusals"]
        late = pa.Table.from_batches(self._end.connections, schema=CONNECTIONS)
        both = pa.concat_tables([settled, late])
        captures = pa.Table.from_batches(batches["captures"], schema=CAPTURES)
        index = ConnectionIndex(both.column("connection_id"))
        keys = both.column("client_key").combine_chunks()

        def fates_of(table: str, split: bool = True) -> Iterator[tuple[RowStatus, pa.RecordBatch]]:
            for batch in self._read.spools[table]:
                at = index.rows_of(batch.column("connection_id"))
                keyed = _with_keys(table, batch, keys, at)
                if not split or not len(late):  # who takes all rows takes them as they came
                    yield "settled", keyed
                    continue
                waiting: Any = pc.fill_null(pc.greater_equal(at, pa.scalar(len(settled), at.type)), pa.scalar(False))
                count = pc.sum(waiting).as_py() or 0
                if count < len(keyed):
                    yield "settled", keyed.filter(pc.invert(waiting)) if count else keyed
                if count:
                    yield "waiting", keyed.filter(waiting) if count < len(keyed) else keyed
            for batch in self._end.spools[table]:
                yield "end", _with_keys(table, batch, keys, index.rows_of(batch.column("connection_id")))

        def view(connections: pa.Table, facts: Facts, *fates: RowStatus, captures: pa.Table = captures, first: int = 0) -> SeriesView:
            def batches_of(table: str) -> Iterator[pa.RecordBatch]:
                if table in ("captures", "connections"):
                    yield from (connections if table == "connections" else captures).to_batches()
                    return
                split = "settled" not in fates or "waiting" not in fates
                yield from (batch for fate, batch in fates_of(table, split) if fate in fates)

            def rows_of(ids: Any) -> Any:
                at = index.rows_of(ids)
                inside = pc.and_(pc.greater_equal(at, pa.scalar(first, at.type)), pc.less(at, pa.scalar(first + len(connections), at.type)))
                return pc.if_else(inside, pc.subtract(at, pa.scalar(first, at.type)), pa.scalar(None, at.type))

            return SeriesView(captures, connections, facts, batches_of, rows_of)

        refused = pa.concat_tables([self._read.refusals, self._end.refusals])
        self._fates_of = fates_of
        self.whole = view(both, facts | {"refusals": refused}, "settled", "waiting", "end")
        self.settled = view(settled, no_facts() | {"refusals": self._read.refusals}, "settled", captures=empty_table(CAPTURES))
        self.open = view(late, facts, "waiting", "end", first=len(settled))


def _with_keys(table: str, batch: pa.RecordBatch, keys: Any, rows: Any) -> pa.RecordBatch:
    if table in _KEYLESS:
        return batch
    at = batch.schema.get_field_index("client_key")
    return batch.set_column(at, batch.schema.field(at), keys.take(rows))


def read_series(
    locations: Sequence[Location],
    series: str = "",
    ports: Iterable[int] = (),
    *,
    disorder: str = "",
    log_zone: str | None = None,
    progress: Callable[[int], None] | None = None,
    share: tuple[int, int] = (0, 1),
    observing: bool = True,
    hashed: bool = True,
    resume: tuple[TablesCarry, Mapping[str, Iterable[pa.RecordBatch]]] | None = None,
    rename: Mapping[str, str] | None = None,
    keep_state: bool = False,
    settle: Callable[[SeriesView], None] | None = None,
) -> SeriesRows:
    """Read a series to its end.

    Args:
        locations: its files in order: paths, URIs or binary streams.
        series, ports, disorder, log_zone, share, observing, hashed: as in
        `kwire.tables.series.begin_series`.
        progress: function called with the number of bytes read since the last call.
        resume: carry of an earlier `state` (`kwire.tables.carry_state.unpack_carry`), and the `waiting` rows by table of `SPOOLED`. Its
            arguments replace all of the above except `locations` and `progress`.
        rename: new names of rolled request logs, by former place (`place_of_file`).
        keep_state: make a `state`.
        settle: function that receives the rows of closed connections whenever `SETTLE_BYTES` of rows are buffered; other views then lack
            them.

    Returns:
        The rows, to be used as a context manager. An unreadable file is skipped, with a row in `violations`.

    Raises:
        InputError: no file of the series could be read; the error has the reason of the first.
    """
    rows = SeriesRows(series)
    if resume is None:
        carry = begin_series(series, ports, disorder=disorder, log_zone=log_zone, share=share, observing=observing, hashed=hashed)
    else:
        carry = resume[0]
        carry.unread = None
        rename_files(carry, rename or {})
        rows._read.add({table: list(batches) for table, batches in resume[1].items()})
    for view in rows._steps(carry, locations, progress, settling=settle is not None, strict=False):
        if settle is not None:
            settle(view)
    if rows.skipped and len(rows.skipped) == len(locations) and resume is None:
        raise rows.skipped[0][1]
    rows._finish(carry, keep_state=keep_state)
    return rows


def iter_series(
    locations: Sequence[Location],
    series: str = "",
    ports: Iterable[int] = (),
    *,
    disorder: str = "",
    log_zone: str | None = None,
    share: tuple[int, int] = (0, 1),
    observing: bool = True,
    hashed: bool = True,
    strict: bool = False,
) -> Iterator[SeriesView]:
    """Read a series and yield its rows as they are settled, each row once; the last view has the facts of the whole series.

    A view is valid until the next one.

    Args:
        locations, series, ports, disorder, log_zone, share, observing, hashed: as in `read_series`.
        strict: raise an error for an unreadable file; otherwise it is a row in `violations`, even if it is the only file.

    Raises:
        InputError: with `strict`, a file is unreadable.
    """
    with SeriesRows(series) as rows:
        carry = begin_series(series, ports, disorder=disorder, log_zone=log_zone, share=share, observing=observing, hashed=hashed)
        yield from rows._steps(carry, locations, None, settling=True, strict=strict)
        rows._finish(carry, keep_state=False)
        yield rows.whole


def from_capture(path: Location, table: str = "requests", ports: Iterable[int] | None = None) -> pa.Table:
    """Read one capture file into the rows of one table, without Spark.

    Args:
        path: path, URI or binary stream of a pcap or pcapng file, plain, gzip or zstd.
        table: one of `kwire.tables.ROW_TABLES`.
        ports: TCP ports of brokers; None to detect them.

    Raises:
        InputError: the file or table does not exist, or the file is not a capture.
    """
    check_table(table)
    name = os.path.basename(os.fspath(path)) if isinstance(path, str | os.PathLike) else "standard input"  # noqa: PTH119 - may be a URI
    with read_series([path], name, ports or (), observing=table in OBSERVED, hashed=table == "captures") as rows:
        found = rows.table(table)
        return with_nodes(found, node_finder(rows.facts["nodes"])) if table == "connections" else found


@cache
def no_facts() -> dict[str, pa.Table]:
    """Return empty facts of a series, created late because Arrow's first array searches for pandas."""
    return {name: empty_table(schema) for name, schema in FACT_SCHEMAS.items()}


def check_table(table: str) -> None:
    if table not in ROW_TABLES:
        raise InputError(f"unknown table {table!r} of a capture; expected one of {', '.join(ROW_TABLES[:-1])} and {ROW_TABLES[-1]}")
