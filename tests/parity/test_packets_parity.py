"""The twins of the packet scanner give equal columns and states, on whole, cut and damaged captures, at once and in chunks."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kwire.capture.files.formats import identify
from kwire.capture.packet_columns import FileState, PacketColumns
from kwire.codec.impl import Twin, load_twin


def scan_all(twin: Twin, data: bytes, chunk: int) -> tuple[list[PacketColumns], FileState] | None:
    known = identify(data[:24])
    if known is None:
        return None
    state, at = known
    packets: Any = load_twin("capture", "packets", twin)
    found, rest = [], b""
    for start in range(0, len(data), chunk):
        rest += data[start : start + chunk]
        columns = packets.scan(rest, at, state)
        found.append(columns)
        if columns.damaged:
            break
        rest, at = rest[columns.consumed :], 0
    return found, state


@pytest.fixture
def capture(capture_path: Path) -> bytes:
    return gzip.decompress(capture_path.read_bytes())


def test_whole_captures_and_chunks(capture: bytes) -> None:
    whole, chunked = scan_all("native", capture, 1 << 30), scan_all("native", capture, 5000)
    assert (whole, chunked) == (scan_all("pure", capture, 1 << 30), scan_all("pure", capture, 5000))
    assert whole is not None
    assert chunked is not None
    assert whole[1] == chunked[1]
    for name in ("number", "time_ns", "direction", "seq", "ack", "flags", "captured", "original", "signature"):
        assert list(getattr(whole[0][0], name)) == [value for columns in chunked[0] for value in getattr(columns, name)]


def test_captures_cut_anywhere(capture: bytes, share: Callable[..., list[int]]) -> None:
    for end in share(range(700), 7):
        assert scan_all("native", capture[:end], 1 << 30) == scan_all("pure", capture[:end], 1 << 30)


def test_damaged_captures(capture: bytes) -> None:
    chance = random.Random(len(capture))
    for _ in range(12):
        damaged = bytearray(capture[:20_000])
        for _ in range(chance.choice((1, 3, 30, 300))):
            damaged[chance.randrange(chance.choice((200, len(damaged))) if len(damaged) > 200 else len(damaged))] = chance.choice(
                (0, 255, chance.randrange(256))
            )
        data = bytes(damaged)
        assert scan_all("native", data, 1 << 30) == scan_all("pure", data, 1 << 30)
