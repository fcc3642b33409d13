"""Metrics wanted from clients: config resources of type CLIENT_METRICS, and their union.

Source: `ClientMetricsConfigs`, `ClientMetricsManager` and KIP-714, "Client metrics configuration".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kwire.codec._pure.checksums import crc32c
from kwire.codec.uuids import Uuid
from kwire.errors import InputError
from kwire.protocol.telemetry.selection import ALL_METRICS, MetricSelector

__all__ = [
    "CLIENT_METRICS", "ENTITY_TYPE", "MATCH_KEYS", "ClientIdentity", "Subscription", "SubscriptionTable", "Wanted", "draft_interval_ms",
    "subscription_id_of",
]  # fmt: skip

CLIENT_METRICS: Final = 16
"""The config resource type (`ConfigResource.Type.CLIENT_METRICS`)."""

ENTITY_TYPE: Final = "client-metrics"
"""Name of the resource type in Kafka's tools."""

DEFAULT_INTERVAL_MS: Final = 300_000
_INTERVALS: Final = range(100, 3_600_001)
_KEYS: Final = ("metrics", "interval.ms", "match")

MATCH_KEYS: Final = (
    "client_instance_id", "client_id", "client_software_name", "client_software_version", "client_source_address", "client_source_port",
)  # fmt: skip


class ClientIdentity(NamedTuple):
    """Attributes of a client that a subscription can match; None if unknown."""

    client_instance_id: str | None = None
    client_id: str | None = None
    client_software_name: str | None = None
    client_software_version: str | None = None
    client_source_address: str | None = None
    client_source_port: str | None = None


def _patterns(name: str, text: str) -> dict[str, re.Pattern[str]]:
    patterns = {}
    for entry in filter(None, (each.strip() for each in text.split(","))):
        parts = [part.strip() for part in entry.split("=")]
        if len(parts) != 2 or not all(parts):
            raise InputError(f"Subscription {name!r}: the match entry {entry!r} is not KEY=REGEX.")
        key, pattern = parts
        if key not in MATCH_KEYS:
            raise InputError(f"Subscription {name!r}: {key!r} cannot be matched; {', '.join(MATCH_KEYS)} can.")
        try:
            patterns[key] = re.compile(pattern)
        except re.error as error:
            raise InputError(f"Subscription {name!r}: {pattern!r} is not a regular expression: {error}.") from error
    return patterns


@dataclass(frozen=True, slots=True)
class Subscription:
    """One config resource of type CLIENT_METRICS.

    Attributes:
        metrics: prefixes; `*` or an empty one for all.
        match: patterns of whole values by attribute; an empty one matches every client.
    """

    name: str
    metrics: tuple[str, ...] = ()
    interval_ms: int = DEFAULT_INTERVAL_MS
    match: Mapping[str, re.Pattern[str]] = field(default_factory=dict)

    @classmethod
    def from_config(cls, name: str, properties: Mapping[str, str]) -> Subscription:
        """Parse a config resource: `metrics` and `match` separated by commas, `interval.ms`, with Kafka's defaults.

        Raises:
            InputError: Kafka would reject the resource: an empty name, an unknown key, an interval outside 100 ms to an hour, a bad match
                entry.
        """
        if not name:
            raise InputError("A subscription needs a name.")
        if unknown := [key for key in properties if key not in _KEYS]:
            raise InputError(f"Subscription {name!r}: there is no key {unknown[0]!r}; {', '.join(_KEYS)} are the keys.")
        text = properties.get("interval.ms", str(DEFAULT_INTERVAL_MS)).strip()
        try:
            interval_ms = int(text)
        except ValueError:
            raise InputError(f"Subscription {name!r}: interval.ms is {text!r}, not a number.") from None
        if interval_ms not in _INTERVALS:
            raise InputError(f"Subscription {name!r}: interval.ms is {interval_ms}, not between {_INTERVALS[0]} and {_INTERVALS[-1]}.")
        given = properties.get("metrics")
        metrics = tuple(prefix.strip() for prefix in given.split(",")) if given else ()
        return cls(name, metrics, interval_ms, _patterns(name, properties.get("match", "")))

    def matches(self, client: ClientIdentity) -> bool:
        """Return whether all patterns match the client; an unknown attribute does not match."""
        found: dict[str, str | None] = client._asdict()
        return all((text := found[key]) is not None and pattern.fullmatch(text) is not None for key, pattern in self.match.items())


class Wanted(NamedTuple):
    """Sorted prefixes and the interval in milliseconds."""

    metrics: tuple[str, ...]
    interval_ms: int


class SubscriptionTable:
    """All subscriptions of a cluster; `version` grows with each change."""

    def __init__(self) -> None:
        self._subscriptions: dict[str, Subscription] = {}
        self.version = 0

    def __iter__(self) -> Iterator[Subscription]:
        return iter(self._subscriptions.values())

    def __len__(self) -> int:
        return len(self._subscriptions)

    def set(self, name: str, properties: Mapping[str, str]) -> None:
        """Set a subscription; empty properties delete it.

        Raises:
            InputError: Kafka would reject the subscription; nothing changes.
        """
        if not properties:
            if not name:
                raise InputError("A subscription needs a name.")
            if self._subscriptions.pop(name, None) is not None:
                self.version += 1
            return
        self._subscriptions[name] = Subscription.from_config(name, properties)
        self.version += 1

    def wanted_of(self, client: ClientIdentity) -> Wanted:
        """Return the union of the subscriptions that match a client, at the lowest interval; without a match, no metrics at the default
        interval."""
        mine = [each for each in self if each.matches(client)]
        prefixes = {prefix for each in mine for prefix in each.metrics}
        if prefixes & {ALL_METRICS, ""}:
            prefixes = {ALL_METRICS}
        return Wanted(tuple(sorted(prefixes)), min((each.interval_ms for each in mine), default=DEFAULT_INTERVAL_MS))


def _java_int(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def subscription_id_of(wanted: Wanted, instance_id: Uuid | bytes) -> int:
    """Return a client's subscription id as Kafka's `computeSubscriptionId` does, but with sorted metric prefixes."""
    text = f"[{', '.join(sorted(wanted.metrics))}]{wanted.interval_ms}"
    halves = int.from_bytes(instance_id[:8], "big") ^ int.from_bytes(instance_id[8:], "big")
    return _java_int(crc32c(text.encode()) ^ (halves >> 32) ^ halves & 0xFFFFFFFF)


def draft_interval_ms(instance_id: str, name: str, configs: Mapping[str, Mapping[str, int]]) -> int | None:
    """Return the interval of one metric as in the proposal's draft: the lowest among the matching prefixes of instance id and metric."""
    matching = (
        interval
        for resource, entries in configs.items()
        if instance_id.startswith(resource)
        for prefix, interval in entries.items()
        if MetricSelector((prefix,))(name)
    )
    return min(matching, default=None)
