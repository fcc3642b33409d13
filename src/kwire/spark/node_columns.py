"""Column `node_id` of `connections`, filled in at the end: which node a server is, only all series together know.

Tasks write the column empty. Those of the last step (`kwire.spark.finish_task`) read the connections part by part and write those parts
anew in which something is to be said; parts of an earlier run too, when it has become known since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kwire.analysis.partials import Partial, node_ids
from kwire.capture.file_systems import has_rename
from kwire.spark.parts import PartWriter, opened_part, output_place, part_batches
from kwire.tables import SCHEMAS
from kwire.tables.schemas import INT, TEXT

__all__ = ["fill_node_ids"]

_TABLE: Final = "connections"
_SERVER: Final = ("server_address", "server_port", "node_id")


def fill_node_ids(location: str, partial: Partial, parts: Iterable[tuple[str, bool]], shown: Callable[[str], str] = str) -> list[str]:
    """Fill in the column, part by part.

    Args:
        location: the output folder, path or URI.
        partial: merged sums of all series; `nodes` and `servers` are needed.
        parts: of the table, `connections/NAME`, each with whether this run wrote it; those of an earlier run are published.
        shown: gives an address as it stands in the parts, where they are redacted.

    Returns:
        Parts of an earlier run that were written in their new form.

    Raises:
        InputError: a part cannot be read, or the folder cannot be written.
    """
    nodes = _nodes(partial, shown)
    again = []
    for part, is_fresh in parts:
        with opened_part(location, part, is_fresh) as file:
            if _is_filled(file, nodes):
                continue
            name = part.partition("/")[2]
            batches: Iterable[pa.RecordBatch] = part_batches(file, _TABLE, SCHEMAS[_TABLE].names)
            if not has_rename(output_place(location)[0]):
                batches = list(batches)  # a part is written where it lies
            with PartWriter(location, _TABLE, name, SCHEMAS[_TABLE]) as written:
                for rows in batches:
                    written.write(_filled(rows, nodes))
        if not is_fresh:
            again.append(part)
    return again


def _is_filled(file: pq.ParquetFile, nodes: pa.Table) -> bool:
    """Whether a part says of all its servers what is known of them."""
    return all(_node_ids(rows, nodes).equals(rows.column("node_id")) for rows in part_batches(file, _TABLE, _SERVER))


def _filled(rows: pa.RecordBatch, nodes: pa.Table) -> pa.RecordBatch:
    return rows.set_column(rows.schema.get_field_index("node_id"), rows.schema.field("node_id"), _node_ids(rows, nodes))


def _node_ids(rows: pa.RecordBatch, nodes: pa.Table) -> Any:
    """The node of each connection's server, by address and port."""
    colon: Any = ":"
    port: Any = rows.column("server_port").cast(TEXT)
    servers = pc.binary_join_element_wise(rows.column("server_address"), port, colon)
    at = pc.index_in(servers, value_set=nodes.column("server").combine_chunks())
    return nodes.column("node_id").combine_chunks().take(at)


def _nodes(partial: Partial, shown: Callable[[str], str]) -> pa.Table:
    """The node of each server that was talked to, by address as shown and port."""
    node_of = node_ids(partial)
    found = {}
    for server in partial["servers"].column("server").to_pylist():
        address, _, port = str(server).rpartition(":")
        node = node_of(address, int(port))
        if node is not None:
            found[f"{shown(address)}:{port}"] = node
    return pa.table({"server": pa.array(list(found), TEXT), "node_id": pa.array(list(found.values()), INT)})
