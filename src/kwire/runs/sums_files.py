"""Files with sums, written by the tasks that read captures and read by the tasks that finish the tables.

A file holds the undivided tables; a piece for each bucket (`kwire.analysis.key_buckets`); the end of each piece, 8 bytes; the CRC-32 of
these ends, and their number. A piece is a record (`kwire.tables.state_records`): its unpacked length in 8 bytes, and its contents,
compressed with zstd. A large file is divided more finely; a reader gets all pieces of its bucket in one read, or selects its rows from a
coarser piece.

`_state/sums-*` have sums of closed connections, which stay when an analysis is appended to. One whose name ends with a day, such as
`-2026-11-23`, holds only hourly sums; it is read when the rows of that day are made again. The state of a task holds two more such files
(`kwire.runs.series_state`).
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa

from kwire.analysis.key_buckets import WHOLE, bucket_of, divided
from kwire.analysis.partials import Partial, from_bytes, held, merge, schema_of, to_bytes
from kwire.errors import InputError
from kwire.files.file_systems import reason_of
from kwire.runs.parts import STATE, output_place, write_blob, written_place
from kwire.tables.state_records import MOST_RECORD_BYTES, BadState, reading_state, record_of, records_of

__all__ = [
    "MAX_BITS", "PIECE_BYTES", "SumsFile", "is_sums", "pack_sums", "read_all_sums", "read_bucket_sums", "read_whole_sums", "remove_sums",
    "sums_file", "write_sums",
]  # fmt: skip

PIECE_BYTES: Final = 128 << 10
"""Approximate size of a piece in memory."""

MAX_BITS: Final = 10
"""Largest number of bits: a file has at most ``1 << MAX_BITS`` pieces."""

_END: Final = np.dtype("<i8")
_TAIL: Final = struct.Struct("<IQ")
_DAY: Final = re.compile(r"-(\d{4}-\d\d-\d\d)$")


@dataclass(frozen=True, slots=True)
class SumsFile:
    """File with sums, which may be embedded in the `part` at an offset."""

    part: str
    is_fresh: bool
    size: int
    start: int = 0

    @property
    def day(self) -> str | None:
        """Day of the hourly sums in the file, None for other sums."""
        found = _DAY.search(self.part)
        return found and found[1]


def is_sums(part: str) -> bool:
    """Return whether a part, `TABLE/NAME`, is a separate file with sums."""
    return part.startswith(f"{STATE}/sums-")


def pack_sums(sums: Partial, bits: int | None = None) -> bytes:
    """Return the contents of a file of ``1 << bits`` buckets; None chooses by size."""
    if bits is None:
        size = sum(table.nbytes for table in sums.values())
        bits = min((size // PIECE_BYTES).bit_length(), MAX_BITS)
    whole = held(sums).keys() & set(WHOLE)
    pieces = [_packed(piece) if piece else b"" for piece in ({name: sums[name] for name in sorted(whole)}, *divided(sums, bits))]
    ends = np.cumsum([len(piece) for piece in pieces], dtype=_END).tobytes()
    return b"".join([*pieces, ends, _TAIL.pack(zlib.crc32(ends), len(pieces))])


def _packed(piece: Partial) -> bytes:
    plain = to_bytes(held(piece), None)
    return record_of(len(plain).to_bytes(_END.itemsize, "little") + pa.compress(plain, "zstd", asbytes=True))


def _unpacked(packed: bytes, is_fresh: bool) -> Partial:
    [record] = records_of(packed)
    size = int.from_bytes(record[: _END.itemsize], "little")
    if size > MOST_RECORD_BYTES:
        raise BadState("a length in it is wrong")
    sums = from_bytes(pa.decompress(record[_END.itemsize :], size, "zstd", asbytes=True))
    for name, table in sums.items() if not is_fresh else ():
        if table.schema != schema_of(name):
            raise BadState(f"its {name} have other columns")
        table.validate(full=True)
    return sums


def write_sums(location: str, name: str, sums: Partial, bits: int | None = None) -> SumsFile:
    data = pack_sums(sums, bits)
    write_blob(location, STATE, name, data)
    return SumsFile(f"{STATE}/{name}", True, len(data))


def sums_file(location: str, part: str) -> SumsFile:
    filesystem, path = output_place(location)
    return SumsFile(part, False, filesystem.get_file_info(f"{path}/{part}").size or 0)


def read_whole_sums(location: str, file: SumsFile) -> Partial:
    with _Reader(location, file) as reader:
        return merge(reader.pieces(0, 1))


def read_bucket_sums(location: str, file: SumsFile, bits: int, bucket: int) -> list[Partial]:
    """Read the sums of one of ``1 << bits`` buckets, in one or more parts."""
    with _Reader(location, file) as reader:
        finer = reader.bits - bits
        if finer >= 0:
            return reader.pieces(1 + (bucket << finer), 1 + ((bucket + 1) << finer))
        coarse = reader.pieces(1 + (bucket >> -finer), 2 + (bucket >> -finer))
        return [bucket_of(piece, bits, bucket) for piece in coarse]


def read_all_sums(location: str, file: SumsFile) -> Partial:
    with _Reader(location, file) as reader:
        return merge(reader.pieces(0, 1 + (1 << reader.bits)))


def remove_sums(location: str, files: Iterable[SumsFile]) -> None:
    for file in files:
        filesystem, path = written_place(location, file.part)
        with suppress(OSError):
            filesystem.delete_file(path)


class _Reader:
    def __init__(self, location: str, file: SumsFile) -> None:
        self._location, self._told = location, file
        self._filesystem, path = written_place(location, file.part) if file.is_fresh else output_place(location)
        self._path = path if file.is_fresh else f"{path}/{file.part}"

    def __enter__(self) -> _Reader:
        try:
            self._file: Any = self._filesystem.open_input_file(self._path)
        except OSError as error:
            raise self._fault(reason_of(error)) from error
        with self._reading():
            end = self._told.size - _TAIL.size
            checksum, count = _TAIL.unpack(self._read(end, self._told.size))
            ends = self._read(end - count * _END.itemsize, end)
            if zlib.crc32(ends) != checksum:
                raise BadState("a checksum in it is wrong")
            self._ends = [0, *np.frombuffer(ends, _END).tolist()]
        self.bits = (count - 1).bit_length() - 1
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def pieces(self, start: int, stop: int) -> list[Partial]:
        """Return pieces in one read; the first piece of a file has the undivided tables."""
        with self._reading():
            ends = self._ends[start : stop + 1]
            data = self._read(ends[0], ends[-1])
            places = [(at - ends[0], end - ends[0]) for at, end in pairwise(ends) if end > at]
            return [_unpacked(data[at:end], self._told.is_fresh) for at, end in places]

    def _read(self, start: int, end: int) -> bytes:
        if not 0 <= start <= end <= self._told.size:
            raise BadState("a length in it is wrong")
        data: bytes = self._file.read_at(end - start, self._told.start + start)
        return data

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            with reading_state():
                yield
        except OSError as error:
            raise self._fault(reason_of(error)) from error
        except BadState as error:
            raise self._fault(f"{error}") from error

    def _fault(self, reason: str) -> InputError:
        return InputError(f"{self._told.part} in {self._location} cannot be read: {reason}.")
