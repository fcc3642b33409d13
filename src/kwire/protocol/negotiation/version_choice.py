"""Versions of one broker, and the choice of an API version for it (KIP-35 as released).

The choice holds for one broker only. Ranges are inclusive; the highest version that both sides have is used. 4.x brokers advertise Produce
from version 0 on and close the connection on versions 0 to 2 (KIP-896), so an advertised range is checked against the table of releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Literal

from kwire.errors import InputError, KwireError
from kwire.schema import Catalog, Release, Versions, catalog, guess, releases

__all__ = ["BrokerVersions", "NoCommonVersion", "Standing", "as_versions", "clamped", "common_ranges"]

Range = Versions | tuple[int, int]
# supported; supported and marked for removal; in the advertised range and refused; outside the advertised range
Standing = Literal["supported", "deprecated", "refused", "outside"]


class NoCommonVersion(KwireError):
    """A client and a broker have no common version of an API, or the broker does not support the API.

    Attributes:
        api: its name, or its key as text if the catalog has no name.
        ours, theirs: ranges; `theirs` is None if the broker does not support the API.
        node: name of the broker.
    """

    def __init__(self, api: str, ours: Versions, theirs: Versions | None, node: str = "the broker") -> None:
        has = f"has {api} {theirs}" if theirs is not None else f"does not have {api}"
        super().__init__(f"{node} {has}, and the client has {ours}")
        self.api = api
        self.ours = ours
        self.theirs = theirs
        self.node = node


def as_versions(given: Range) -> Versions:
    return given if isinstance(given, Versions) else Versions(*given)


class BrokerVersions:
    """Versions of one broker.

    Arguments:
        ranges: (lowest, highest) by API key, from ApiVersions; unknown keys are kept.
        known: catalog of the client.
        own: versions of the client by API key, if it supports fewer than the catalog.
        node: name of the broker in errors.
        assumed: release whose ranges are assumed, if the broker has no ApiVersions.
    """

    def __init__(
        self,
        ranges: Mapping[int, Range],
        known: Catalog | None = None,
        *,
        own: Mapping[int, Range] | None = None,
        node: str = "the broker",
        assumed: str | None = None,
    ) -> None:
        self.ranges = {key: as_versions(each) for key, each in ranges.items()}
        self.node = node
        self.assumed = assumed
        self._catalog = catalog() if known is None else known
        self._own = {key: as_versions(each) for key, each in (own or {}).items()}

    @classmethod
    def of_release(cls, name: str, known: Catalog | None = None, **more: Mapping[int, Range] | str | None) -> BrokerVersions:
        """Return the versions that brokers of a release accept, for brokers up to 0.9, which have no ApiVersions.

        Raises:
            InputError: no such release.
        """
        release = releases().resolve(name)
        found = {key: release.accepts(key) for key in release.api_keys}
        return cls({key: each for key, each in found.items() if each}, known, assumed=release.name, **more)  # type: ignore[arg-type]

    def _key(self, api: str | int) -> int:
        if isinstance(api, int):
            return api
        message = self._catalog.messages.get(f"{api}Request")
        if message is None or message.api_key is None:
            raise InputError(f"{self._catalog.name} has no api {api!r}.")
        return message.api_key

    def own(self, api: str | int) -> Versions:
        """Return the client's versions of an API; empty if unsupported."""
        key = self._key(api)
        message = self._catalog.request(key)
        return self._own.get(key, message.valid_versions if message is not None else Versions(0, -1))

    @property
    def unknown(self) -> dict[int, Versions]:
        """Versions of APIs missing from the catalog, for display only."""
        return {key: each for key, each in self.ranges.items() if self._catalog.request(key) is None}

    def choose(self, api: str | int) -> int:
        """Return the highest common version of an API, given by name (`Metadata`) or key.

        Raises:
            NoCommonVersion: there is none.
            InputError: no API has that name.
        """
        key = self._key(api)
        ours, theirs = self.own(key), self.ranges.get(key)
        if theirs is not None:
            highest = min(ours.highest, theirs.highest)
            if highest >= max(ours.lowest, theirs.lowest):
                return highest
        raise NoCommonVersion(self._catalog.api_name(key) or str(key), ours, theirs, self.node)

    def supports(self, api: str | int, version: int | None = None) -> bool:
        """Return whether the client can use an API with this broker, in any version or in the given one.

        Raises:
            InputError: no API has that name.
        """
        if version is None:
            try:
                self.choose(api)
            except NoCommonVersion:
                return False
            return True
        return version in self.own(api) and self.standing(api, version) in ("supported", "deprecated")

    @cached_property
    def releases(self) -> list[Release]:
        """Releases whose brokers advertise these ranges, oldest first."""
        if self.assumed is not None:
            return [releases()[self.assumed]]
        return [releases()[name] for name in guess(self.ranges)]

    def standing(self, api: str | int, version: int) -> Standing:
        """Return how the broker treats a version, by the range and by the releases that advertise it.

        Raises:
            InputError: no API has that name.
        """
        key = self._key(api)
        theirs = self.ranges.get(key)
        if theirs is None or version not in theirs:
            return "outside"
        likely = self.releases
        if likely and all(version not in (each.accepts_anywhere(key) or ()) for each in likely):
            return "refused"
        if likely and all(version in (each.deprecated(key) or ()) for each in likely):
            return "deprecated"
        return "supported"

    def __repr__(self) -> str:
        return f"BrokerVersions({len(self.ranges)} apis of {self.node})"


def common_ranges(brokers: Iterable[BrokerVersions]) -> dict[int, Versions]:
    """Return the versions that all brokers support, by API key."""
    shared: dict[int, Versions] | None = None
    for broker in brokers:
        if shared is None:
            shared = dict(broker.ranges)
            continue
        both = {key: (each, broker.ranges[key]) for key, each in shared.items() if key in broker.ranges}
        shared = {key: Versions(max(a.lowest, b.lowest), min(a.highest, b.highest)) for key, (a, b) in both.items()}
    return {key: each for key, each in (shared or {}).items() if each}


def clamped(ranges: Mapping[int, Range], known: Catalog) -> dict[int, Versions]:
    """Return the intersection of a broker's ranges with the catalog, for a proxy that must read every message."""
    kept = {}
    for key, given in ranges.items():
        message = known.request(key)
        if message is not None:
            theirs, ours = as_versions(given), message.valid_versions
            both = Versions(max(theirs.lowest, ours.lowest), min(theirs.highest, ours.highest))
            if both:
                kept[key] = both
    return kept
