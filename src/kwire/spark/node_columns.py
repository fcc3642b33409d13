"""Column `node_id` of `connections`, filled in at the end: which node a server is, only all series together know.

Tasks write the column empty. The driver then reads the connections part by part and writes those parts anew in which something is to be
said; parts of an earlier run too, when it has become known since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from kwire.analysis.partials import Partial, node_ids
from kwire.capture.file_systems import reason_of
from kwire.errors import InputError
from kwire.spark.parts import PartWriter, output_place, written_place
from kwire.tables import SCHEMAS
from kwire.tables.node_ids import with_nodes

__all__ = ["fill_node_ids"]

_TABLE = "connections"


def fill_node_ids(
    location: str, partial: Partial, fresh: Iterable[str], kept: Iterable[str], shown: Callable[[str], str] = str
) -> list[str]:
    """Fill in the column, part by part.

    Args:
        location: the output folder, path or URI.
        partial: merged parts of all series.
        fresh: parts of this run, `TABLE/NAME`; those of `connections` are looked at.
        kept: published parts that stay.
        shown: gives an address as it stands in the parts, where they are redacted.

    Returns:
        Parts of `kept` that were written in their new form.
    """
    nodes = _nodes(partial, shown)

    def node_of(address: str, port: int) -> int | None:
        return nodes.get((address, port))

    again = []
    for is_fresh, parts in ((True, fresh), (False, kept)):
        for part in parts:
            table, _, name = part.partition("/")
            if table != _TABLE:
                continue
            rows = _read(location, part, is_fresh)
            filled = with_nodes(rows, node_of)
            if filled.column("node_id").equals(rows.column("node_id")):
                continue
            _write(location, name, filled)
            if not is_fresh:
                again.append(part)
    return again


def _read(location: str, part: str, is_fresh: bool) -> pa.Table:
    filesystem, path = written_place(location, part) if is_fresh else output_place(location)
    try:
        with filesystem.open_input_file(path if is_fresh else f"{path}/{part}") as file:
            return pq.read_table(file, columns=SCHEMAS[_TABLE].names).cast(SCHEMAS[_TABLE])
    except OSError as error:
        raise InputError(f"{part} in {location} cannot be read: {reason_of(error)}.") from error


def _nodes(partial: Partial, shown: Callable[[str], str]) -> Mapping[tuple[str, int], int]:
    """The node of each server that was talked to, by address as shown and port."""
    node_of = node_ids(partial)
    found = {}
    for server in partial["servers"].column("server").to_pylist():
        address, _, port = str(server).rpartition(":")
        node = node_of(address, int(port))
        if node is not None:
            found[shown(address), int(port)] = node
    return found


def _write(location: str, name: str, rows: pa.Table) -> None:
    with PartWriter(location, _TABLE, name, SCHEMAS[_TABLE]) as part:
        for batch in rows.to_batches():
            part.write(batch)
