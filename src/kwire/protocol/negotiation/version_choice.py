"""What one broker speaks, and which version of an api a client uses with it (KIP-35 as released).

The choice holds for one broker only: every broker is asked on its own. Ranges are inclusive, and the highest version that both sides know
is used. A range is not the whole truth: 4.x brokers advertise Produce from version 0 on and close the connection on versions 0 to 2
(KIP-896), which is why what an advertised range stands for is looked up in the table of releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Literal

from kwire.errors import InputError, KwireError
from kwire.schema import Catalog, Release, Versions, catalog, guess, releases

__all__ = ["BrokerVersions", "NoCommonVersion", "Standing", "clamped", "common_ranges"]

Range = Versions | tuple[int, int]
# supported; supported and marked for removal; in the advertised range and refused; outside the advertised range
Standing = Literal["supported", "deprecated", "refused", "outside"]


class NoCommonVersion(KwireError):
    """A client and a broker have no version of an api in common, or the broker does not have the api.

    Attributes:
        api: its name, or its key as text where the catalog has none.
        ours, theirs: the ranges; `theirs` is None where the broker does not have the api.
        node: which broker, as the caller names it.
    """

    def __init__(self, api: str, ours: Versions, theirs: Versions | None, node: str = "the broker") -> None:
        has = f"has {api} {theirs}" if theirs is not None else f"does not have {api}"
        super().__init__(f"{node} {has}, and the client has {ours}")
        self.api = api
        self.ours = ours
        self.theirs = theirs
        self.node = node

    def __reduce__(self) -> tuple[object, ...]:
        return NoCommonVersion, (self.api, self.ours, self.theirs, self.node)


def _versions(given: Range) -> Versions:
    return given if isinstance(given, Versions) else Versions(*given)


class BrokerVersions:
    """The versions that one broker answers.

    Arguments:
        ranges: from its ApiVersions response, api key to (lowest, highest); keys that no release has are kept.
        known: the catalog of the client.
        own: what the client itself speaks, by api key, where that is less than the catalog.
        node: which broker, for errors.
        assumed: the release whose table this is, where the broker could not be asked.

    Attributes:
        ranges: api key to `Versions`.
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
        self.ranges = {key: _versions(each) for key, each in ranges.items()}
        self.node = node
        self.assumed = assumed
        self._catalog = catalog() if known is None else known
        self._own = {key: _versions(each) for key, each in (own or {}).items()}

    @classmethod
    def of_release(cls, name: str, known: Catalog | None = None, **more: Mapping[int, Range] | str | None) -> BrokerVersions:
        """What brokers of a release accept, where the broker itself cannot say: up to 0.9 there is no ApiVersions.

        Arguments:
            name: `0.9` or `0.9.0.1`.
            known, more: as for the class.

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
        """The versions of an api that the client has; empty when it does not have the api."""
        key = self._key(api)
        message = self._catalog.request(key)
        return self._own.get(key, message.valid_versions if message is not None else Versions(0, -1))

    @property
    def unknown(self) -> dict[int, Versions]:
        """What the broker has and the catalog has not: to be shown, never to be used."""
        return {key: each for key, each in self.ranges.items() if self._catalog.request(key) is None}

    def choose(self, api: str | int) -> int:
        """The version to use: the highest that both have.

        Arguments:
            api: name (`Metadata`) or key.

        Raises:
            NoCommonVersion: there is none.
            InputError: no api has that name.
        """
        key = self._key(api)
        ours, theirs = self.own(key), self.ranges.get(key)
        if theirs is not None:
            highest = min(ours.highest, theirs.highest)
            if highest >= max(ours.lowest, theirs.lowest):
                return highest
        raise NoCommonVersion(self._catalog.api_name(key) or str(key), ours, theirs, self.node)

    def supports(self, api: str | int, version: int | None = None) -> bool:
        """Whether the client can use an api with this broker: at all, or in one version.

        Raises:
            InputError: no api has that name.
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
        """The releases whose brokers advertise just this, oldest first."""
        if self.assumed is not None:
            return [releases()[self.assumed]]
        return [releases()[name] for name in guess(self.ranges)]

    def standing(self, api: str | int, version: int) -> Standing:
        """What using a version comes to, by the range and by what is known of the releases that advertise this.

        Raises:
            InputError: no api has that name.
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
    """The versions that all of some brokers have, by api key: what members of a cluster can agree on. Apis that one lacks are left out."""
    shared: dict[int, Versions] | None = None
    for broker in brokers:
        if shared is None:
            shared = dict(broker.ranges)
            continue
        both = {key: (each, broker.ranges[key]) for key, each in shared.items() if key in broker.ranges}
        shared = {key: Versions(max(a.lowest, b.lowest), min(a.highest, b.highest)) for key, (a, b) in both.items()}
    return {key: each for key, each in (shared or {}).items() if each}


def clamped(ranges: Mapping[int, Range], known: Catalog) -> dict[int, Versions]:
    """What a proxy that has to read everything may pass on of a broker's ranges: what its own catalog has too.

    Apis that the catalog does not know, or has no common version of, are left out.
    """
    kept = {}
    for key, given in ranges.items():
        message = known.request(key)
        if message is not None:
            theirs, ours = _versions(given), message.valid_versions
            both = Versions(max(theirs.lowest, ours.lowest), min(theirs.highest, ours.highest))
            if both:
                kept[key] = both
    return kept
