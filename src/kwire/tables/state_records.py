"""Records of state files: length uint32, CRC-32 uint32, then the contents.

The checksum detects damage; the reader checks the contents, because the files are untrusted.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa

import kwire
from kwire.errors import InputError, KwireError

__all__ = [
    "MOST_RECORD_BYTES", "BadState", "check_form", "packed", "read_rows", "reading_state", "record_of", "records_of", "unpacked",
    "written_rows",
]  # fmt: skip

MOST_RECORD_BYTES: Final = 1 << 30
"""Longest record; a connection buffers at most a few frames of 100 MiB."""

_HEAD: Final = struct.Struct("<II")


class BadState(KwireError):
    """Error in a state; its text is a clause."""


@contextmanager
def reading_state() -> Iterator[None]:
    """Convert errors caused by invalid data to `BadState`."""
    try:
        yield
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
        RecursionError,
        InputError,
        pa.ArrowException,
        struct.error,
        zlib.error,
    ) as error:
        raise BadState(f"its contents are invalid ({error})") from error


def check_form(found: str, expected: str, version: str) -> None:
    if found != expected:
        raise BadState(f"kwire {version} wrote it as {found!r}, and kwire {kwire.__version__} reads {expected!r}")


def record_of(data: bytes) -> bytes:
    return _HEAD.pack(len(data), zlib.crc32(data)) + data


def records_of(data: bytes | memoryview) -> Iterator[memoryview]:
    """Yield the contents of records; raise BadState for a truncated or damaged one."""
    data, at = memoryview(data), 0
    while at < len(data):
        begin = at + _HEAD.size
        if begin > len(data):
            raise BadState("it is cut off")
        size, checksum = _HEAD.unpack_from(data, at)
        at = begin + size
        if size > MOST_RECORD_BYTES or at > len(data):
            raise BadState("it is cut off, or a length in it is wrong")
        if zlib.crc32(data[begin:at]) != checksum:
            raise BadState("a checksum in it is wrong")
        yield data[begin:at]


def packed(found: object) -> bytes:
    import msgspec  # not on every executor

    return msgspec.msgpack.encode(found)


def unpacked(data: Any, kind: Any) -> Any:
    try:
        import msgspec
    except ImportError as error:
        raise InputError("reading states needs msgspec: pip install msgspec") from error
    return msgspec.msgpack.decode(data, type=kind)


def written_rows(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return sink.getvalue().to_pybytes()


def read_rows(data: bytes, schema: pa.Schema | None) -> pa.Table:
    rows = pa.ipc.open_stream(data).read_all()
    rows.validate(full=True)
    if schema is not None and rows.schema != schema:
        raise ValueError("its rows have other columns")
    return rows
