"""What releases of Kafka accept, offer and mark, as verdicts need it; the facts are those of `kwire.schema`.

A release is named by its patch (`4.0.2`), a line by its minor release (`4.0`). Patches differ: 4.0.0 lacks JoinGroup v0 and v1, 4.0.2 has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from kwire.analysis.verdicts import TargetRange
from kwire.errors import InputError
from kwire.schema import catalog
from kwire.schema.stored import read_data

__all__ = [
    "api_key_of", "broker_highest", "default_targets", "guess_release", "line_of", "names_of", "resolve_release", "target_range",
]  # fmt: skip

# A client talks to brokers; what only a controller's listener has is for administrators and for the cluster itself.
_LISTENERS: Final = ("broker", "zk_broker", "controller")

Range = tuple[int, int]


def line_of(release: str) -> str:
    """Give the line of a release: `4.0` of `4.0.2`, `0.10.2` of `0.10.2.1`."""
    parts = release.split(".")
    return ".".join(parts[: 3 if parts[0] == "0" else 2])


def _order(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


@cache
def _releases() -> tuple[str, ...]:
    return tuple(sorted(read_data("releases.json")["releases"], key=_order))


@cache
def _rows(release: str) -> Mapping[int, Mapping[str, Any]]:
    found: dict[int, Mapping[str, Any]] = {}
    for key, rows in read_data("releases.json")["apis"].items():
        valid = [row for row in rows if _order(row["since"]) <= _order(release)]
        if valid:
            found[int(key)] = valid[-1]
    return found


def _range(text: str) -> Range:
    low, _, high = text.partition("-")
    return int(low), int(high or low)


def _accepts(row: Mapping[str, Any] | None, what: str = "accepts") -> Range | None:
    listeners = (row or {}).get(what) or {}
    return next((_range(listeners[listener]) for listener in _LISTENERS if listener in listeners), None)


def resolve_release(name: str) -> str:
    """Find the release that a user means: its full name, or a line for its newest patch.

    Raises:
        InputError: there is no such release.
    """
    releases = _releases()
    if name in releases:
        return name
    of_line = [release for release in releases if release.startswith(f"{name}.")]
    if not of_line:
        raise InputError(f"there is no Kafka release {name}; known are {releases[0]} to {releases[-1]}")
    return of_line[-1]


def target_range(release: str, api_key: int) -> TargetRange:
    """Give what a release does with an api."""
    row = _rows(release).get(api_key)
    marked = _range(row["deprecated"]) if row and row.get("deprecated") else None
    marks = frozenset(range(marked[0], marked[1] + 1)) if marked else frozenset[int]()
    return TargetRange(release=release, accepts=_accepts(row), marks=marks)


def names_of(ranges: Mapping[int, Range]) -> dict[str, int]:
    """Give the highest version by api name, for what the catalog knows."""
    named = {catalog().api_name(key): high for key, (_low, high) in ranges.items()}
    return {name: high for name, high in named.items() if name is not None}


@cache
def broker_highest(release: str) -> Mapping[str, int]:
    """Give the highest version that a release has of each api, by name; of the newest one that is known for a release that is newer still."""
    known = [name for name in _releases() if _order(name) <= _order(f"{release}.99" if release not in _releases() else release)]
    if not known:
        return {}
    ranges = {key: accepted for key, row in _rows(known[-1]).items() if (accepted := _accepts(row)) is not None}
    return names_of(ranges)


def api_key_of(name: str) -> int:
    """Give the key of an api by its name."""
    request = catalog().messages[f"{name}Request"]
    assert request.api_key is not None
    return request.api_key


def guess_release(ranges: Mapping[int, Range]) -> str | None:
    """Guess the release of a server from what it advertises: the one that agrees in most apis, of equals the newest patch of the oldest line.

    Args:
        ranges: lowest and highest version by api key.

    Returns:
        A release such as `4.3.1`, or None when hardly anything agrees.
    """
    best: tuple[int, str] | None = None
    for release in _releases():
        agreeing = max(_agreement(ranges, release, listener) for listener in _LISTENERS)
        if best is None or agreeing > best[0] or (agreeing == best[0] and line_of(release) == line_of(best[1])):
            best = (agreeing, release)
    return best[1] if best is not None and best[0] > 0 else None


def _agreement(ranges: Mapping[int, Range], release: str, listener: str) -> int:
    """Apis that agree, less those that do not; apis that need a feature or a plug-in may be absent."""
    score = 0
    for key, offer in _offers(release, listener).items():
        found = ranges.get(key)
        score += 2 if found == offer else -1 if found is None else -2
    return score - 2 * len(ranges.keys() - _offers(release, listener).keys())


@cache
def _offers(release: str, listener: str) -> Mapping[int, Range]:
    found: dict[int, Range] = {}
    for key, row in _rows(release).items():
        text = (row.get("advertises") or row.get("accepts") or {}).get(listener) if row.get("advertises") != {} else None
        if text is not None:
            found[key] = _range(text)
    return found


def default_targets(observed: Iterable[str]) -> list[str]:
    """Give the newest patch of each line from that of the oldest observed broker to the newest; of all lines from 3.9 on when none is known.

    Before 4.0 no release refused what an older one accepted, so without a broker the last release that did is where it gets interesting.

    Args:
        observed: releases of brokers.
    """
    oldest = min(observed, key=_order, default="3.9.0")
    newest = {line_of(release): release for release in _releases()}
    return [release for line, release in newest.items() if _order(line) >= _order(line_of(oldest))]
