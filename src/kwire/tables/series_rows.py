"""All rows of one series: runs the fold, then fills in what only its end tells, the client keys and the node ids.

Memory stays bounded however long the series is: rows of `requests` and `violations` wait in a spool, those of `connections` in memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.errors import InputError
from kwire.tables.batch_spool import BatchSpool
from kwire.tables.observed_rows import OBSERVED
from kwire.tables.schemas import CAPTURES, CONNECTIONS, REQUESTS, ROW_TABLES, VIOLATIONS
from kwire.tables.series import Batches, TablesCarry, begin_series, finish_series, read_piece, skip_piece

__all__ = ["SeriesRows", "check_table", "from_capture", "read_series", "with_nodes"]

_SPOOLED: Final[dict[str, pa.Schema]] = {"requests": REQUESTS, "violations": VIOLATIONS, **OBSERVED}

Location = str | os.PathLike[str] | BinaryIO


class SeriesRows:
    """The rows of a series that was read to its end; a context manager, since they may lie in a temporary file.

    Attributes:
        series: its name.
        captures, connections: whole tables.
        facts: `advertised`, `nodes` and `refusals` (`kwire.tables.facts`).
        skipped: the files that could not be read, with why.
    """

    def __init__(self, series: str) -> None:
        self.series = series
        self.captures = CAPTURES.empty_table()
        self.connections = CONNECTIONS.empty_table()
        self.facts: dict[str, pa.Table] = {}
        self.skipped: list[tuple[str, InputError]] = []
        self._spools = {name: BatchSpool(schema) for name, schema in _SPOOLED.items()}
        self._connections: list[pa.RecordBatch] = []

    def __enter__(self) -> SeriesRows:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for spool in self._spools.values():
            spool.__exit__(kind, error, trace)

    def batches(self, table: str) -> Iterator[pa.RecordBatch]:
        """Give the rows of a table of `kwire.tables.ROW_TABLES`, of `topic_use` or `group_steps`, in the order they were read; as often as
        asked.
        """
        if table == "captures":
            yield from self.captures.to_batches()
        elif table == "connections":
            yield from self.connections.to_batches()
        else:
            ids = self.connections.column("connection_id").combine_chunks()
            keys = self.connections.column("client_key").combine_chunks()
            for batch in self._spools[table]:
                if table == "topic_use":  # it has no client key of its own
                    yield batch
                    continue
                at = batch.schema.get_field_index("client_key")
                found = pc.index_in(batch.column("connection_id"), value_set=ids)
                yield batch.set_column(at, batch.schema.field(at), keys.take(found))

    def table(self, name: str) -> pa.Table:
        """Give all rows of a table at once."""
        schemas = {"captures": CAPTURES, "connections": CONNECTIONS, **_SPOOLED}
        return pa.Table.from_batches(self.batches(name), schema=schemas[name])

    def _add(self, batches: Batches) -> None:
        self._connections += batches.get("connections", ())
        for name, spool in self._spools.items():
            for batch in batches.get(name, ()):
                spool.add(batch)

    def _finish(self, carry: TablesCarry) -> None:
        batches, self.facts = finish_series(carry)
        self._add(batches)
        self.captures = pa.Table.from_batches(batches["captures"], schema=CAPTURES)
        connections = pa.Table.from_batches(self._connections, schema=CONNECTIONS)
        self._connections = []
        self.connections = with_nodes(connections, carry.sink.facts.node_of)


def read_series(
    locations: Sequence[Location],
    series: str = "",
    ports: Iterable[int] = (),
    *,
    disorder: str = "",
    log_zone: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> SeriesRows:
    """Read a series to its end.

    Args:
        locations: its files in order: paths, URIs or binary streams.
        series: name of the capture point, as it stands in the rows.
        ports: TCP ports where brokers listen; empty to find them out.
        disorder: a sentence where the order of the files is in doubt.
        log_zone: time zone of request logs, such as ``Europe/Berlin``; None for UTC.
        progress: told how many bytes were read since it was told last.

    Returns:
        The rows, to be used as a context manager. A file that cannot be read is left out, with a row in `violations`.

    Raises:
        InputError: no file of the series could be read; the reason is that of the first.
    """
    carry = begin_series(series, ports, disorder=disorder, log_zone=log_zone)
    rows = SeriesRows(series)
    for location in locations:
        try:
            rows._add(read_piece(location, carry, progress=progress))
        except InputError as error:
            name = os.fspath(location) if isinstance(location, str | os.PathLike) else "standard input"
            rows.skipped.append((name, error))
            rows._add(skip_piece(name, carry, error))
    if rows.skipped and len(rows.skipped) == len(locations):
        raise rows.skipped[0][1]
    rows._finish(carry)
    return rows


def from_capture(path: Location, table: str = "requests", ports: Iterable[int] | None = None) -> pa.Table:
    """Read one capture file into the rows of one table, no Spark.

    Args:
        path: path, URI or binary stream of a pcap or pcapng file, plain, gzip or zstd.
        table: one of `kwire.tables.ROW_TABLES`.
        ports: TCP ports where brokers listen; None to find them out.

    Raises:
        InputError: there is no such file, it is no capture, or there is no such table.
    """
    check_table(table)
    name = os.path.basename(os.fspath(path)) if isinstance(path, str | os.PathLike) else "standard input"  # noqa: PTH119 - may be a URI
    with read_series([path], name, ports or ()) as rows:
        return rows.table(table)


def check_table(table: str) -> None:
    """Raise InputError unless a capture gives rows of this table."""
    if table not in ROW_TABLES:
        raise InputError(f"there is no table {table!r} in a capture; there are {', '.join(ROW_TABLES[:-1])} and {ROW_TABLES[-1]}")


def with_nodes(connections: pa.Table, node_of: Callable[[str, int], int | None]) -> pa.Table:
    """Fill column `node_id` with the nodes that listen at the servers' addresses."""
    columns: list[list[Any]] = [connections.column(name).to_pylist() for name in ("server_address", "server_port")]
    servers = list(zip(*columns, strict=True))
    known = {server: node_of(*server) for server in set(servers)}
    at = CONNECTIONS.get_field_index("node_id")
    field = CONNECTIONS.field(at)
    return connections.set_column(at, field, pa.array([known[server] for server in servers], field.type))
