"""What a TLS connection gives: plaintext, and where some is missing."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Missing", "Output", "Plain"]


class Plain(NamedTuple):
    """The next plaintext of a side."""

    side: int
    data: bytes | memoryview
    time: int
    packet: int


class Missing(NamedTuple):
    """Plaintext of a side is missing: `size` bytes, None where the number is not known."""

    side: int
    size: int | None
    cut: bool
    time: int
    packet: int


Output = Plain | Missing
