"""Ports with Kafka traffic in captures, for users who gave another port."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kwire.capture.files.inputs import CaptureFile

__all__ = ["elsewhere"]

_LOOKED_AT: Final = 64 << 20
"""Maximum number of capture bytes to read for the search."""


def elsewhere(files: Sequence[CaptureFile], ports: Iterable[int]) -> str:
    """Return a sentence on the ports with Kafka traffic; empty if there are none. Unreadable captures are skipped."""
    from kwire.errors import InputError
    from kwire.tables import iter_capture

    seen: Counter[int] = Counter()
    left = _LOOKED_AT
    for file in files:
        if left <= 0:
            break
        left -= file.size
        try:
            for batch in iter_capture(file.location, "connections"):
                for row in batch.select(["server_port", "protocol"]).to_pylist():
                    if row["protocol"] == "kafka" and row["server_port"]:
                        seen[row["server_port"]] += 1
        except InputError:
            continue
    if not seen:
        return ""
    found = ", ".join(f"{port} ({count:,} connection{'s' if count > 1 else ''})" for port, count in seen.most_common(5))
    asked = ", ".join(map(str, ports))
    return f"no Kafka on port {asked}; Kafka traffic was seen on {found}"
