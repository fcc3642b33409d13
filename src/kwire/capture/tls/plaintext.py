"""Output of a TLS connection: plaintext, and ranges where some is missing."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Missing", "Output", "Plain"]


class Plain(NamedTuple):
    """Next plaintext of a side."""

    side: int
    data: bytes | memoryview
    time: int
    packet: int


class Missing(NamedTuple):
    """Missing plaintext of a side: `size` bytes, None if unknown."""

    side: int
    size: int | None
    cut: bool
    time: int
    packet: int


Output = Plain | Missing
