"""Columns that need all series and are filled in at the end: `node_id` of `connections`, and `client_key` if a key has changed.

Tasks write a row with the key of its connection and without a node. The last tasks read all parts, including those of earlier runs, and
rewrite those that change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kwire.analysis.partials import Partial, node_ids
from kwire.analysis.programs import KEYED, Moves, moved_rows
from kwire.files.file_systems import has_rename
from kwire.runs.parts import Part, PartWriter, opened_part, output_place, part_batches
from kwire.runs.workers import Workers, run_each
from kwire.tables import SCHEMAS
from kwire.tables.schemas import INT, TEXT

__all__ = ["fill_columns", "fill_late", "late_facts"]

_WHO: Final = ("client_key", "client_id")
_SERVER: Final = ("server_address", "server_port", "node_id")


def late_facts(whole: Partial, moves: Moves) -> str:
    """Return a hash of what the columns are filled in from; parts filled in from the same stay as they are."""
    nodes = _nodes(whole, str).to_pylist()
    return hashlib.sha256(repr((nodes, sorted(moves.items(), key=repr))).encode("utf-8", "surrogateescape")).hexdigest()


def fill_late(
    workers: Workers,
    out: str,
    whole: Partial,
    moves: Moves,
    parts: Iterable[Part],
    slots: int,
    shown: Callable[[str], str] = str,
) -> tuple[list[str], float]:
    """Fill in the columns; return parts of an earlier run that were rewritten, and CPU seconds.

    Only `nodes` and `servers` of `whole` are used; `shown` converts an address to its redacted form.
    """
    chosen = [part for part in parts if part[0].partition("/")[0] in (KEYED if moves else KEYED[:1])]
    count = min(slots, len(chosen))
    tasks = [chosen[at::count] for at in range(count)]
    again, seconds = run_each(workers, tasks, partial(fill_columns, out, _nodes(whole, shown), moves))
    return [part for parts in again for part in parts], seconds


def fill_columns(location: str, nodes: pa.Table, moves: Moves, parts: Iterable[Part]) -> list[str]:
    """Fill in the columns, part by part; return parts of an earlier run that were rewritten."""
    again = []
    for part, is_fresh in parts:
        table, _, name = part.partition("/")
        with opened_part(location, part, is_fresh) as file:
            if _is_filled(file, table, nodes, moves):
                continue
            batches: Iterable[pa.RecordBatch] = part_batches(file, table, SCHEMAS[table].names)
            if not has_rename(output_place(location)[0]):
                batches = list(batches)  # a part is rewritten in place
            with PartWriter(location, table, name, SCHEMAS[table]) as written:
                for rows in batches:
                    written.write(_filled(rows, nodes, moves))
        if not is_fresh:
            again.append(part)
    return again


def _is_filled(file: pq.ParquetFile, table: str, nodes: pa.Table, moves: Moves) -> bool:
    columns = (*_WHO, *_SERVER) if table == KEYED[0] else _WHO
    return all(_filled(rows, nodes, moves).equals(rows) for rows in part_batches(file, table, columns))


def _filled(rows: pa.RecordBatch, nodes: pa.Table, moves: Moves) -> pa.RecordBatch:
    if "server_port" in rows.schema.names:
        rows = rows.set_column(rows.schema.get_field_index("node_id"), rows.schema.field("node_id"), _node_ids(rows, nodes))
    return moved_rows(rows, moves) if moves else rows


def _node_ids(rows: pa.RecordBatch, nodes: pa.Table) -> Any:
    colon: Any = ":"
    port: Any = rows.column("server_port").cast(TEXT)
    servers = pc.binary_join_element_wise(rows.column("server_address"), port, colon)
    at = pc.index_in(servers, value_set=nodes.column("server").combine_chunks())
    return nodes.column("node_id").combine_chunks().take(at)


def _nodes(partial: Partial, shown: Callable[[str], str]) -> pa.Table:
    node_of = node_ids(partial)
    found = {}
    for server in partial["servers"].column("server").to_pylist():
        address, _, port = str(server).rpartition(":")
        node = node_of(address, int(port))
        if node is not None:
            found[f"{shown(address)}:{port}"] = node
    return pa.table({"server": pa.array(list(found), TEXT), "node_id": pa.array(list(found.values()), INT)})
