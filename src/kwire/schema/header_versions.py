"""Header versions of requests and responses: read from `headerVersions` of a definition, or derived.

The map of message versions to header versions starts at 0 and includes removed and future versions, as a broker must read the header of a
request whose body it does not know (KIP-511, apache/kafka#23317).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from kwire.errors import InputError
from kwire.schema.model import Catalog, Versions

__all__ = ["derive_header_versions", "header_version_of", "parse_header_versions", "request_header_versions"]

HeaderVersions = tuple[tuple[Versions, int], ...]

_RANGE: Final = re.compile(r"([0-9]+)(?:(\+)|-([0-9]+))?")
_NUMBER: Final = re.compile(r"[0-9]+")

# First flexible header version and the highest one, by kind; request header 3 carries the client instance id (KIP-1313).
_FLEXIBLE_FROM: Final = {"request": 2, "response": 1}
_HIGHEST: Final = {"request": 3, "response": 1}

API_VERSIONS: Final = 18
CONTROLLED_SHUTDOWN: Final = 7


def derive_header_versions(kind: str, api_key: int | None, flexible: Versions) -> HeaderVersions:
    """Derive the header versions of a definition without them. ControlledShutdown v0 has request header 0, the ApiVersions response 0."""
    if kind not in _FLEXIBLE_FROM:
        return ()
    flexible_header = _FLEXIBLE_FROM[kind]
    if kind == "response" and api_key == API_VERSIONS:
        return ((Versions(0, Versions.OPEN), 0),)
    ranges: list[tuple[Versions, int]] = []
    low = 0
    if kind == "request" and api_key == CONTROLLED_SHUTDOWN:
        ranges.append((Versions(0, 0), 0))
        low = 1
    if not flexible:
        return (*ranges, (Versions(low, Versions.OPEN), flexible_header - 1))
    if flexible.lowest > low:
        ranges.append((Versions(low, flexible.lowest - 1), flexible_header - 1))
    return (*ranges, (Versions(max(low, flexible.lowest), Versions.OPEN), flexible_header))


def parse_header_versions(
    given: Mapping[str, object], *, name: str, kind: str, api_key: int | None, valid: Versions, flexible: Versions, from_zero: bool = True
) -> HeaderVersions:
    """Read and check the `headerVersions` of a definition: version range (`"0"`, `"1-2"`, `"3+"`) to header version, both text.

    By Kafka's rule the map starts at version 0; by KIP-1313's (not `from_zero`) it covers the valid versions. It may not be empty,
    have gaps or overlaps, end, or contradict the message.
    """

    def refuse(why: str) -> InputError:
        return InputError(f"headerVersions of {name}: {why}.")

    if not isinstance(given, Mapping) or not given:
        raise refuse("the map is empty")
    ranges: list[tuple[Versions, int]] = []
    for text, value in given.items():
        found = _RANGE.fullmatch(text)
        if found is None:
            raise refuse(f"{text!r} is not a version range")
        low = int(found[1])
        versions = Versions(low, Versions.OPEN if found[2] else int(found[3] or low))
        if not versions:
            raise refuse(f"the range {text} ends before it begins")
        if versions.highest > Versions.OPEN:
            raise refuse(f"the range {text} goes beyond the highest version there can be, {Versions.OPEN}")
        if isinstance(value, bool) or not _NUMBER.fullmatch(str(value)):
            raise refuse(f"the header version {value!r} of range {text} is not a number")
        ranges.append((versions, int(str(value))))
    ranges.sort(key=lambda each: each[0].lowest)

    if from_zero and ranges[0][0].lowest != 0:
        raise refuse(f"range {ranges[0][0]} comes first, but the map must start at version 0")
    if valid and ranges[0][0].lowest > valid.lowest:
        raise refuse(f"version {valid.lowest} is valid but not covered")
    for (before, _), (after, _) in pairwise(ranges):
        if before.highest == Versions.OPEN:
            raise refuse(f"range {before} is open, but {after} follows it")
        if after.lowest <= before.highest:
            raise refuse(f"ranges {before} and {after} overlap")
        if after.lowest != before.highest + 1:
            raise refuse(f"gap before range {after}, expected {before.highest + 1}")
    last = ranges[-1][0]
    if last.highest != Versions.OPEN:
        raise refuse(f"the last range {last} must be open")
    if valid and last.lowest > valid.highest:
        raise refuse(f"range {last} starts above the highest valid version {valid.highest}")

    pinned = kind == "response" and api_key == API_VERSIONS
    header = -1
    for versions, number in ranges:
        if number < header:
            raise refuse(f"range {versions} falls back to header version {number}")
        header = number
        if number > _HIGHEST.get(kind, -1):
            raise refuse(f"{kind} header version {number} does not exist")
        if pinned:
            if number != 0:
                raise refuse("the ApiVersions response has header version 0 at every version (KIP-511)")
        elif flexible and versions.highest >= flexible.lowest and number < _FLEXIBLE_FROM[kind]:
            raise refuse(f"range {versions} has flexible versions but header version {number} is not flexible")
    return tuple(ranges)


def header_version_of(header_versions: HeaderVersions, version: int) -> int:
    """Return the header version at a message version; versions below the map have its first entry."""
    if not header_versions:
        raise ValueError("the message has no header of its own")
    for versions, header in header_versions:
        if version <= versions.highest:
            return header
    return header_versions[-1][1]


def request_header_versions(known: Catalog, api_key: int) -> tuple[int, ...] | None:
    """Return the header version of each version of a request, None for an unknown api; later versions have the last one."""
    message = known.request(api_key)
    ranges = () if message is None else message.header_versions
    return tuple(header_version_of(ranges, version) for version in range(ranges[-1][0].lowest + 1)) if ranges else None
