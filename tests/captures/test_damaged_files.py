"""Bad bytes in a capture file are like lost packets: what is read is what the whole file says, or null, and nothing is blamed on them.

Expected are the rows of the file as it is, which other tests hold against the log of its broker.
"""

from __future__ import annotations

import gzip
import io
import itertools
import random
import struct
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.captures.test_damaged_captures import Found, compare_requests, compare_rest

from kwire.capture import impl as capture_impl
from kwire.codec.impl import load_twin
from kwire.tables import impl
from kwire.tables.series_rows import read_series

DATA = Path(__file__).parent / "data"
FLEET = Path(__file__).parents[2] / "examples" / "upgrade-fleet.pcap.gz"
# pcap in both byte orders and both units of time, with and without an Ethernet header, and pcapng of one and of several sections
FILES = (
    "seed.pcap", "gap-at-border.pcap", "big-endian.pcap", "nanosecond.pcap", "raw-ip.pcap", "dribble.pcap", "sasl.pcap", "topicids.pcap",
    "upgrade-fleet.pcap", "groups.pcapng", "sections.pcapng", "telemetry.pcapng",
)  # fmt: skip
PLACES = (0.02, 0.2, 0.37, 0.5, 0.64, 0.8, 0.97)
SIZES = (2048, 700, 24)


@cache
def content_of(name: str) -> bytes:
    path = FLEET if name == "upgrade-fleet.pcap" else DATA / f"{name}.gz"
    return gzip.decompress(path.read_bytes())


def zeros(_data: bytes, _at: int, size: int) -> bytes:
    return bytes(size)


def ones(_data: bytes, _at: int, size: int) -> bytes:
    return b"\xff" * size


def noise(_data: bytes, at: int, size: int) -> bytes:
    return random.Random(at).randbytes(size)


def shifted(data: bytes, at: int, size: int) -> bytes:
    return data[at + 13 : at + 13 + size]


def shifted_back(data: bytes, at: int, size: int) -> bytes:
    return data[at - 7 : at - 7 + size]


JUNK: dict[str, Callable[[bytes, int, int], bytes]] = {each.__name__: each for each in (zeros, ones, noise, shifted, shifted_back)}


def read(content: bytes) -> Found:
    with read_series([io.BytesIO(content)], "s", (), observing=True, hashed=False) as rows:
        return Found(**{name: rows.table(name).to_pylist() for name in Found.__annotations__})


@cache
def whole_of(name: str) -> Found:
    return read(content_of(name))


def records_of(data: bytes) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    at, order = 0, "<"
    if data[:4] == b"\n\r\r\n":
        while at < len(data):
            if data[at : at + 4] == b"\n\r\r\n":
                order = ">" if data[at + 8] == 0x1A else "<"
            found.append((at, at + struct.unpack_from(f"{order}I", data, at + 4)[0]))
            at = found[-1][1]
        return found
    order, at = ">" if data[:2] == b"\xa1\xb2" else "<", 24
    while len(data) - at >= 16:
        found.append((at, at + 16 + struct.unpack_from(f"{order}I", data, at + 8)[0]))
        at = found[-1][1]
    return found


def damaged(data: bytes, place: float, size: int, junk: str) -> tuple[bytes, list[tuple[int, int]]]:
    """Bad bytes around the border of two records, and the records that they touch; what stays inside one packet nothing can tell."""
    records = records_of(data)
    border = records[int(len(records) * place)][0]
    # without its first interfaces no packet of a pcapng file can be read
    packets = [start for start, _ in records if data[:4] != b"\n\r\r\n" or data[start : start + 4] == b"\6\0\0\0"]
    at = max(border - size // 2, packets[0])
    bad = JUNK[junk](data, at, size)[:size]
    return data[:at] + bad + data[at + len(bad) :], [each for each in records if each[0] < at + len(bad) and each[1] > at]


def cases() -> Iterator[Any]:
    """Whole: of each file all junk of all sizes, at all places; of the three each combination in some file. A share: some of each file."""
    for number, name in enumerate(FILES):
        for at, (size, junk) in enumerate(itertools.product(SIZES, JUNK)):
            place = PLACES[(number + at) % len(PLACES)]
            stands = at % 4 == number % 4
            yield pytest.param(name, place, size, junk, id=f"{name}-{place}-{size}-{junk}", marks=() if stands else pytest.mark.whole)


# Without its last packets a connection may end in another way (`test_damaged_captures`).
FROM_LOSS = {"state is", "closed_by of a connection is"}


def faults_of(whole: Found, got: Found) -> list[str]:
    return compare_requests(whole, got, [0] * (whole.captures[0]["packets"] + 1000)) + compare_rest(whole, got)


@pytest.mark.parametrize(("name", "place", "size", "junk"), list(cases()))
def test_bad_bytes_are_lost_packets(name: str, place: float, size: int, junk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, whole = content_of(name), whole_of(name)
    content, touched = damaged(data, place, size, junk)
    found: dict[str, Found] = {}
    for twin in ("native", "pure"):
        monkeypatch.setattr(impl, "_chosen", (twin, None if twin == "pure" else load_twin("tables", "bulk", "native")))
        monkeypatch.setattr(capture_impl, "packets", load_twin("capture", "packets", twin))
        found[twin] = read(content)
    got = found["native"]
    assert got == found["pure"]
    assert {"capture_damaged", "capture_cut"} & {row["rule"] for row in got.violations}
    (capture,), (right,) = got.captures, whole.captures
    assert right["start"] <= capture["start"] <= capture["end"] <= right["end"]
    # all that is touched is lost, at most with the record in front of it; the rest is read as if these had never been there
    records = records_of(data)
    first = records.index(touched[0])
    lost = [start for start, _ in (touched[0], records[max(first - 1, 0)]) if touched[-1][1] - start == capture["bytes_damaged"]]
    without = read(data[: (lost or [touched[0][0]])[0]] + data[touched[-1][1] :])
    if junk in ("zeros", "ones", "noise"):
        assert lost
        assert (got.requests, got.connections, got.topic_use) == (without.requests, without.connections, without.topic_use)
    else:
        # copies of whole records may be among the bytes; of what packets in their place would have cost is more in `test_damaged_captures`
        from_loss = {fault.split(":")[0] for fault in faults_of(whole, without)} | FROM_LOSS
        assert [fault for fault in faults_of(whole, got) if not fault.startswith(tuple(from_loss))] == []
