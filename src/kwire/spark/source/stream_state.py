"""States of a stream: the state of each series and batch that the next batch continues from.

Pairs of endpoints, the largest part of a state, are written as changes: immutable blocks are in separate files, named by the hash of their
bytes, and states refer to them (`kwire.capture.dividing.pair_counts`). A state depends only on the files read, so a repeated batch writes
the same state. This makes the stream exactly-once even if the driver is killed, provided that files are written atomically. States are
plain data (`kwire.tables.carry_state`), because the folder is untrusted.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec
import pyarrow as pa

import kwire
from kwire.errors import InputError
from kwire.files.file_systems import filesystem_of, has_rename, reason_of
from kwire.files.private_files import make_private, write_private
from kwire.tables.carry_state import block_name, pack_carry, unpack_carry
from kwire.tables.series import TablesCarry
from kwire.tables.state_records import BadState, check_form, read_rows, reading_state, record_of, records_of, written_rows

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = ["SeriesState", "StateFolder"]

_FORM: Final = "kwire stream state 3"
_HEAD_BYTES: Final = 1 << 20  # more than the names of blocks take, some 40 bytes for each 65,536 pairs
# with a dot before and a process id behind while it is written
_NAME: Final = re.compile(r"\.?([0-9a-f]{16})-([0-9]{10})(?:-[0-9]+)?")


class _Head(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    form: str
    version: str
    blocks: list[bytes]


class _Rest(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    log: tuple[int | None, int] | None
    held: list[bytes]
    carry: bytes


@dataclass(slots=True)
class SeriesState:
    """State of a series after a batch.

    `log` has the number of the followed request log (None if not assigned yet) and its lines read; None without a log. Rows `held` belong
    to connections with unknown clients.
    """

    carry: TablesCarry
    log: tuple[int | None, int] | None = None
    held: list[pa.RecordBatch] = field(default_factory=list)


class StateFolder:
    """States of one stream, in the folder of the option `stateLocation`."""

    def __init__(self, location: str, stream: str) -> None:
        self._location = location
        self._stream = stream

    def _place(self) -> tuple[FileSystem, str]:
        filesystem, path = filesystem_of(self._location)
        return filesystem, f"{path.rstrip('/')}/kwire-{self._stream}"

    def read(self, series: str, version: int, schema: pa.Schema | None = None) -> SeriesState:
        """Read a state; `schema` is that of the rows it may hold."""
        filesystem, folder = self._place()
        key = _key(series)
        try:
            with reading_state():
                records = records_of(_content(filesystem, f"{folder}/{_name(series, version)}"))
                head = _head_of(records)
                blocks = {name: _content(filesystem, f"{folder}/{_block_file(key, name)}") for name in head.blocks}
                if [name for name, block in blocks.items() if block_name(block) != name]:
                    raise BadState("a block of pairs is damaged")
                rest = msgspec.msgpack.decode(next(records, b""), type=_Rest)
                carry = unpack_carry(rest.carry, blocks)
                held = [batch for rows in rest.held for batch in read_rows(rows, schema).to_batches()]
        except OSError as error:
            raise InputError(
                f"the state of {series} after batch {version} cannot be read from {self._location} ({reason_of(error)}); without it the "
                "stream must start with a new checkpoint"
            ) from error
        except BadState as error:
            raise InputError(
                f"the state of {series} after batch {version} in {self._location} is invalid: {error}; start with a new checkpoint"
            ) from error
        return SeriesState(carry, rest.log, held)

    def write(self, series: str, version: int, state: SeriesState) -> None:
        from pyarrow.fs import FileType

        filesystem, folder = self._place()
        blocks: dict[bytes, bytes] = {}
        carry = b"".join(pack_carry(state.carry, blocks))
        rest = _Rest(state.log, [written_rows(pa.Table.from_batches([batch])) for batch in state.held], carry)
        head = _Head(_FORM, kwire.__version__, list(blocks))
        data = record_of(msgspec.msgpack.encode(head)) + record_of(msgspec.msgpack.encode(rest))
        try:
            make_private(filesystem, folder)
            for block, content in blocks.items():
                name = _block_file(_key(series), block)
                if filesystem.get_file_info(f"{folder}/{name}").type == FileType.NotFound:
                    _leave(filesystem, folder, name, content)
            _leave(filesystem, folder, _name(series, version), data)
        except OSError as error:
            raise InputError(f"the state of the stream cannot be written to {self._location}: {reason_of(error)}.") from error

    def has(self, series: str, version: int) -> bool:
        from pyarrow.fs import FileType

        filesystem, folder = self._place()
        return bool(filesystem.get_file_info(f"{folder}/{_name(series, version)}").type == FileType.File)

    def forget(self, oldest: dict[str, int]) -> None:
        """Remove unneeded states and blocks; `oldest` has the oldest needed version of each series."""
        from pyarrow.fs import FileSelector

        filesystem, folder = self._place()
        wanted = {_key(series): version for series, version in oldest.items()}
        gone: dict[str, list[str]] = {}
        kept: dict[str, list[str]] = {}
        for info in filesystem.get_file_info(FileSelector(folder, allow_not_found=True)):
            found = _NAME.fullmatch(info.base_name)
            if found is not None:
                (gone if int(found[2]) < wanted.get(found[1], 0) else kept).setdefault(found[1], []).append(info.path)
        for key, paths in gone.items():
            unwanted: set[bytes] = set()
            with suppress(OSError, BadState):  # of a file that is not whole nothing is known, and nothing goes
                unwanted = set().union(*(_blocks_of(filesystem, path) for path in paths))
                unwanted -= set().union(*(_blocks_of(filesystem, path) for path in kept.get(key, ())))
            # blocks before the states that name them: if this is cut short, they are found again
            for path in (*(f"{folder}/{_block_file(key, block)}" for block in sorted(unwanted)), *paths):
                with suppress(FileNotFoundError):
                    filesystem.delete_file(path)


def _content(filesystem: FileSystem, path: str) -> bytes:
    with filesystem.open_input_stream(path, compression=None) as file:
        data: bytes = file.read()
        return data


def _leave(filesystem: FileSystem, folder: str, name: str, data: bytes) -> None:
    """Write a file atomically."""
    renames = has_rename(filesystem)  # elsewhere a file is seen when it is closed
    written = f"{folder}/.{name}-{os.getpid()}" if renames else f"{folder}/{name}"
    write_private(filesystem, written, data)
    if renames:
        filesystem.move(written, f"{folder}/{name}")


def _blocks_of(filesystem: FileSystem, path: str) -> set[bytes]:
    with filesystem.open_input_stream(path, compression=None) as file, reading_state():
        return set(_head_of(records_of(file.read(_HEAD_BYTES))).blocks)


def _head_of(records: Iterator[memoryview]) -> _Head:
    head = msgspec.msgpack.decode(next(records, b""), type=_Head)
    check_form(head.form, _FORM, head.version)
    return head


def _block_file(key: str, block: bytes) -> str:
    return f"{key}-{block.hex()}.pairs"


def _key(series: str) -> str:
    return hashlib.blake2b(series.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def _name(series: str, version: int) -> str:
    return f"{_key(series)}-{version:010d}"
