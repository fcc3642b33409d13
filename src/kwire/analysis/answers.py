"""Tables that answer questions (clients, api_usage, upgrade_impact, brokers), from merged partials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.brokers import brokers, offers_of, versions_sent
from kwire.analysis.client_groups import ClientGroups
from kwire.analysis.client_hourly import client_hourly
from kwire.analysis.clients import clients
from kwire.analysis.group_events import group_events
from kwire.analysis.key_buckets import whole_of
from kwire.analysis.owners import NO_OWNERS, Owners
from kwire.analysis.partial_sight import partly_seen, without_ok, without_totals
from kwire.analysis.partials import Partial, with_server_nodes
from kwire.analysis.programs import moved_tables, united
from kwire.analysis.release_ranges import (
    accepts,
    broker_highest,
    default_targets,
    fitting_releases,
    guess_release,
    highest_by_name,
)
from kwire.analysis.topic_access import topic_access
from kwire.analysis.upgrade_impact import upgrade_impact
from kwire.analysis.usage_rows import api_usage, usage_rows
from kwire.schema import Release, releases

__all__ = ["Cluster", "Options", "answers_by_key", "cluster_of", "finish"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of an analysis, besides the captures.

    Attributes:
        target_releases: releases to judge, `4.3.1`, or `4.3` for its newest patch, and targets; empty for the newest patch of each minor
            release from the observed broker's to the newest.
        broker_release: release of brokers whose ApiVersions responses were not captured or match no release; None if unknown.
        owners: teams that own clients.
    """

    target_releases: Sequence[str | Release] = ()
    broker_release: str | None = None
    owners: Owners = NO_OWNERS

    def check(self) -> None:
        """Check the releases before the long work starts; raise InputError for an unknown one."""
        for release in (*self.target_releases, *([self.broker_release] if self.broker_release else [])):
            releases().resolve(release)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Facts about the brokers, used for verdicts; picklable, because every bucket of keys needs them.

    `whole` has the sums that are not divided by key; `highest` is by server (`address:port`) and api name, `guesses` by server.
    """

    whole: Partial
    highest: Mapping[str, Mapping[str, int]]
    guesses: Mapping[str, str | None]
    targets: Sequence[Release]

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        times = self.whole["captures"]
        first, last = pc.min(times["start"]).as_py(), pc.max(times["end"]).as_py()
        return None if first is None or last is None else (first, last)

    def refuses(self, server: str, api_key: int, version: int) -> bool:
        release = self.guesses.get(server)
        return release is not None and not accepts(release, api_key, version)

    def tables(self) -> dict[str, pa.Table]:
        return {"captures": self.whole["captures"], "brokers": brokers(self.whole)}


def cluster_of(whole: Partial, options: Options) -> Cluster:
    """Collect the facts about the brokers, from the sums that are not divided by key."""
    whole = with_server_nodes(whole_of(whole))
    offers = offers_of(whole)
    highest: dict[str, Mapping[str, int]] = {server: highest_by_name(ranges) for server, ranges in offers.items()}
    sent = versions_sent(whole)
    node_of = {part["server"]: part["node_id"] for part in whole["servers"].to_pylist()}
    guesses = {server: guess_release(fitting_releases(ranges, sent[node_of.get(server)])) for server, ranges in offers.items()}
    if options.broker_release:
        given = releases().resolve(options.broker_release).name
        for server in node_of:
            if guesses.get(server) is None:
                highest[server], guesses[server] = {**broker_highest(given), **highest.get(server, {})}, given
    observed = [guess for guess in guesses.values() if guess is not None]
    targets = [releases().resolve(release) for release in options.target_releases or default_targets(observed)]
    return Cluster(whole, highest, guesses, targets)


def answers_by_key(sums: Partial, cluster: Cluster, owners: Owners = NO_OWNERS) -> dict[str, pa.Table]:
    """Make the tables of clients, topics and groups, for all keys or for those of a bucket (`kwire.analysis.key_buckets`)."""
    partial = {**sums, **cluster.whole}
    usage = usage_rows(partial, cluster.refuses, cluster.highest)
    groups = ClientGroups(partial, cluster.highest)
    partly = partly_seen(partial)
    answers = {
        "clients": without_totals(clients(partial, usage, groups), partly),
        "api_usage": api_usage(usage),
        "upgrade_impact": without_ok(upgrade_impact(partial, usage, groups, cluster.targets, cluster.guesses), partly),
        "topic_access": topic_access(partial),
        "client_hourly": client_hourly(partial),
        "group_events": group_events(partial),
    }
    return owners.fill(answers)


def finish(partial: Partial, options: Options | None = None) -> dict[str, pa.Table]:
    """Make tables `captures`, `clients`, `api_usage`, `upgrade_impact`, `brokers`, `topic_access`, `client_hourly` and `group_events`.

    Raises:
        InputError: a requested release is unknown.
    """
    options = options or Options()
    cluster = cluster_of(partial, options)
    sums, moves = united(partial)
    answers = cluster.tables() | answers_by_key(sums, cluster, options.owners)
    return answers | moved_tables({"group_events": answers["group_events"]}, moves)
