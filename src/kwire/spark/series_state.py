"""What one task leaves for the next run: enough to go on with its series when there are new files.

The carry of the series, as it was before the series was taken to be over; the sums of all connections that were over by then; and the rows
of the others that are in no table (steps of groups). The rest of the others' rows stands in the tables, in parts named `open-...`.
The carry is a pickle: go on only with folders that you wrote.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

import kwire
from kwire.analysis.partials import Partial, from_bytes, to_bytes
from kwire.capture.file_systems import reason_of
from kwire.errors import InputError
from kwire.spark.output import STATE
from kwire.spark.parts import output_place

__all__ = ["SeriesState", "blob_of_table", "read_part", "read_state", "state_blob", "table_of_blob"]

_VERSION: Final = 4


@dataclass(frozen=True, slots=True)
class SeriesState:
    """The state of one task.

    Attributes:
        carry: of the series (`kwire.tables.SeriesRows.state`).
        settled: sums of the connections that are over.
        still: sums of the others, as if the series were over.
        waiting: rows of open connections, of tables that are not written.
    """

    carry: bytes
    settled: Partial
    still: Partial
    waiting: Mapping[str, pa.Table]

    def to_bytes(self) -> bytes:
        """Pack it."""
        tables = {name: blob_of_table(table) for name, table in self.waiting.items()}
        return pickle.dumps((_VERSION, kwire.__version__, self.carry, to_bytes(self.settled), to_bytes(self.still), tables))


def blob_of_table(table: pa.Table) -> bytes:
    """Pack the rows of a table."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def read_state(location: str, name: str) -> SeriesState:
    """Read what an earlier run left.

    Args:
        location: the output folder, path or URI.
        name: of the state in it.

    Raises:
        InputError: it is not there, or another version of kwire wrote it.
    """
    _, _, carry, settled, still, tables = state_blob(location, name, _VERSION)
    waiting = {table: table_of_blob(data) for table, data in tables.items()}
    return SeriesState(carry, from_bytes(settled), from_bytes(still), waiting)


def table_of_blob(data: bytes) -> pa.Table:
    """Unpack what `blob_of_table` packed."""
    return pa.ipc.open_stream(data).read_all()


def state_blob(location: str, name: str, version: int) -> Any:
    """Read a pickled state: a tuple of its version, that of kwire, and what it holds.

    Args:
        location: the output folder, path or URI.
        name: of the state in it.
        version: that the state must have.

    Raises:
        InputError: it is not there, or another version of kwire wrote it.
    """
    filesystem, path = output_place(location)
    try:
        with filesystem.open_input_stream(f"{path}/{STATE}/{name}", compression=None) as file:
            found = pickle.loads(file.read())
    except OSError as error:
        raise InputError(f"{location} cannot be appended to: {reason_of(error)}; use --overwrite.") from error
    if found[:2] != (version, kwire.__version__):
        raise InputError(f"{location} was written by kwire {found[1]}, which this version cannot append to; use --overwrite.")
    return found


def read_part(location: str, table: str, name: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Give the rows of a part of a table in an output folder."""
    filesystem, path = output_place(location)
    with filesystem.open_input_file(f"{path}/{table}/{name}") as file:
        batches: Iterable[pa.RecordBatch] = pq.ParquetFile(file).iter_batches()
        for batch in batches:
            columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)
