"""Limits of ApiVersions responses: ranges of versions and features."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from kwire.schema import releases
from kwire.schema.release_table import Release, release_key

__all__ = ["VersionLimits"]

# The release that first finalizes each feature (Kafka's `Feature` enum). A client that sees one may use requests which the cap takes away:
# transaction.version 2 wants newer Produce and AddPartitionsToTxn (KIP-890).
_FEATURES_SINCE: Final = {
    "kraft.version": "3.9", "transaction.version": "4.0", "group.version": "4.0", "eligible.leader.replicas.version": "4.0",
    "share.version": "4.1", "streams.version": "4.2",
}  # fmt: skip
_LOWEST: Final = -(1 << 15)
_HIGHEST: Final = (1 << 15) - 1


@dataclass(frozen=True, slots=True)
class VersionLimits:
    """Limits of an ApiVersions response. They only remove entries: an api or feature that the broker lacks stays absent.

    Attributes:
        ranges: lowest and highest version by api key; an api outside its range is dropped.
        others: keep apis that `ranges` does not name.
        features: names of the features to keep; None for all.
        levels: highest finalized level by name of the feature.
    """

    ranges: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    others: bool = False
    features: Collection[str] | None = None
    levels: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_release(cls, release: str | Release) -> VersionLimits:
        """Return the versions that a release advertises, possibly more than it accepts (KAFKA-18659: Produce from 0).

        Raises:
            InputError: no such release.
        """
        found = releases().resolve(release) if isinstance(release, str) else release
        limits = {key: found.advertises(key) for key in found.api_keys}
        ranges = {key: (limit.lowest, limit.highest) for key, limit in limits.items() if limit is not None}
        known = {name for name, since in _FEATURES_SINCE.items() if found.key >= release_key(since)}
        return cls(ranges, features=frozenset(known | {"metadata.version"}))

    def range_of(self, api_key: int) -> tuple[int, int] | None:
        """Return the limit of an api; None if dropped."""
        return self.ranges.get(api_key, (_LOWEST, _HIGHEST) if self.others else None)

    def __and__(self, other: VersionLimits) -> VersionLimits:
        """Combine both limits."""
        ranges = {}
        for key in {*self.ranges, *other.ranges}:
            mine, its = self.range_of(key), other.range_of(key)
            if mine is not None and its is not None:
                ranges[key] = max(mine[0], its[0]), min(mine[1], its[1])
        features = self.features if other.features is None else other.features
        if self.features is not None and other.features is not None:
            features = frozenset(self.features) & frozenset(other.features)
        levels = dict(self.levels)
        for name, level in other.levels.items():
            levels[name] = min(level, levels.get(name, level))
        return VersionLimits(ranges, self.others and other.others, features, levels)
