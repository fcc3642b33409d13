"""Client libraries as data (`known_clients.json`): names and ids, versions of each api, and fixes for breaks.

Each profile names its source: files of a release, or observed brokers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from importlib import resources
from typing import Any, Literal

from kwire.analysis.release_ranges import broker_highest
from kwire.schema.version_numbers import version_numbers

__all__ = ["Brokers", "Fix", "Library", "Profile", "known_libraries", "library_of", "named_library", "read_libraries", "release_month"]


Choice = int | tuple[int, ...]
"""Highest version to send, limited by the broker's; or all versions that may be sent, of which the highest common one is used."""


@dataclass(frozen=True, slots=True)
class Fix:
    """Fix for users of a library if a release rejects its use of an API.

    Attributes:
        kind, version: component to change, and its first working version or the value of the setting.
        remedy: as a sentence.
        proof: evidence: a run against Kafka 4, or a line of source.
        apis: names of the APIs that the fix applies to; empty for all.
    """

    kind: Literal["library", "config", "proxy"]
    version: str | None
    remedy: str
    proof: str
    apis: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Brokers:
    """Brokers that a version of a library, and later ones, work with by default.

    Attributes:
        lowest: oldest release of brokers.
        older: verdict with older brokers; `deprecated` if it works, unsupported.
        unless: setting that makes it work with older brokers; empty if there is none.
        source, date: document or line that says so, and when it was read.
    """

    version: str
    lowest: str
    older: Literal["breaks", "deprecated"]
    source: str
    date: str
    unless: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """API versions used by one version of a library.

    Attributes:
        version: version of the library, such as `1.0.0`; for Kafka, the minor version, such as `0.10.2`.
        negotiates: whether it sends ApiVersions, unless a program disables that.
        unnamed: whether it sends no name, or not on every connection.
        also: further versions that it sends for some calls, by api.
    """

    version: str
    negotiates: bool
    unnamed: bool
    uses: Mapping[str, tuple[Choice, ...]]
    also: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def maximum(self, api: str) -> int | None:
        return _highest(self.uses.get(api, ()))

    def sends(self, api: str, ceiling: int | None) -> frozenset[int]:
        """Return the versions sent to a broker whose highest version is `ceiling`; None if the broker has all of them."""
        return _sent(self.uses[api], ceiling)


@cache  # of what the profiles hold, as the next: few choices for many questions
def _highest(choices: tuple[Choice, ...]) -> int | None:
    return max((max(choice) if isinstance(choice, tuple) else choice for choice in choices), default=None)


@lru_cache(maxsize=65536)
def _sent(choices: tuple[Choice, ...], ceiling: int | None) -> frozenset[int]:
    return frozenset(_chosen(choice, ceiling) for choice in choices)


def _chosen(choice: Choice, ceiling: int | None) -> int:
    if isinstance(choice, int):
        return choice if ceiling is None else min(choice, ceiling)
    return max((version for version in choice if ceiling is None or version <= ceiling), default=min(choice))


