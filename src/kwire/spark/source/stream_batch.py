"""Task for one series in one batch of a stream: it reads pieces and the earlier state, and returns rows and the next state.

A row names its client as known at the end of the batch. Rows of a connection with only introductory requests so far (ApiVersions, SASL) are
kept in the state until its first other request, so that they name the same client as in a batch query.
"""

from __future__ import annotations

import io
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa
import pyarrow.compute as pc

from kwire.capture.dividing.pair_counts import PairCounts
from kwire.capture.dividing.recent_pairs import RecentPairs
from kwire.errors import InputError
from kwire.spark.source.message_rows import asked_of, frame_rows
from kwire.spark.source.options import SourceOptions
from kwire.spark.source.stream_files import locate, open_range
from kwire.spark.source.stream_offsets import Piece
from kwire.spark.source.stream_state import SeriesState, StateFolder
from kwire.spark.source.table_rows import checked
from kwire.tables.batch_spool import BatchSpool
from kwire.tables.connection_index import ConnectionIndex
from kwire.tables.node_ids import with_nodes
from kwire.tables.observed_rows import OBSERVED
from kwire.tables.row_sink import tracked_on
from kwire.tables.schemas import MESSAGE_FRAMES, SCHEMAS
from kwire.tables.series import (
    Batches,
    TablesCarry,
    begin_series,
    finish_series,
    forget_files,
    iter_log_part,
    iter_piece,
    skip_piece,
    take_rows,
)  # fmt: skip

__all__ = ["SeriesBatch", "series_rows"]

# What a client does before it does anything else; a connection that did no more may yet say who it is.
_SECOND_NS: Final = 1_000_000_000
_INTRODUCTIONS: Final = frozenset((None, "ApiVersions", "SaslHandshake", "SaslAuthenticate"))


@dataclass(frozen=True, slots=True)
class SeriesBatch:
    """Input of one task of a batch.

    `base` is the version of the state before the pieces (0 for none), and `version` the version of the state after them. `again` has pieces
    of earlier batches without a state.
    """

    stream: str
    series: str
    base: int
    version: int
    again: tuple[tuple[Piece, ...], ...]
    pieces: tuple[Piece, ...]


def series_rows(batch: SeriesBatch, options: SourceOptions) -> Iterator[pa.RecordBatch]:
    """Read the pieces of a batch, write the state, then yield the rows; the caller may stop early."""
    assert options.stream.state_location is not None
    folder = StateFolder(options.stream.state_location, batch.stream)
    schema = None if options.reads_messages else SCHEMAS[options.table]
    state = folder.read(batch.series, batch.base, schema) if batch.base else SeriesState(_begin(batch.series, options))
    for pieces in batch.again:
        with _Advance(state, batch.series, options) as before:
            before.read(pieces)
    with _Advance(state, batch.series, options) as now:
        now.read(batch.pieces)
        folder.write(batch.series, batch.version, state)
        yield from now.rows()


def _begin(series: str, options: SourceOptions) -> TablesCarry:
    if options.reads_messages:
        return begin_series(series, options.ports, observing=False, hashed=False, asked=asked_of(options))
    observing, hashed = options.table in OBSERVED, options.table == "captures"
    return begin_series(series, options.ports, log_zone=options.log_zone, observing=observing, hashed=hashed)


