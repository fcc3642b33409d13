"""From merged parts to the tables that answer questions: clients, api_usage, upgrade_impact, brokers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from kwire.analysis.brokers import brokers, offers_of
from kwire.analysis.client_groups import ClientGroups
from kwire.analysis.client_hourly import client_hourly
from kwire.analysis.clients import clients
from kwire.analysis.group_events import group_events
from kwire.analysis.owners import NOBODY, Owners
from kwire.analysis.partial_sight import partly_seen, without_ok, without_totals
from kwire.analysis.partials import Partial, with_server_nodes
from kwire.analysis.release_ranges import accepts, broker_highest, default_targets, guess_release, highest_by_name, line_of, resolve_release
from kwire.analysis.topic_access import topic_access
from kwire.analysis.upgrade_impact import upgrade_impact
from kwire.analysis.usage_rows import api_usage, usage_rows

__all__ = ["Options", "finish"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a user asks of an analysis beside the captures.

    Attributes:
        target_releases: releases to judge for, `4.3.1`, or `4.3` for its newest patch; empty for the newest patch of each minor release
            from the observed broker's to the newest.
        broker_release: release of brokers whose ApiVersions responses were not seen; None when it is not known.
        owners: who answers for which clients.
    """

    target_releases: Sequence[str] = ()
    broker_release: str | None = None
    owners: Owners = NOBODY

    def check(self) -> None:
        """Raise what is wrong before the long work begins.

        Raises:
            InputError: a release is not known.
        """
        for release in (*self.target_releases, *([self.broker_release] if self.broker_release else [])):
            resolve_release(release)


def finish(partial: Partial, options: Options | None = None) -> dict[str, pa.Table]:
    """Answer the questions.

    Args:
        partial: merged parts of all series.
        options: what the user asks for.

    Returns:
        Tables `captures`, `clients`, `api_usage`, `upgrade_impact`, `brokers`, `topic_access`, `client_hourly` and `group_events`.

    Raises:
        InputError: a release that is asked for is not known.
    """
    options = options or Options()
    partial = with_server_nodes(partial)
    offers = offers_of(partial)
    highest: dict[str, Mapping[str, int]] = {server: highest_by_name(ranges) for server, ranges in offers.items()}
    guesses = {server: guess_release(ranges) for server, ranges in offers.items()}
    if options.broker_release:
        given = resolve_release(options.broker_release)
        for server in {part["server"] for part in partial["servers"].to_pylist()} - offers.keys():
            highest[server], guesses[server] = broker_highest(given), given
    observed = [guess for guess in guesses.values() if guess is not None]
    targets = [resolve_release(release) for release in options.target_releases] or default_targets(observed)
    lines = {server: line_of(guess) for server, guess in guesses.items() if guess is not None}

    def refuses(server: str, api_key: int, version: int) -> bool:
        release = guesses.get(server)
        return release is not None and not accepts(release, api_key, version)

    usage = usage_rows(partial, refuses, highest)
    groups = ClientGroups(partial, highest)
    partly = partly_seen(partial)
    answers = {
        "captures": partial["captures"],
        "clients": without_totals(clients(partial, usage, groups), partly),
        "api_usage": api_usage(usage),
        "upgrade_impact": without_ok(upgrade_impact(partial, usage, groups, targets, lines), partly),
        "brokers": brokers(partial),
        "topic_access": topic_access(partial),
        "client_hourly": client_hourly(partial),
        "group_events": group_events(partial),
    }
    return options.owners.fill(answers)
