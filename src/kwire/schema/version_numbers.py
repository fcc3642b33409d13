"""Numbers in the text of a version, which clients can choose freely and at any length (KIP-511)."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["version_numbers"]

_NUMBERS: Final = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_MOST_DIGITS: Final = 9  # a date has eight; Python rejects texts of more than 4,300


def version_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a version: ``(1, 4, 2)`` of ``v1.4.2-rc1``; empty if one has more than nine digits."""
    found = _NUMBERS.search(text)
    parts = [] if found is None else found[0].split(".")
    return tuple(map(int, parts)) if all(len(part) <= _MOST_DIGITS for part in parts) else ()
