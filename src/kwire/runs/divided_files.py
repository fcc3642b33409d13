"""Facts of files for the driver's plan: their unpacked size, and whether they can be read in parts.

Only the plan depends on these facts; the tasks check the files again, and the rows stay the same.
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
"""Assumed ratio of unpacked to compressed size of a capture; gzip reaches about 3 on real captures, zstd 5."""

# A guess by the name costs nothing, where opening the file costs a request of an object store.
_COMPRESSED: Final = re.compile(r"\.(gz|zst|zstd)(\?.*)?$", re.IGNORECASE)
# Files that are looked at side by side: a store takes long to answer.
_AT_ONCE: Final = 16


def unpacked_bytes(location: str, size: int) -> int:
    return size * UNPACKED_A_STORED if _COMPRESSED.search(location) else size


def whole_files(files: Iterable[tuple[str, int]]) -> dict[str, str]:
    """Return by location why one task must read a file (`file_ranges.whole_reason`); empty for an unreadable one."""

    def look(location: str, size: int) -> str | None:
        try:
            return whole_reason(location, size) or None
        except InputError:
            return ""

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = [(location, pool.submit(copy_context().run, look, location, size)) for location, size in files]
        answers = [(location, answer.result()) for location, answer in asked]
    return {location: reason for location, reason in answers if reason is not None}
