"""Every field of every message that passes the rule of tenants: it is edited, or was looked at and holds no name."""

from __future__ import annotations

import kwire
from kwire.codec.topic_fields import fields_at
from kwire.protocol.relay import CLOSE, RelayRule
from kwire.proxy.rules.tenants import TenantsRule

# Texts, ids and bytes that say nothing of a topic, group or transaction, or only of the tenant's own group. A field that is new must be
# looked at: does it hold names?
HARMLESS = {
    "assignor_name", "auth_bytes", "client_host", "client_id", "client_instance_id", "client_software_name",
    "client_software_version", "cluster_id", "committed_metadata", "configuration_keys", "documentation", "group_instance_id",
    "group_state", "group_type", "instance_id", "leader", "log_dir", "mechanism", "mechanisms", "member_id", "metadata",
    "metrics", "name", "protocol_data", "protocol_name", "protocol_type", "rack", "rack_id", "reason", "records",
    "replica_directory_id", "requested_metrics", "server_assignor", "state_filters", "states_filter", "transaction_state",
    "types_filter", "unknown_state_filters", "value",
}  # fmt: skip
NAMES_OF_OTHER_THINGS = {
    "AlterConfigsRequest", "ApiVersionsResponse", "CreateTopicsRequest", "CreateTopicsResponse", "DescribeConfigsResponse",
    "IncrementalAlterConfigsRequest", "JoinGroupRequest",
}  # fmt: skip  # configurations, features, assignors


def test_every_field_that_a_tenant_sees_was_looked_at() -> None:
    closed = {
        (rule.direction, rule.api_key, version)
        for rule in TenantsRule("a.").relay_rules()
        if rule.action == CLOSE
        for version in versions(rule)
    }
    looked_at = 0
    for message in kwire.schema.catalog().messages.values():
        if message.api_key is None or message.kind not in ("request", "response"):
            continue
        for version in message.valid_versions:
            if ("request", message.api_key, version) in closed:
                continue
            covered = {path for paths in kwire.fields_about(message.kind, message.api_key, version) for path in paths}
            for path, field, _ in fields_at(message, version):
                name = path.rpartition(".")[2]
                if field.element_type in ("string", "bytes", "records", "uuid") and path not in covered:
                    assert name in HARMLESS, (message.name, version, path)
                    assert name != "name" or message.name in NAMES_OF_OTHER_THINGS, (message.name, version, path)
                    looked_at += 1
    assert looked_at > 400


def versions(rule: RelayRule) -> list[int]:
    message = kwire.schema.catalog().request(rule.api_key)
    assert message is not None
    return list(message.valid_versions if rule.versions is None else rule.versions)
