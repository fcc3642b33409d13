"""Rows of a capture while it is being read, for pipes: ``tcpdump -w - | kwire inspect -``.

Client keys and node ids have their current values; the analysis uses their values at the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import BinaryIO, Final

import pyarrow as pa

from kwire.errors import InputError
from kwire.tables.node_ids import with_nodes
from kwire.tables.row_sink import tracked_on
from kwire.tables.series import Batches, TablesCarry, begin_series, finish_series, iter_piece, skip_piece
from kwire.tables.series_rows import check_table

__all__ = ["iter_capture", "iter_pieces"]

_IPV4_END: Final = 6  # bytes of an address and a port


def iter_capture(
    source: str | os.PathLike[str] | BinaryIO, table: str = "requests", ports: Iterable[int] | None = None, *, log_zone: str | None = None
) -> Iterator[pa.RecordBatch]:
    """Read one capture, and yield the rows of one table as they are made.

    Args:
        source: path, URI or binary stream of a pcap or pcapng file or a request log, plain, gzip or zstd.
        table: `captures`, `connections`, `requests` or `violations`.
        ports: TCP ports of brokers; None to detect them.
        log_zone: time zone of a request log, such as ``Europe/Berlin``; None for UTC.

    Raises:
        InputError: the file or table does not exist, or the file is not a capture.
    """
    name = os.path.basename(os.fspath(source)) if isinstance(source, str | os.PathLike) else "standard input"  # noqa: PTH119 - may be a URI
    for batches in iter_pieces([source], name, (table,), ports, log_zone=log_zone):
        yield from batches[table]


def iter_pieces(
    sources: Sequence[str | os.PathLike[str] | BinaryIO],
    series: str,
    tables: Iterable[str] = ("requests",),
    ports: Iterable[int] | None = None,
    *,
    log_zone: str | None = None,
    disorder: str = "",
    silent_ns: int | None = None,
    keyed: bool = True,
) -> Iterator[Batches]:
    """Read the files of one group in their order, and yield the rows of some tables as they come.

    Args:
        sources: files, each as for `iter_capture`; one of several that cannot be read is a row in `violations`.
        series: name of the file group.
        tables: some of `captures`, `connections`, `requests`, `telemetry` and `violations`.
        ports, log_zone: as in `iter_capture`.
        disorder: sentence for the user if names and times of the files give different orders, else empty.
        silent_ns: capture time without packets after which a connection is ended, up to a quarter later; None for never. An endless input
            needs it, because connections with missing ends would fill the memory.
        keyed: whether to fill in `client_key`, which scans all open connections for each batch.

    Raises:
        InputError: as in `iter_capture`, or none of several files can be read.
    """
    wanted = tuple(tables)
    for table in wanted:
        check_table(table)
    carry = begin_series(series, ports or (), disorder=disorder, log_zone=log_zone)
    swept_ns = carry.streams.latest_ns
    faults: list[InputError] = []
    for source in sources:
        try:
            for batches in iter_piece(source, carry):
                yield {table: list(_rows(table, batches, carry, keyed)) for table in wanted}
                if silent_ns is not None and carry.streams.latest_ns - swept_ns >= silent_ns // 4:
                    swept_ns = carry.streams.latest_ns
                    carry.streams.end_silent(swept_ns - silent_ns, carry.sink)
        except InputError as error:
            faults.append(error)
            if len(faults) == len(sources):
                raise
            batches = skip_piece(str(source), carry, error)
            yield {table: list(_rows(table, batches, carry, keyed)) for table in wanted}
    batches, _facts = finish_series(carry)
    yield {table: list(_rows(table, batches, carry, keyed)) for table in wanted}


def _rows(table: str, batches: Batches, carry: TablesCarry, keyed: bool) -> Iterator[pa.RecordBatch]:
    found = batches.get(table, [])
    if table == "captures" or not found or not (keyed or table == "connections"):
        yield from found
        return
    if table == "connections":
        yield from with_nodes(pa.Table.from_batches(found), carry.sink.facts.node_of).to_batches()
        return
    keys = {row["connection_id"]: row["client_key"] for batch in batches["connections"] for row in batch.to_pylist()}
    wanted = {pair for batch in found for name in batch.column("connection_id").unique().to_pylist() for pair in _pairs_of(name)}
    for connection in carry.streams.connections():
        tracked = tracked_on(connection) if connection.key in wanted else None
        if tracked is not None and tracked.connection_id is not None:
            keys[tracked.connection_id] = tracked.client_key(connection)
    keys |= carry.log.client_keys()
    for batch in found:
        at = batch.schema.get_field_index("client_key")
        column = pa.array([keys.get(connection_id) for connection_id in batch.column("connection_id").to_pylist()], pa.string())
        yield batch.set_column(at, batch.schema.field(at), column)


def _pairs_of(connection_id: str | None) -> Iterator[bytes]:
    server, _, rest = (connection_id or "").partition("-")
    with suppress(ValueError):
        ends = [_packed(end) for end in (server, rest.rpartition("-")[0])]
        version = b"\x04" if len(ends[0]) == _IPV4_END else b"\x06"
        yield from (version + ends[0] + ends[1], version + ends[1] + ends[0])


def _packed(end: str) -> bytes:
    address, _, port = end.rpartition(":")
    return ip_address(address).packed + int(port).to_bytes(2, "big")
