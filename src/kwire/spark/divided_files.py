"""What a driver asks of files before it divides them: about how long they are unpacked, and which of them can be read in parts.

Only the plan depends on this. Whatever it says, the tasks look for themselves, and their rows are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Final

from kwire.capture.dividing.file_ranges import whole_reason
from kwire.errors import InputError

__all__ = ["UNPACKED_A_STORED", "unpacked_bytes", "whole_files"]

UNPACKED_A_STORED: Final = 4
"""A compressed capture is taken for so many times its size: gzip makes a third of real ones, zstd a fifth."""

# A guess by the name costs nothing, where opening the file costs a request of an object store.
_COMPRESSED: Final = re.compile(r"\.(gz|zst|zstd)(\?.*)?$", re.IGNORECASE)
# Files that are looked at side by side: a store takes long to answer.
_AT_ONCE: Final = 16


def unpacked_bytes(location: str, size: int) -> int:
    """About how many bytes a file has when it is unpacked.

    Args:
        location: path or URI.
        size: bytes of the file, as stored.
    """
    return size * UNPACKED_A_STORED if _COMPRESSED.search(location) else size


def whole_files(files: Iterable[tuple[str, int]]) -> dict[str, str]:
    """Find out which files have to be read by one task each.

    Args:
        files: locations and sizes of those that would be divided.

    Returns:
        By location what such a file is (`kwire.capture.dividing.file_ranges.whole_reason`); empty for one that cannot be read.
    """

    def look(location: str, size: int) -> str | None:
        try:
            return whole_reason(location, size) or None
        except InputError:
            return ""

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = [(location, pool.submit(copy_context().run, look, location, size)) for location, size in files]
        answers = [(location, answer.result()) for location, answer in asked]
    return {location: reason for location, reason in answers if reason is not None}
