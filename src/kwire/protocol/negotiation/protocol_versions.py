"""The KIP-35 draft's ProtocolVersion: one number for the whole protocol, one higher for each new version of a request.

The numbers are not stored but counted, so that there is one place that defines them: the table of releases. Releases are gone through from
the oldest to the newest; each version of a request that a release is the first to take gets the next number, in the order of api keys and
versions. What a release marks deprecated or no longer takes is noted with the highest number of that release. Nothing is ever taken out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from kwire.schema import Catalog, Release, Versions, catalog, releases

__all__ = ["ProtocolEntry", "ProtocolRange", "chosen_versions", "protocol_range", "protocol_registry", "protocol_text"]


@dataclass(frozen=True, slots=True)
class ProtocolEntry:
    """One version of one request.

    Attributes:
        api_key, api_version: which.
        added: the number that came with it.
        deprecated: the protocol version from which on it is marked, None while it is not.
        removed: the one from which on it is not taken, None while it is.
    """

    api_key: int
    api_version: int
    added: int
    deprecated: int | None = None
    removed: int | None = None


class ProtocolRange(NamedTuple):
    """The protocol versions that a broker has."""

    lowest: int
    highest: int


@cache
def protocol_registry() -> tuple[ProtocolEntry, ...]:
    """Every version of every request that a release took, by number: the first is 1, and none is left out."""
    entries: dict[tuple[int, int], ProtocolEntry] = {}
    for release in releases():
        taken = _taken(release)
        for key in sorted(taken - entries.keys()):
            entries[key] = ProtocolEntry(*key, added=len(entries) + 1)
        highest = len(entries)
        for key, entry in entries.items():
            if key in taken:
                # taken again after a release that did not: a preview that was switched off for a while
                deprecated = key[1] in (release.deprecated(key[0]) or Versions(0, -1))
                entries[key] = replace(entry, removed=None, deprecated=(entry.deprecated or highest) if deprecated else None)
            elif entry.removed is None:
                entries[key] = replace(entry, removed=highest)
    return tuple(entries.values())


def _taken(release: Release) -> set[tuple[int, int]]:
    ranges = {key: release.accepts_anywhere(key) for key in release.api_keys}
    return {(key, version) for key, versions in ranges.items() if versions is not None for version in versions}


@cache
def protocol_range(release: str) -> ProtocolRange:
    """The range that brokers of a release state: the highest number that came with it or before, and the lowest that it still takes.

    Raises:
        InputError: no such release.
    """
    resolved = releases().resolve(release)
    numbers = {(entry.api_key, entry.api_version): entry.added for entry in protocol_registry()}
    before = [numbers[key] for each in releases() if each <= resolved for key in _taken(each)]
    return ProtocolRange(min(numbers[key] for key in _taken(resolved)), max(before))


def chosen_versions(stated: ProtocolRange, known: Catalog | None = None) -> dict[int, int]:
    """The version of each api that a client uses with a broker that states this range.

    Of what the client has, the highest that came within the range and was not removed by its end.

    Arguments:
        stated: by the broker.
        known: what the client has, the built-in catalog when not given.
    """
    ours = catalog() if known is None else known
    chosen: dict[int, int] = {}
    for entry in protocol_registry():
        message = ours.request(entry.api_key)
        there = stated.lowest <= entry.added <= stated.highest and (entry.removed is None or entry.removed > stated.highest)
        if there and message is not None and entry.api_version in message.valid_versions:
            chosen[entry.api_key] = max(entry.api_version, chosen.get(entry.api_key, 0))
    return dict(sorted(chosen.items()))


def protocol_text(entry: ProtocolEntry, known: Catalog | None = None) -> str:
    """An entry in the draft's words: ``ProduceRequest v3:`` and a line each for added, deprecated and removed."""
    name = (catalog() if known is None else known).api_name(entry.api_key) or str(entry.api_key)
    changes = (("Added", entry.added), ("Deprecated", entry.deprecated), ("Removed", entry.removed))
    lines = [f"{name}Request v{entry.api_version}:", *(f"    {what} in ProtocolVersion: {number}" for what, number in changes if number)]
    return "\n".join(lines)
