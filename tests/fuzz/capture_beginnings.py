"""The first bytes of the tests' captures."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

__all__ = ["DATA", "capture_beginnings"]

DATA = Path(__file__).parents[1] / "captures" / "data"


def capture_beginnings(size: int) -> Iterator[bytes]:
    """The first `size` bytes of each capture, unpacked."""
    for path in sorted(DATA.glob("*.pcap*.gz")):
        with gzip.open(path) as file:
            yield file.read(size)
