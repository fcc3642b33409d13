"""The KIP-35 draft's ProtocolVersion: one number for the whole protocol, one higher for each new version of a request.

Numbers are counted over the table of releases, oldest first, in the order of api keys and versions; entries are never removed.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from kwire.schema import Catalog, Release, Versions, catalog, releases

__all__ = ["ProtocolEntry", "ProtocolRange", "chosen_versions", "protocol_range", "protocol_registry", "protocol_text"]


class ProtocolEntry(NamedTuple):
    """One version of one request, with the protocol versions that added, deprecated and removed it (None: not)."""

    api_key: int
    api_version: int
    added: int
    deprecated: int | None = None
    removed: int | None = None


class ProtocolRange(NamedTuple):
    """Protocol versions of a broker."""

    lowest: int
    highest: int


@cache
def protocol_registry() -> tuple[ProtocolEntry, ...]:
    """Return every version of every request that a release accepted, in the order of their numbers, from 1."""
    entries: dict[tuple[int, int], ProtocolEntry] = {}
    for release in releases():
        taken = _taken(release)
        for key in sorted(taken - entries.keys()):
            entries[key] = ProtocolEntry(*key, added=len(entries) + 1)
        highest = len(entries)
        for key, entry in entries.items():
            if key in taken:
                # accepted again after a release that did not accept it: a preview that was off for a while
                deprecated = key[1] in (release.deprecated(key[0]) or Versions(0, -1))
                entries[key] = entry._replace(removed=None, deprecated=(entry.deprecated or highest) if deprecated else None)
            elif entry.removed is None:
                entries[key] = entry._replace(removed=highest)
    return tuple(entries.values())


def _taken(release: Release) -> set[tuple[int, int]]:
    ranges = {key: release.accepts_anywhere(key) for key in release.api_keys}
    return {(key, version) for key, versions in ranges.items() if versions is not None for version in versions}


@cache
def protocol_range(release: str) -> ProtocolRange:
    """Return the range that brokers of a release state: the lowest number that it accepts, the highest that it or an older one added.
    Raises InputError: no such release."""
    resolved = releases().resolve(release)
    numbers = {(entry.api_key, entry.api_version): entry.added for entry in protocol_registry()}
    before = [numbers[key] for each in releases() if each <= resolved for key in _taken(each)]
    return ProtocolRange(min(numbers[key] for key in _taken(resolved)), max(before))


def chosen_versions(stated: ProtocolRange, known: Catalog | None = None) -> dict[int, int]:
    """Return the version of each api for a broker's range: the highest of the client's that the range added and did not remove.

    Arguments:
        stated: range of the broker.
        known: catalog of the client, None for the built-in one.
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
    """Return an entry in the draft's words: ``ProduceRequest v3:`` and a line each for added, deprecated and removed."""
    name = (catalog() if known is None else known).api_name(entry.api_key) or str(entry.api_key)
    changes = (("Added", entry.added), ("Deprecated", entry.deprecated), ("Removed", entry.removed))
    lines = [f"{name}Request v{entry.api_version}:", *(f"    {what} in ProtocolVersion: {number}" for what, number in changes if number)]
    return "\n".join(lines)
