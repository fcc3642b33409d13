"""What one task leaves for the next run: enough to go on with its series when there are new files.

The carry of the series, as it was before the series was taken to be over; the sums of the connections that were over by then and are in no
file that stays (`kwire.spark.sums_files`); and the rows of the others that are in no table (steps of groups). The rest of the others' rows
stands in the tables, in parts named `open-...`. The carry is a pickle: go on only with folders that you wrote.

In the file the sums come first, those of connections that were over and those of the others, each as a file of sums; then the rest; then
how long the three are, 8 bytes each.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

import kwire
from kwire.analysis.partials import Partial
from kwire.capture.file_systems import reason_of
from kwire.errors import InputError
from kwire.spark.parts import STATE, output_place, write_blob
from kwire.spark.sums_files import SumsFile, pack_sums, read_all_sums

__all__ = ["STATE_VERSION", "SeriesState", "is_state", "read_part", "read_state", "sums_of_state", "write_state"]

STATE_VERSION: Final = 8
"""Of the form of a state, and of sums."""

_LENGTHS: Final = struct.Struct("<3q")


@dataclass(frozen=True, slots=True)
class SeriesState:
    """The state of one task.

    Attributes:
        carry: of the series (`kwire.tables.SeriesRows.state`).
        settled: sums of the connections that are over and in no file that stays.
        waiting: rows of open connections, of tables that are not written.
    """

    carry: bytes
    settled: Partial
    waiting: Mapping[str, pa.Table]


def write_state(location: str, name: str, state: SeriesState, still: Partial) -> list[SumsFile]:
    """Write a state; gives the two files with sums inside.

    Args:
        location: the output folder, path or URI.
        name: of the file, below `_state`.
        state: what to go on from.
        still: sums of the connections that are open, as if the series were over; the next run counts them again.

    Raises:
        InputError: the folder cannot be written, the disk is full.
    """
    tables = {table: _stream(rows) for table, rows in state.waiting.items()}
    rest = pickle.dumps((STATE_VERSION, kwire.__version__, state.carry, tables))
    sections = [pack_sums(state.settled), pack_sums(still), rest]
    lengths = [len(section) for section in sections]
    write_blob(location, STATE, name, b"".join([*sections, _LENGTHS.pack(*lengths)]))
    return _sums(f"{STATE}/{name}", True, lengths)


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def is_state(part: str) -> bool:
    """Whether a part, `TABLE/NAME`, is the state of a task."""
    return part.startswith(f"{STATE}/state-")


def sums_of_state(location: str, part: str) -> list[SumsFile]:
    """Give the two files with sums in a state that an earlier run left.

    Raises:
        InputError: it is not there.
    """
    with _opened(location, part) as file:
        return _sums(part, False, _lengths(file))


def _sums(part: str, is_fresh: bool, lengths: Sequence[int]) -> list[SumsFile]:
    settled, still, _ = lengths
    return [SumsFile(part, is_fresh, settled), SumsFile(part, is_fresh, still, settled)]


def _lengths(file: Any) -> tuple[int, ...]:
    found: tuple[int, ...] = _LENGTHS.unpack(file.read_at(_LENGTHS.size, file.size() - _LENGTHS.size))
    return found


@contextmanager
def _opened(location: str, part: str) -> Iterator[Any]:
    filesystem, path = output_place(location)
    try:
        with filesystem.open_input_file(f"{path}/{part}") as file:
            yield file
    except OSError as error:
        raise InputError(f"{location} cannot be appended to: {reason_of(error)}; use --overwrite.") from error


def read_state(location: str, name: str) -> SeriesState:
    """Read what an earlier run left.

    Args:
        location: the output folder, path or URI.
        name: of the state in it.

    Raises:
        InputError: it is not there, or another version of kwire wrote it.
    """
    part = f"{STATE}/{name}"
    with _opened(location, part) as file:
        lengths = _lengths(file)
        found = pickle.loads(file.read_at(lengths[2], lengths[0] + lengths[1]))
    if found[:2] != (STATE_VERSION, kwire.__version__):
        raise InputError(f"{location} was written by kwire {found[1]}, which this version cannot append to; use --overwrite.")
    _, _, carry, tables = found
    waiting = {table: pa.ipc.open_stream(data).read_all() for table, data in tables.items()}
    return SeriesState(carry, read_all_sums(location, _sums(part, False, lengths)[0]), waiting)


def read_part(location: str, table: str, name: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Give the rows of a part of a table in an output folder."""
    filesystem, path = output_place(location)
    with filesystem.open_input_file(f"{path}/{table}/{name}") as file:
        batches: Iterable[pa.RecordBatch] = pq.ParquetFile(file).iter_batches()
        for batch in batches:
            columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)
