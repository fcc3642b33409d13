"""Times in a request log: timestamps before a line, and durations inside it.

log4j writes the broker's local time without its zone, so a log is read as UTC unless the caller names a zone. Timestamps of container
runtimes and log shippers usually have a zone and take precedence.
"""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any, Final

from kwire.errors import InputError

__all__ = ["LONGEST_MS", "duration_us", "find_stamp", "stamp_us", "zone_of"]

_STAMP: Final = re.compile(
    r"(?<![0-9])([0-9]{4}-[01][0-9]-[0-3][0-9])[T ]([0-2][0-9]):([0-5][0-9]):([0-6][0-9])(?:[.,]([0-9]{1,9}))?"
    r"\s?(Z|[+-][0-2][0-9]:?[0-5][0-9])?"
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND: Final = timedelta(microseconds=1)
# A request that took longer than ten years did not: the number is damaged, or hostile.
LONGEST_MS: Final = 10 * 366 * 86_400_000.0
# An instant given as a number is in seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by its size (2001 to 2286).
_SCALES: Final = ((1e9, 1e10, 1e6), (1e12, 1e13, 1e3), (1e15, 1e16, 1.0), (1e18, 1e19, 1e-3))


def zone_of(name: str | None) -> tzinfo:
    """Return a time zone by its name: ``UTC``, an IANA name such as ``Europe/Berlin``, or None for UTC. Raises InputError: unknown time
    zone."""
    if name is None or name.upper() in ("UTC", "Z"):
        return timezone.utc
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InputError(f"unknown time zone {name!r}; use a name such as UTC or Europe/Berlin") from error


def find_stamp(prefix: str, zone: tzinfo) -> int | None:
    """Find the time of a line in the text before the request, microseconds since 1970, UTC: the first stamp with a zone, else the last."""
    found = None
    for stamp in _STAMP.finditer(prefix):
        found = stamp
        if stamp[6]:
            break
    if found is None:
        return None
    day, hour, minute, second, fraction, offset = found.groups()
    try:
        base = _zoned_minute(day, hour, minute, zone) if offset is None else _offset_minute(day, hour, minute, offset)
    except (ValueError, OverflowError):  # 30 February, the year 0
        return None
    return base + int(second) * 1_000_000 + int((fraction or "").ljust(6, "0")[:6])


@lru_cache(maxsize=1024)
def _zoned_minute(day: str, hour: str, minute: str, zone: tzinfo) -> int:
    return (datetime.fromisoformat(f"{day}T{hour}:{minute}").replace(tzinfo=zone) - _EPOCH) // _MICROSECOND


@lru_cache(maxsize=1024)
def _offset_minute(day: str, hour: str, minute: str, offset: str) -> int:
    # Python 3.10 reads neither Z nor an offset without a colon
    east = "+00:00" if offset == "Z" else f"{offset[:3]}:{offset[-2:]}"
    return (datetime.fromisoformat(f"{day}T{hour}:{minute}{east}") - _EPOCH) // _MICROSECOND


def stamp_us(value: Any, zone: tzinfo) -> int | None:
    """Read a time of a JSON layout, a date text or a number, as microseconds since 1970, UTC; return None for others."""
    if isinstance(value, str):
        return find_stamp(value, zone)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        for low, high, factor in _SCALES:
            if low <= value < high:
                return int(value * factor)
    return None


def duration_us(milliseconds: Any) -> int | None:
    """Convert milliseconds to microseconds; a text may have a decimal comma, because 0.11 writes numbers in the broker's locale."""
    if milliseconds.__class__ is float and 0 <= milliseconds <= LONGEST_MS:  # nearly all
        return round(milliseconds * 1000)
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, (int, float, str)):
        return None
    try:
        value = float(milliseconds.replace(",", ".") if isinstance(milliseconds, str) else milliseconds)
    except (ValueError, OverflowError):
        return None
    # -1 is what the broker starts from: a step that was never reached.
    return round(value * 1000) if math.isfinite(value) and 0 <= value <= LONGEST_MS else None
