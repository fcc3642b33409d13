"""The rules that a configuration asks for, in the order in which they act on a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.protocol.telemetry import SubscriptionTable, TelemetryReceiver
from kwire.proxy.rules.addresses import AddressesRule
from kwire.proxy.rules.identity import IdentityRule
from kwire.proxy.rules.refusals import Condition, RefusalsRule
from kwire.proxy.rules.rehearsal import RehearsalRule
from kwire.proxy.rules.rule import Rule
from kwire.proxy.rules.telemetry import TelemetryRule
from kwire.proxy.rules.versions import VersionsRule
from kwire.telemetry_export import JsonLinesReceiver

if TYPE_CHECKING:
    from kwire.proxy.config import ProxyConfig, TelemetryConfig

__all__ = ["configured_rules", "wanted_metrics"]


def configured_rules(config: ProxyConfig) -> list[Rule]:
    """Make them.

    Raises:
        InputError: a release, a condition or a subscription is wrong.
    """
    rules: list[Rule] = [IdentityRule()]
    if config.refusals:
        rules.append(
            RefusalsRule([Condition(each.software, each.version, each.client_id, each.principal, each.address) for each in config.refusals])
        )
    if config.versions is not None:
        rules.append(VersionsRule(config.versions.cap))
    if config.telemetry is not None:
        file = JsonLinesReceiver(config.telemetry.file)
        rules.append(TelemetryRule(TelemetryReceiver(wanted_metrics(config.telemetry), [file]), file.close))
    if config.rehearsal is not None:
        rules.append(RehearsalRule(config.rehearsal.release, config.rehearsal.mode))
    seen = dict(config.advertised())
    if seen:
        rules.append(AddressesRule(seen, large_answers=config.addresses.large_answers, unknown_node=config.addresses.unknown_node))
    return rules


def wanted_metrics(config: TelemetryConfig) -> SubscriptionTable:
    """What clients are asked for.

    Raises:
        InputError: Kafka would refuse the subscription.
    """
    found = SubscriptionTable()
    found.set("proxy", {"metrics": ",".join(config.metrics) or "*", "interval.ms": str(config.interval_ms)})
    return found
