"""CRC-32C of the pure backend: by the `crc32c` package (extra ``records``) if installed, else by a much slower table."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

__all__ = ["crc32c", "crc32c_by_table"]

_POLYNOMIAL = 0x82F63B78


@cache
def _table() -> tuple[int, ...]:
    table = []
    for state in range(256):
        for _ in range(8):
            state = (state >> 1) ^ (_POLYNOMIAL if state & 1 else 0)
        table.append(state)
    return tuple(table)


def crc32c_by_table(data: Any) -> int:
    table = _table()
    state = 0xFFFFFFFF
    for byte in memoryview(data).cast("B"):
        state = (state >> 8) ^ table[(state ^ byte) & 0xFF]
    return state ^ 0xFFFFFFFF


def _choose() -> Callable[[Any], int]:
    try:
        import crc32c as package
    except ImportError:
        return crc32c_by_table
    compute: Callable[[Any], int] = package.crc32c
    return compute


crc32c = _choose()
"""Return the CRC-32C of a buffer."""
