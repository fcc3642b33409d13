"""Formatting of amounts, times and counts for readers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

__all__ = ["bytes_of", "compact", "count", "latency", "length_of_time", "moment", "moment_after", "named", "plural", "share"]

_STEPS: Final = ((1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))
_UNKNOWN: Final = "?"
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def count(number: int | None) -> str:
    return _UNKNOWN if number is None else f"{number:,}"


def plural(number: int, noun: str, many: str = "") -> str:
    """Write ``1 file``, ``2,000 files``; `many` for nouns with another plural."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def compact(number: int | None) -> str:
    """Write about four characters, for cells and axes: ``980``, ``1.2k``, ``35M``."""
    if number is None:
        return _UNKNOWN
    for step, letter in _STEPS:
        if number >= step:
            value = number / step
            return f"{value:.1f}".removesuffix(".0") + letter if value < 10 else f"{value:.0f}{letter}"
    return str(number)


def bytes_of(number: int) -> str:
    for step, letter in _STEPS:
        if number >= step:
            return f"{number / step:.1f} {letter}B"
    return plural(number, "byte")


def share(part: int, whole: int) -> str:
    """Write a percentage, which is 0 or 100 only if exact."""
    if not whole or not part or part >= whole:
        return "100 %" if whole and part else "0 %"
    percent = 100 * part / whole
    return "under 0.1 %" if percent < 0.1 else "over 99.9 %" if percent > 99.9 else f"{percent:.1f} %"


def length_of_time(span: timedelta) -> str:
    """Write the two largest units: ``2 d 4 h``, ``5 min 12 s``; milliseconds below a second."""
    seconds = span.total_seconds()
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    left, parts = round(seconds), list[str]()
    for size, unit in _UNITS:
        if left >= size and len(parts) < 2:
            parts.append(f"{left // size} {unit}")
            left %= size
        elif parts:
            break
    return " ".join(parts)


def latency(microseconds: int) -> str:
    """Write ``1,250.0 ms`` or ``1.3 s``."""
    return f"{microseconds / 1000:,.1f} ms" if microseconds < 1_000_000 else f"{microseconds / 1_000_000:,.1f} s"


def moment(time: datetime | None) -> str:
    return "" if time is None else time.strftime("%Y-%m-%d %H:%M:%S")


def moment_after(time: datetime | None, before: datetime | None) -> str:
    """Write a time, without its date if `before` has the same date."""
    if time is None or before is None or time.date() != before.date():
        return moment(time)
    return time.strftime("%H:%M:%S")


def named(name: str) -> str:
    """Return `Kafka 4.1` for one or more releases, and the name of any other target."""
    return f"Kafka {name}" if name[:1].isdigit() and ":" not in name else name
