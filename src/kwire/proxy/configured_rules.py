"""Rules of a configuration, in the order in which they are applied to a frame."""

from __future__ import annotations

from collections.abc import Callable

from kwire.protocol.relay import HeldBudget, Unknown
from kwire.protocol.telemetry import SubscriptionTable, TelemetryReceiver
from kwire.proxy.cluster_listeners import is_asked
from kwire.proxy.config import ProxyConfig, TelemetryConfig, host_and_port
from kwire.proxy.rule_set import RuleSet
from kwire.proxy.rules.addresses import AddressesRule
from kwire.proxy.rules.audit import AuditRule
from kwire.proxy.rules.identity import IdentityRule
from kwire.proxy.rules.principals import PrincipalsRule
from kwire.proxy.rules.quotas import QuotasRule
from kwire.proxy.rules.raw_tokens import RawTokensRule
from kwire.proxy.rules.refusals import Condition, RefusalsRule
from kwire.proxy.rules.rehearsal import RehearsalRule
from kwire.proxy.rules.rule import Rule
from kwire.proxy.rules.telemetry import PushedLines, TelemetryRule
from kwire.proxy.rules.tenants import TenantsRule
from kwire.proxy.rules.versions import VersionsRule

__all__ = ["configured_rule_sets", "configured_rules"]


def configured_rule_sets(
    config: ProxyConfig, store: Callable[[bytes], object], budget: HeldBudget | None = None, audit: AuditRule | None = None
) -> dict[str, RuleSet]:
    """Create the rules of each tenant by name; the empty name is for listeners without a tenant. Tenants share common rules.

    `store` receives lines of pushed metrics; `budget` limits the memory of rules; `audit` writes the audit log.
    """
    shared = configured_rules(config, store, budget, audit)
    raw = _raw_tokens(config, bool(config.refusals))
    made = {"": RuleSet([*shared, *raw, *_addresses(config, None)], unknown=config.unknown)}
    # what is not known may hold names of others; refused, newer clients still come to an agreement about ApiVersions
    unknown: Unknown = "refuse" if config.unknown == "pass" else config.unknown
    for name, tenant in config.tenants.items():
        own = [*_raw_tokens(config, True), *_addresses(config, name), TenantsRule(tenant.prefix, error_texts=tenant.error_texts)]
        identity, *others = shared
        bound = [] if tenant.principals is None else [PrincipalsRule(tenant.principals)]  # before rules that answer
        made[name] = RuleSet([identity, *bound, *others, *own], unknown=unknown)
    return made


def configured_rules(
    config: ProxyConfig, store: Callable[[bytes], object] = len, budget: HeldBudget | None = None, audit: AuditRule | None = None
) -> list[Rule]:
    """Create the rules that all listeners share; arguments as in `configured_rule_sets`."""
    rules: list[Rule] = [IdentityRule()]
    if audit is not None:
        rules.append(audit)
    if config.refusals:
        conditions = [Condition(each.software, each.version, each.client_id, each.principal, each.address) for each in config.refusals]
        rules.append(RefusalsRule(conditions, _reached(config), budget, None if audit is None else audit.refused))
    if config.quotas:
        rules.append(QuotasRule(config.quotas))
    if config.versions is not None:
        rules.append(VersionsRule(config.versions.cap))
    if config.telemetry is not None:
        most = config.telemetry.max_pushed
        # unpacked points are a quarter of their lines, or less
        receiver = TelemetryReceiver(_wanted_metrics(config.telemetry), [PushedLines(store)], max_unpacked=most // 4)
        rules.append(TelemetryRule(receiver, most))
    if config.rehearsal is not None:
        rules.append(RehearsalRule(config.rehearsal.release, config.rehearsal.mode, config.rehearsal.counts_file))
    return rules


def _raw_tokens(config: ProxyConfig, closes: bool) -> list[Rule]:
    return [RawTokensRule()] if (closes if config.raw_sasl_tokens is None else not config.raw_sasl_tokens) else []


def _reached(config: ProxyConfig) -> dict[tuple[str, int], tuple[str, int]]:
    found = {
        (each.tenant or "", each.node_id): host_and_port(each.broker, "broker") for each in config.listeners if not is_asked(each.broker)
    }
    found |= {(each.tenant or "", -1): host_and_port(each.advertised, "advertised") for each in config.port_listeners}
    found |= {(each.tenant or "", -1): (each.bootstrap, each.port) for each in config.sni_listeners}
    return found | {(each.tenant or "", node_id): address for each in config.all_listeners for node_id, address in each.addresses()}


def _addresses(config: ProxyConfig, tenant: str | None) -> list[Rule]:
    listeners = (each for each in config.all_listeners if each.tenant == tenant)
    seen = dict(found for each in listeners for found in each.addresses())
    if not seen:
        return []
    return [AddressesRule(seen, large_answers=config.addresses.large_answers, unknown_node=config.addresses.unknown_node)]


def _wanted_metrics(config: TelemetryConfig) -> SubscriptionTable:
    found = SubscriptionTable()
    found.set("proxy", {"metrics": ",".join(config.metrics) or "*", "interval.ms": str(config.interval_ms)})
    return found
