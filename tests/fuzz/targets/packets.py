"""Capture files of either format: two bytes for the size of the pieces in which a file comes, then its beginning."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.capture_beginnings import capture_beginnings
from parity.test_packets_parity import scan_all


def seeds() -> Iterator[bytes]:
    for number, data in enumerate(capture_beginnings(3000)):
        yield (0xFFFF if number % 2 else 500).to_bytes(2, "big") + data


def compare(data: bytes) -> None:
    size = max(int.from_bytes(data[:2], "big"), 32)
    assert scan_all("native", data[2:], size) == scan_all("pure", data[2:], size)
