"""Options of streams: end of files and series, folder of states, and behavior on lost data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kwire.errors import InputError

__all__ = ["LEAST_IDLE_SECONDS", "StreamOptions", "stream_options"]

_DURATION: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", re.IGNORECASE)
_SECONDS: Final = {
    "ms": 1e-3, "millisecond": 1e-3, "": 1, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600,
    "d": 86400, "day": 86400,
}  # fmt: skip

LEAST_IDLE_SECONDS: Final = 60
"""Shortest allowed time in seconds: late packets of a closed connection arrive within TCP's TIME-WAIT (RFC 9293)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """Checked options; Spark pickles them. Times are in seconds.

    Attributes:
        state_location: folder (path or URI) that driver and executors can reach; None without a stream.
        closed_after: time without changes after which a capture counts as closed.
        series_ends_after: time without new data after which a series ends; None for never.
        pairs_forgotten_after: capture time without a new connection after which endpoints may be dropped; None for never.
        fail_on_data_loss: stop if data is lost before it is read; otherwise the loss is a row in `violations`.
    """

    state_location: str | None = None
    closed_after: float = 300.0
    series_ends_after: float | None = None
    fail_on_data_loss: bool = True
    pairs_forgotten_after: float | None = None


def stream_options(given: dict[str, str]) -> StreamOptions:
    """Select the options of streams from all options (lower-case names)."""
    forgotten = given.pop("pairsforgottenafter", None)
    ends, loss = given.pop("groupendsafter", None), given.pop("failondataloss", "true").lower()
    if loss not in ("true", "false"):
        raise InputError(f"The option failOnDataLoss of the kwire data source must be true or false, not {loss!r}.")
    return StreamOptions(
        state_location=_folder(given.pop("statelocation", None)),
        closed_after=_seconds("closedAfter", given.pop("closedafter", "5 minutes")),
        series_ends_after=None if ends is None else _seconds("groupEndsAfter", ends),
        fail_on_data_loss=loss == "true",
        pairs_forgotten_after=None if forgotten is None else _pairs_seconds(forgotten),
    )


def _folder(text: str | None) -> str | None:
    if not text or "://" in text:
        return text or None
    return str(Path(text.removeprefix("file:")).absolute())


def _pairs_seconds(text: str) -> float:
    found = _seconds("pairsForgottenAfter", text)
    if found < LEAST_IDLE_SECONDS:
        raise InputError(
            f"The option pairsForgottenAfter of the kwire data source is {LEAST_IDLE_SECONDS} seconds at least: packets may come as late."
        )
    return found


def _seconds(name: str, text: str) -> float:
    found = _DURATION.fullmatch(text.strip())
    unit = None if found is None else found[2].lower()
    if unit not in _SECONDS and unit is not None:
        unit = unit.removesuffix("s")
    if found is None or unit not in _SECONDS:
        raise InputError(f"The option {name} of the kwire data source must be a duration such as '10 minutes', not {text!r}.")
    return float(found[1]) * _SECONDS[unit]