@dataclass(frozen=True)
class Library:
    """A client library.

    Attributes:
        names: software names that it sends, each with a pattern whose group extracts the library's version from the software version.
        client_ids: patterns of its default client ids; a group extracts its version.
        kafka_release: whether its versions are Kafka's, with a profile for every minor version in between.
        set_by_program: whether programs choose the versions, or may disable ApiVersions.
        fixes: fixes, of which the first for an API is used.
        profiles: profiles by version; several for one version if its API versions depend on the program.
        released: month of the first release with these numbers, such as `2019-03` of `1.0`.
        brokers: brokers that its newest versions need, if known.
    """

    name: str
    names: Mapping[str, str]
    client_ids: re.Pattern[str] | None
    kafka_release: bool
    set_by_program: Literal["versions", "negotiation"] | None
    fixes: tuple[Fix, ...]
    profiles: tuple[Profile, ...]
    released: Mapping[str, str] = field(default_factory=dict)
    brokers: Brokers | None = None

    @cached_property
    def versions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(profile.version for profile in self.profiles))

    def maximum(self, version: str, api: str) -> int | None:
        maxima = [profile.maximum(api) for profile in self.profiles if profile.version == version]
        return max((maximum for maximum in maxima if maximum is not None), default=None)

    def bounds_of(self, version: str, api: str) -> tuple[int | None, int | None]:
        """Bound the highest version of an api for one version of the library, which may have no profile."""
        numbers = version_numbers(version)
        earlier = [known for known in self.versions if version_numbers(known) <= numbers]
        later = [known for known in self.versions if version_numbers(known) >= numbers]
        return self.bounds(api, earlier, later)

    def bounds(self, api: str, earlier: Iterable[str], later: Iterable[str]) -> tuple[int | None, int | None]:
        """Bound the highest version of an api between versions of the library; maxima never decrease between versions."""
        low = [maximum for version in earlier if (maximum := self.maximum(version, api)) is not None]
        high = [maximum for version in later if (maximum := self.maximum(version, api)) is not None]
        return max(low, default=None), min(high, default=None)


@lru_cache(maxsize=1)
def known_libraries() -> tuple[Library, ...]:
    return read_libraries(json.loads(resources.files("kwire.analysis").joinpath("known_clients.json").read_text("utf-8")))


def read_libraries(stored: Mapping[str, Any]) -> tuple[Library, ...]:
    return tuple(_library(entry) for entry in stored["libraries"])


def _library(entry: Mapping[str, Any]) -> Library:
    profiles = [_profile(stored) for stored in entry["profiles"]]
    for names, unnamed in (("unnamed_releases", True), ("named_releases", False)):
        for release in entry.get(names, ()):
            uses: dict[str, tuple[Choice, ...]] = {api: (highest,) for api, highest in broker_highest(release).items()}
            profiles.append(Profile(release, True, unnamed, uses))
    return Library(
        entry["library"], entry["names"], re.compile(entry["client_ids"]) if "client_ids" in entry else None,
        entry.get("kafka_release", False), entry.get("set_by_program"),
        tuple(Fix(**fix) for fix in entry["fixes"]),
        tuple(sorted(profiles, key=lambda profile: version_numbers(profile.version))),
        entry.get("released", {}), Brokers(**entry["brokers"]) if "brokers" in entry else None,
    )  # fmt: skip


def _profile(stored: Mapping[str, Any]) -> Profile:
    uses = {
        api: tuple(tuple(choice) if isinstance(choice, list) else choice for choice in choices) for api, choices in stored["uses"].items()
    }
    also = {api: frozenset(versions) for api, versions in stored.get("also", {}).items()}
    return Profile(stored["version"], stored["negotiates"], stored.get("unnamed", False), uses, also)


@lru_cache(maxsize=4096)
def named_library(software_name: str | None, software_version: str | None) -> tuple[Library, str | None] | None:
    for library in known_libraries():
        pattern = library.names.get(software_name or "")
        if pattern is not None:
            found = re.fullmatch(pattern, software_version or "")
            return library, ".".join(map(str, version_numbers(found[1]))) or None if found else None
    return None


def library_of(name: str, version: str) -> tuple[Library, str | None] | None:
    """Return a library and its version by the library's name, or the one that its clients send."""
    return named_library(name, version) or next(((library, version) for library in known_libraries() if library.name == name), None)


@lru_cache(maxsize=4096)
def release_month(name: str, version: str) -> str | None:
    """Return when the minor version of a library was released, such as `2019-03`; the name is as in `library_of`."""
    named = library_of(name, version)
    if named is None:
        return None
    library, wanted = named[0], version_numbers(named[1] or "")
    lines = [line for line in library.released if version_numbers(line) <= wanted and version_numbers(line)[:2] == wanted[:2]]
    return library.released[max(lines, key=version_numbers)] if lines else None
