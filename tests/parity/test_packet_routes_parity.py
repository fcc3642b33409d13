"""The twins route the same packets to the same shares, count the same, and read what either of them routed into the same rows."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pytest

from kwire.capture.files.formats import identify
from kwire.capture.packet_columns import ROUTED, ROUTED_HEADER_BYTES, FileState
from kwire.codec.impl import Twin, load_twin

DATA = Path(__file__).parents[1] / "captures" / "data"


def routed(twin: Twin, data: bytes, shares: int, chunk: int) -> tuple[list[bytes], FileState, list[tuple[int, bool]]]:
    packets: Any = load_twin("capture", "packets", twin)
    known = identify(data[:24])
    assert known is not None
    state, at = known
    router, steps, rest, given = packets.Router(shares), [], b"", [b""] * shares
    for start in range(0, len(data), chunk):
        rest += data[start : start + chunk]
        steps.append(packets.route(rest, at, state, router))
        rest, at = rest[steps[-1][0] :], 0
        held, taken = router.held, [router.take(share) for share in range(shares)]
        assert held == sum(map(len, taken))
        assert router.held == 0
        given = [before + more for before, more in zip(given, taken, strict=True)]
        if steps[-1][1]:
            break
    return given, state, steps


def scanned(twin: Twin, data: bytes) -> tuple[Any, FileState]:
    packets: Any = load_twin("capture", "packets", twin)
    state = FileState(ROUTED, record_header=ROUTED_HEADER_BYTES, packets=1000)
    return packets.scan(data, 0, state), state


def test_captures(capture_path: Path) -> None:
    data = gzip.decompress(capture_path.read_bytes())
    expected = routed("pure", data, 3, 1 << 30)
    assert routed("native", data, 3, 1 << 30) == expected
    for twin in ("pure", "native"):
        assert routed(twin, data, 3, 5000)[0] == expected[0]
    for share in expected[0]:
        assert scanned("native", share) == scanned("pure", share)
    assert sum(map(len, expected[0])) > 100


def test_damaged_captures(capture_path: Path) -> None:
    chance = random.Random(capture_path.name)
    for often in (3, 30, 300):
        damaged = bytearray(gzip.decompress(capture_path.read_bytes())[:20_000])
        for _ in range(often):
            damaged[chance.randrange(40, len(damaged))] = chance.choice((0, 255, chance.randrange(256)))
        assert routed("native", bytes(damaged), 4, 1 << 30) == routed("pure", bytes(damaged), 4, 1 << 30)


def test_damaged_routed_packets() -> None:
    """They come over a network."""
    chance = random.Random(9)
    whole = max(routed("pure", gzip.decompress((DATA / "ipv6.pcap.gz").read_bytes()), 2, 1 << 30)[0], key=len)
    for _ in range(60):
        damaged = bytearray(whole[: chance.randrange(len(whole))])
        for _ in range(chance.choice((0, 1, 20)) if damaged else 0):
            damaged[chance.randrange(len(damaged))] = chance.choice((0, 255, chance.randrange(256)))
        assert scanned("native", bytes(damaged)) == scanned("pure", bytes(damaged))


def test_packets_of_no_share(twin: Twin) -> None:
    packets: Any = load_twin("capture", "packets", twin)
    with pytest.raises(ValueError, match="at least one share"):
        packets.Router(0)
    with pytest.raises(IndexError, match="there are 3 shares"):
        packets.Router(3).take(3)
