"""Request logs of brokers, as JSON and as older brokers' text: the entry of each line, and of one input in 64 the rows of all tables.

Tables cost a hundred times what an entry does, whatever is in them: Arrow columns are made and read back. Which inputs they are made of is
a matter of their bytes, so an input does the same each time.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from kwire.errors import InputError
from log_line_paths import both, same_entry
from parity.test_request_logs_parity import LOGS, STAMP, tables

ONE_IN = 64


def begin() -> None:
    with pytest.MonkeyPatch.context() as patch:
        for twin in ("native", "pure"):
            outcome(patch, twin, next(seeds()))


def seeds() -> Iterator[bytes]:
    for path in LOGS:
        lines = [line for line in gzip.decompress(path.read_bytes()).splitlines()[::15] if len(line) < 1500]
        for number in range(0, len(lines), 3):
            stamp = STAMP % (number % 60, number % 1000) if number % 2 and lines[number][:1] == b"{" else b""
            yield b"".join(stamp + line + b"\n" for line in lines[number : number + 3])


def outcome(patch: pytest.MonkeyPatch, twin: str, log: bytes) -> Any:
    """The rows of all tables that have some, or why this is not a log."""
    try:
        return {name: rows for name, rows in tables(patch, twin, [log]).items() if rows}
    except InputError as error:
        return str(error)


def compare(data: bytes) -> None:
    for line in data.splitlines():
        typed, read = both(line)
        assert typed is None or same_entry(typed, read), line
    if zlib.crc32(data) % ONE_IN:
        return
    with pytest.MonkeyPatch.context() as patch:
        assert outcome(patch, "native", data) == outcome(patch, "pure", data)
