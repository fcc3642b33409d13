"""Names of request logs and their rotation.

Kafka's own appender rolls by the hour, ``kafka-request.log`` to ``kafka-request.log.2026-01-01-00``; logrotate and log4j's size-based
appender count, ``kafka-request.log.1``, where higher numbers are older. The name without a number is the newest.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = ["LogRotation", "is_log_name", "log_rotation"]

_NAME: Final = re.compile(
    r"^(?P<stem>.+?)(?P<extension>\.(?:log|jsonl|ndjson|json|out|txt))"
    r"(?:[._-](?P<date>(?:19|20)[0-9]{2}-?[01][0-9]-?[0-3][0-9](?:[-_.T]?[0-2][0-9](?:[-_:.]?[0-5][0-9]){0,2})?))?"
    r"(?:[._-](?P<count>[0-9]{1,6}))?(?:\.(?:gz|zst|zstd))?$",
    re.IGNORECASE,
)
_DATE_IN_STEM: Final = re.compile(
    r"(?<![0-9])(?:19|20)[0-9]{2}-?[01][0-9]-?[0-3][0-9](?:[-_.T]?[0-2][0-9](?:[-_:.]?[0-5][0-9]){0,2})?(?![0-9])"
)
# Behind every date: the file that is being written.
_NEWEST: Final = 10**14


class LogRotation(NamedTuple):
    """Parsed rotation of a log's name: the base name, sort numbers, and whether a higher number means an older file."""

    template: str
    order: tuple[int, ...]
    aged: bool


def is_log_name(name: str) -> bool:
    """Tell whether a file in a folder may be a request log by its name; the content is checked later."""
    return not name.startswith(".") and _NAME.match(name) is not None


def log_rotation(name: str) -> LogRotation | None:
    found = _NAME.match(name)
    if found is None:
        return None
    numbers: list[int] = []

    def take(date: re.Match[str]) -> str:
        numbers.append(_number(date.group()))
        return "*"

    stem = _DATE_IN_STEM.sub(take, found["stem"])
    numbers.append(_number(found["date"]) if found["date"] else _NEWEST)
    count = found["count"]
    return LogRotation(stem + found["extension"].lower(), (*numbers, -int(count or 0)), count is not None)


def _number(date: str) -> int:
    """Return the digits of a date as one number, filled up to the second."""
    return int(re.sub("[^0-9]", "", date).ljust(14, "0"))
