"""State of a task from which the next run continues its series with new files.

It holds the carries of the series before their end; the sums of closed connections that are not in a lasting file
(`kwire.runs.sums_files`); and rows of open connections that are not in a table (steps of groups). Other rows of open connections are in
parts named `open-...`. The state is plain data (`kwire.tables.carry_state`), because the folder is untrusted.

The file holds the sums of closed and of open connections, each as a file of sums; then the rest; then the three lengths, 8 bytes each, and
the format version.
"""

from __future__ import annotations

import importlib.util
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

import kwire
from kwire.analysis.partials import Partial
from kwire.errors import InputError
from kwire.files.file_systems import reason_of
from kwire.runs.parts import STATE, output_place, write_blob
from kwire.runs.sums_files import SumsFile, pack_sums, read_all_sums
from kwire.tables.series import TablesCarry
from kwire.tables.series_rows import SPOOLED
from kwire.tables.state_records import (
    MOST_RECORD_BYTES,
    BadState,
    packed,
    read_rows,
    reading_state,
    record_of,
    records_of,
    unpacked,
    written_rows,
)

__all__ = [
    "STATE_VERSION",
    "SeriesState",
    "has_states",
    "is_state",
    "read_state",
    "resumed",
    "sums_of_state",
    "write_state",
]

STATE_VERSION: Final = 10
"""Format version of states and sums."""

_MOST_BYTES: Final = 1 << 36
_END: Final = struct.Struct("<3q8s")
_FORM: Final = b"kwstat10"


@dataclass(frozen=True, slots=True)
class SeriesState:
    """State of one task; `waiting` has rows of open connections that are not in a table, by series and table."""

    carries: dict[str, bytes]
    settled: Partial
    waiting: dict[str, dict[str, pa.Table]]


_Rest = tuple[str, int, bytes]  # version of kwire; carries and waiting rows: size, and as they are compressed
_Held = tuple[dict[str, bytes], dict[str, dict[str, bytes]]]
_CODEC: Final = "zstd"


def has_states() -> bool:
    """Return whether this Python can read and write states, which --append needs."""
    return importlib.util.find_spec("msgspec") is not None


def write_state(location: str, name: str, state: SeriesState, still: Partial) -> list[SumsFile]:
    """Write a state, and return its two files with sums; the next run counts the open connections of `still` again."""
    waiting = {series: {table: written_rows(rows) for table, rows in tables.items()} for series, tables in state.waiting.items()}
    data = packed((state.carries, waiting))
    rest: _Rest = kwire.__version__, len(data), pa.compress(data, _CODEC, asbytes=True)  # carries of small series are much alike
    sections = [pack_sums(state.settled), pack_sums(still), record_of(packed(rest))]
    lengths = [len(section) for section in sections]
    write_blob(location, STATE, name, *sections, _END.pack(*lengths, _FORM))
    return _sums(f"{STATE}/{name}", True, lengths)


def is_state(part: str) -> bool:
    return part.startswith(f"{STATE}/state-")


def sums_of_state(location: str, part: str) -> list[SumsFile]:
    """Return the two files with sums in a state of an earlier run."""
    with _opened(location, part) as file:
        return _sums(part, False, _lengths(file))


def _sums(part: str, is_fresh: bool, lengths: Sequence[int]) -> list[SumsFile]:
    settled, still, _ = lengths
    return [SumsFile(part, is_fresh, settled), SumsFile(part, is_fresh, still, settled)]


def _lengths(file: Any) -> tuple[int, ...]:
    size = file.size()
    *lengths, form = _END.unpack(file.read_at(_END.size, max(size - _END.size, 0)))
    if form != _FORM or min(lengths) < 0 or sum(lengths) + _END.size != size or size > _MOST_BYTES:
        raise BadState("it is truncated, damaged, or written by another version of kwire")
    return tuple(lengths)


@contextmanager
def _opened(location: str, part: str) -> Iterator[Any]:
    filesystem, path = output_place(location)
    try:
        with _refusing(location, part.partition("/")[2]), filesystem.open_input_file(f"{path}/{part}") as file:
            yield file
    except OSError as error:
        raise InputError(f"the state in {location} cannot be read: {reason_of(error)}; use --overwrite and its captures.") from error


@contextmanager
def _refusing(location: str, name: str) -> Iterator[None]:
    """Convert errors of an invalid state into one that names the state."""
    try:
        with reading_state():
            yield
    except BadState as error:
        raise InputError(f"{STATE}/{name} in {location} is not a valid state: {error}; use --overwrite and its captures.") from error


def read_state(location: str, name: str) -> SeriesState:
    """Read a state of an earlier run, by its name in the output folder."""
    part = f"{STATE}/{name}"
    with _opened(location, part) as file:
        lengths = _lengths(file)
        [record] = records_of(file.read_at(lengths[2], lengths[0] + lengths[1]))
        version, size, data = unpacked(record, _Rest)
        is_ours = version == kwire.__version__
        if not 0 <= size <= MOST_RECORD_BYTES:
            raise ValueError("a length in it is wrong")
        carries, tables = unpacked(pa.decompress(data, size, _CODEC), _Held) if is_ours else ({}, {})
        waiting = {name: {table: read_rows(rows, SPOOLED[table]) for table, rows in found.items()} for name, found in tables.items()}
    if not is_ours:
        raise InputError(f"{location} was written by kwire {version}, which this version cannot append to; use --overwrite.")
    return SeriesState(carries, read_all_sums(location, _sums(part, False, lengths)[0]), waiting)


def resumed(location: str, name: str, carry: bytes) -> TablesCarry:
    """Return the carry of a series from a state; location and name as in `read_state`."""
    from kwire.tables.carry_state import unpack_carry  # msgspec is loaded where states are

    with _refusing(location, name):
        return unpack_carry(carry)