class _Advance:
    """Update of a state by the pieces of one batch; a context manager, because its rows may be in a temporary file."""

    def __init__(self, state: SeriesState, series: str, options: SourceOptions) -> None:
        self._state = state
        self._series = series
        self._options = options
        self._table = "" if options.reads_messages else options.table
        self._spool = BatchSpool(SCHEMAS[self._table] if self._table else MESSAGE_FRAMES)
        self._ended: list[pa.RecordBatch] = []
        self._keys = pa.array([], pa.string())
        self._index = ConnectionIndex(self._keys)

    def __enter__(self) -> _Advance:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.__exit__(None, None, None)

    def read(self, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            if piece.kind == "capture":
                self._capture(piece)
            elif piece.kind == "log":
                self._log(piece)
            elif piece.kind == "end":
                self._end()
            else:
                self._gone(piece)
        carry = self._state.carry
        self._forget_pairs(carry)
        if self._table != "captures":
            forget_files(carry, None if self._state.log is None else self._state.log[0])
            carry.sink.facts.refusals.clear()
            self._add(take_rows(carry))
        self._name_clients()

    def _forget_pairs(self, carry: TablesCarry) -> None:
        idle = self._options.stream.pairs_forgotten_after
        if idle is None or not carry.streams.packets:
            carry.streams.lives.keep_changes()
            return
        if isinstance(carry.streams.lives, PairCounts):  # the option is new, or the series
            carry.streams.lives = RecentPairs(round(idle * _SECOND_NS), carry.streams.lives)
        carry.streams.lives.forget(carry.streams.latest_ns)
        carry.streams.lives.keep_changes()

    def rows(self) -> Iterator[pa.RecordBatch]:
        if not self._table:
            yield from frame_rows(self._options)(iter(self._spool))
            return
        reading = self._options.reading
        check = self._table == "requests" and (reading.fails or reading.drops)
        at = self._spool.schema.get_field_index("client_key")
        for batch in self._spool:
            rows = batch
            if self._takes_keys:
                found = self._index.rows_of(batch.column("connection_id"))
                rows = batch.set_column(at, batch.schema.field(at), self._keys.take(found))
            yield checked(rows, self._options) if check else rows

    @property
    def _takes_keys(self) -> bool:
        return self._table not in ("", "captures", "connections")

    # Pieces.

    def _capture(self, piece: Piece) -> None:
        location = locate(piece.location, piece.head, piece.mark)
        if location is None:
            self._lose(piece, f"{piece.location} was removed or written over before it was read")
            return
        carry = self._state.carry
        try:
            for batches in iter_piece(location, carry, flush=False):
                self._add(batches)
        except InputError as error:
            if not self._options.ignore_corrupt_files:
                raise
            self._add(skip_piece(location, carry, error))
            return
        facts = carry.facts[-1]
        if facts is not None and location == piece.location and piece.stop is not None and facts.stored_bytes != piece.stop:
            text = f"{location} was written to while it was read: {piece.stop:,} bytes before, {facts.stored_bytes:,} then"
            self._lose(piece, f"{text}; a longer closedAfter waits for such files")

    def _log(self, piece: Piece) -> None:
        if not self._table:
            raise InputError(f"{piece.location} is a request log, which has no message bytes; only captures do")
        location = locate(piece.location, piece.head, piece.mark)
        if location is None:
            self._lose(piece, f"{piece.location} was removed or emptied before it was read from byte {piece.start:,} on")
            return
        number, lines = self._state.log or (None, 0)
        if not piece.start:
            number, lines = None, 0
        with open_range(location, piece.start, piece.stop) as part:
            place = self._drain(
                iter_log_part(cast("BinaryIO", part), self._state.carry, name=location, number=number, lines_before=lines, last=piece.last)
            )
            missing = part.left
        self._state.log = None if piece.last else place
        if missing:
            self._lose(piece, f"{location} was emptied while it was read: {missing:,} bytes are missing")

    def _gone(self, piece: Piece) -> None:
        if piece.kind == "late":
            text = f"{piece.location} belongs before data already read of {self._series}, and is skipped"
        elif piece.kind == "grown":
            text = f"{piece.location} has grown since it was read; data after byte {piece.start:,} is not read"
        else:
            text = f"{piece.location} was emptied, replaced or removed; data after byte {piece.start:,} is not read"
        self._add(skip_piece(piece.location, self._state.carry, InputError(f"{text}.")))
        if piece.kind == "lost":
            self._close_log()

    def _lose(self, piece: Piece, what: str) -> None:
        if self._options.stream.fail_on_data_loss:
            raise InputError(f"{what}; with the option failOnDataLoss=false the stream continues and records it in violations.")
        self._add(skip_piece(piece.location, self._state.carry, InputError(f"{what}.")))

    def _close_log(self) -> None:
        number, lines = self._state.log or (None, 0)
        if number is not None:
            carry = self._state.carry
            name = carry.sink.files[number]
            self._drain(iter_log_part(io.BytesIO(), carry, name=name, number=number, lines_before=lines, last=True))
        self._state.log = None

    def _end(self) -> None:
        """End the series: later files start with an empty state, except for the numbers of connections and lines."""
        state = self._state
        lines = None if state.log is None else state.log[1]
        self._close_log()
        batches, _facts = finish_series(state.carry)
        self._add(batches)
        after = _begin(self._series, self._options)
        after.count_on(state.carry)
        state.carry = after
        state.log = None if lines is None else (None, lines)

    def _drain(self, steps: Generator[Batches, None, Any]) -> Any:
        while True:
            try:
                self._add(next(steps))
            except StopIteration as end:
                return end.value

    # Rows.

    def _add(self, batches: Batches) -> None:
        if not self._table:
            for frames in self._state.carry.sink.messages.take(whole=True):
                self._spool.add(frames)
            return
        connections = batches.get("connections", ())
        self._ended += [batch.select(["connection_id", "client_key"]) for batch in connections]
        if self._table == "connections":
            connections = _with_nodes(connections, self._state.carry)
        for batch in connections if self._table == "connections" else batches.get(self._table, ()):
            self._spool.add(batch)

    def _name_clients(self) -> None:
        """Find the keys of all clients, and hold back rows of unknown clients."""
        if not self._takes_keys:
            return
        names: list[str | None] = []
        keys: list[str | None] = []
        unknown: list[str] = []
        for batch in self._ended:
            names += batch.column("connection_id").to_pylist()
            keys += batch.column("client_key").to_pylist()
        for connection_id, key, latest in _live(self._state.carry):
            names.append(connection_id)
            keys.append(key)
            if latest in _INTRODUCTIONS:
                unknown.append(connection_id)
        self._index, self._keys = ConnectionIndex(pa.array(names, pa.string())), pa.array(keys, pa.string())
        ready, held = BatchSpool(self._spool.schema), []
        for batch in (*self._state.held, *self._spool):
            waits: Any = pc.is_in(batch.column("connection_id"), pa.array(unknown, pa.string()))
            count = pc.sum(waits).as_py() or 0
            if count:
                held.append(batch.filter(waits))
            if count < len(batch):
                ready.add(batch.filter(pc.invert(waits)) if count else batch)
        self._spool.__exit__(None, None, None)
        self._spool, self._state.held = ready, held


def _with_nodes(connections: Iterable[pa.RecordBatch], carry: TablesCarry) -> list[pa.RecordBatch]:
    batches = list(connections)
    if not batches:
        return []
    carry.sink.settle()
    return with_nodes(pa.Table.from_batches(batches), carry.sink.facts.node_of).to_batches()


def _live(carry: TablesCarry) -> Iterator[tuple[str, str, str | None]]:
    """Yield id, current client key and latest API of each open connection."""
    for connection in carry.streams.connections():
        tracked = tracked_on(connection)
        if tracked is not None and tracked.connection_id is not None:
            summary = tracked.detector.summary()
            yield tracked.connection_id, tracked.client_key(connection, summary), summary.last_api_name
    for each in carry.log.live.values():
        yield each.connection_id, each.client_key(), each.last_api_name
