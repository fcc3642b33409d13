"""Chunks of a capture file are read behind what is left of the one before (kwire.capture.files.source, read_on)."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from kwire.capture.files.source import open_capture
from kwire.codec.impl import Twin, load_twin

DATA = bytes(range(256)) * 4


def test_what_is_read_in_parts_lies_behind_the_rest(twin: Twin) -> None:
    read_on = load_twin("capture", "packets", twin).read_on
    parts = [b"cd", b"e", b"", b"never"]

    def read_into(buffer: memoryview) -> int:
        part = parts.pop(0)[: len(buffer)]
        buffer[: len(part)] = part
        return len(part)

    assert read_on(b"ab", read_into, 8) == b"abcde"  # no bytes: the end
    parts[:] = [b"12345"]
    assert read_on(b"", read_into, 3) == b"123"
    assert read_on(b"x", read_into, 0) == b"x"


def test_a_read_that_fails_keeps_nothing() -> None:
    def fail(_buffer: memoryview) -> int:
        raise OSError("gone")

    for twin in ("native", "pure"):
        with pytest.raises(OSError, match="gone"):
            load_twin("capture", "packets", twin).read_on(b"ab", fail, 8)  # type: ignore[arg-type]


def test_more_than_was_asked_for_is_refused() -> None:
    with pytest.raises(ValueError, match="more was read"):
        load_twin("capture", "packets", "native").read_on(b"", lambda buffer: len(buffer) + 1, 4)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("limit", [None, 700])
def test_a_file_is_the_same_however_it_is_read(tmp_path: Path, packed: bool, limit: int | None) -> None:
    path = tmp_path / "file"
    stored = gzip.compress(DATA) if packed else DATA
    path.write_bytes(stored)
    limit = None if packed else limit
    with open_capture(str(path), limit=limit) as source:
        got = source.read(100)
        while len(more := source.read_on(got, 64)) > len(got):
            assert more[: len(got)] == got
            got = more
        assert got == DATA[:limit]
        assert source.read_on(b"rest", 64) == b"rest"
        assert source.stored_bytes == len(stored[:limit])
        assert source.sha256() == hashlib.sha256(stored[:limit]).hexdigest()
