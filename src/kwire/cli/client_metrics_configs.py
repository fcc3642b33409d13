"""Subscriptions of a live cluster (KIP-714): config resources of type CLIENT_METRICS, read and changed through any broker.

Brokers forward changes to the controller and apply them a moment later. Source: `ClientMetricsCommand.ClientMetricsService`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kwire.cluster.broker_session import BrokerSession
from kwire.errors import InputError
from kwire.protocol.telemetry.subscriptions import CLIENT_METRICS

__all__ = ["ClientMetricsConfigs"]

_LIST_CONFIG_RESOURCES: Final = 74
_OF_CLIENT_METRICS: Final = 7  # DescribeConfigsResponse.ConfigSource.CLIENT_METRICS_CONFIG; defaults have 5
_SET: Final = 0
_DELETE: Final = 1


class ClientMetricsConfigs:
    """Subscriptions of the cluster of a session; brokers before 3.7 and clusters with ZooKeeper have none."""

    def __init__(self, session: BrokerSession) -> None:
        if not session.has(_LIST_CONFIG_RESOURCES):
            raise InputError(f"{session.node} has no client metrics subscriptions, which came with Kafka 3.7 and KRaft")
        self._session = session

    def _only(self, results: Sequence[Any], api: str) -> Any:
        if len(results) != 1:
            raise InputError(f"{self._session.node} answers {api} of one subscription with {len(results)} results")
        return results[0]

    def names(self) -> list[str]:
        # v0 is ListClientMetricsResources, which lists nothing else; v1 lists the types that it is asked for (KIP-1142)
        types = [CLIENT_METRICS] if self._session.version_of(_LIST_CONFIG_RESOURCES) else []
        answer = self._session.ask(self._session.messages.ListConfigResourcesRequest(resource_types=types))
        self._session.refused(answer.error_code, None, "list subscriptions")
        return sorted(each.resource_name for each in answer.config_resources)

    def properties(self, name: str) -> dict[str, str]:
        """Return the settings of a subscription by key, sorted; empty if the subscription does not exist."""
        request = self._session.messages.DescribeConfigsRequest
        resource = request.DescribeConfigsResource(resource_type=CLIENT_METRICS, resource_name=name, configuration_keys=None)
        result = self._only(self._session.ask(request(resources=[resource])).results, "DescribeConfigs")
        self._session.refused(result.error_code, result.error_message, f"describe {name!r}")
        return {
            each.name: each.value or ""
            for each in sorted(result.configs, key=lambda config: str(config.name))
            if each.config_source == _OF_CLIENT_METRICS
        }

    def alter(self, name: str, properties: Mapping[str, str]) -> None:
        """Set properties of a subscription, creating it if needed; an empty value removes the key."""
        request = self._session.messages.IncrementalAlterConfigsRequest
        configs = [
            request.AlterableConfig(name=key, config_operation=_SET if value else _DELETE, value=value or None)
            for key, value in properties.items()
        ]
        resource = request.AlterConfigsResource(resource_type=CLIENT_METRICS, resource_name=name, configs=configs)
        answer = self._only(self._session.ask(request(resources=[resource])).responses, "IncrementalAlterConfigs")
        self._session.refused(answer.error_code, answer.error_message, f"alter {name!r}")

    def delete(self, name: str) -> None:
        self.alter(name, dict.fromkeys(self.known(name), ""))

    def known(self, name: str) -> dict[str, str]:
        """Return the settings of an existing subscription."""
        properties = self.properties(name)
        if not properties:
            raise InputError(f"{self._session.node} knows no subscription {name!r}")
        return properties
