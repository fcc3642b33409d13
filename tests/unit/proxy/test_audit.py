"""The audit log: who changed what with which outcome, and who was refused and why."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kwire
from kafka_bytes import framed
from kwire import messages
from kwire.proxy.config import AuditConfig, ListenerConfig, ProxyConfig
from kwire.proxy.config_file import check_config
from kwire.proxy.configured_rules import configured_rule_sets
from kwire.proxy.connection import ProxiedConnection
from kwire.proxy.rule_set import RuleSet
from kwire.proxy.rules.audit import AuditRule
from kwire.proxy.rules.identity import IdentityRule
from kwire.proxy.rules.refusals import Condition, RefusalsRule
from kwire.proxy.rules.rule import Peer, Rule
from kwire.proxy.rules.tenants import TenantsRule
from kwire.proxy.server import ProxyServer
from kwire.proxy.taps import Taps

MIB = 1 << 20


def connected(lines: list[bytes], *rules: Rule) -> ProxiedConnection:
    audit = AuditRule(lines.append)
    peer = Peer("10.0.0.9", 50_000, 1, principal="User:alice", tenant="acme")
    return ProxiedConnection(RuleSet([IdentityRule(), audit, *rules]), peer, max_frame=MIB, max_held=MIB)


def exchange(connection: ProxiedConnection, key: int, version: int, asked: Any, answered: Any) -> None:
    header = messages.RequestHeader(api_key=key, api_version=version, correlation_id=7, client_id="admin-1")
    connection.from_client(framed(kwire.encode_request(header, asked)), 1)
    if answered is not None:
        connection.from_server(framed(kwire.encode_response(7, answered, key, version)), 2)


def said(lines: list[bytes]) -> list[dict[str, Any]]:
    assert all(each.endswith(b"\n") for each in lines)
    return [json.loads(each) for each in lines]


def test_a_topic_that_a_tenant_creates() -> None:
    """The tenant's own name of the topic, as its client knows it; the answer of the broker has the error."""
    lines: list[bytes] = []
    connection = connected(lines, TenantsRule("acme."))
    topic, result = messages.CreateTopicsRequest.CreatableTopic, messages.CreateTopicsResponse.CreatableTopicResult
    asked = messages.CreateTopicsRequest(topics=[topic(name="orders", num_partitions=3, replication_factor=1)])
    exchange(connection, 19, 5, asked, messages.CreateTopicsResponse(topics=[result(name="acme.orders", error_code=36)]))
    (line,) = said(lines)
    assert line.pop("time").endswith("Z")
    request, response = line.pop("request"), line.pop("response")
    assert [(each["name"], each["numPartitions"]) for each in request["topics"]] == [("orders", 3)]
    assert [(each["name"], each["errorCode"]) for each in response["topics"]] == [("orders", 36)]
    assert line == {
        "event": "changed", "api": "CreateTopics v5", "client": "10.0.0.9:50000", "node_id": 1, "client_id": "admin-1", "software_name": "",
        "software_version": "", "principal": "User:alice", "tenant": "acme",
    }  # fmt: skip


def test_secrets_and_values_are_blanked_and_names_stay() -> None:
    lines: list[bytes] = []
    request, response = messages.IncrementalAlterConfigsRequest, messages.IncrementalAlterConfigsResponse
    config = request.AlterableConfig(name="ssl.keystore.password", config_operation=0, value="hunter2")
    asked = request(resources=[request.AlterConfigsResource(resource_type=4, resource_name="1", configs=[config])])
    exchange(
        connected(lines), 44, 1, asked, response(responses=[response.AlterConfigsResourceResponse(resource_type=4, resource_name="1")])
    )
    (line,) = said(lines)
    assert line["request"]["resources"][0]["configs"][0]["name"] == "ssl.keystore.password"
    assert b"hunter2" not in lines[0]


def test_reading_leaves_no_line() -> None:
    lines: list[bytes] = []
    exchange(connected(lines), 3, 12, messages.MetadataRequest(topics=None), messages.MetadataResponse())
    assert lines == []


def test_a_refused_client_has_one_line_a_connection() -> None:
    lines: list[bytes] = []
    audit = AuditRule(lines.append)
    rules = RuleSet([IdentityRule(), audit, RefusalsRule([Condition(client_id="admin-*")], audit=audit.refused)])
    connection = ProxiedConnection(rules, Peer("10.0.0.9", 50_000, 1), max_frame=MIB, max_held=MIB)
    for _ in range(2):
        exchange(connection, 3, 12, messages.MetadataRequest(topics=None), None)
        connection.settle_delayed(3)
    (line,) = said(lines)
    assert (line["event"], line["api"], line["client_id"], line["reason"]) == ("refused", "Metadata v12", "admin-1", "[[refusals]]")


def test_the_file_and_what_a_rule_closes(tmp_path: Path) -> None:
    config = ProxyConfig(
        listeners=[ListenerConfig(listen=":19092", broker="kafka:9092", node_id=1)], audit=AuditConfig(file=str(tmp_path / "audit.jsonl"))
    )
    check_config(config)
    server = ProxyServer(config)
    server.taps = Taps(config)
    slot: Any = SimpleNamespace(listener=":19092", left=lambda: None)
    server.left(slot, Peer("10.0.0.9", 50_000, 1), "refused", "a rule closes connections that use CreateAcls v3 requests", "CreateAcls v3")
    server.left(slot, Peer("10.0.0.9", 50_000, 1), "broker_unreachable", "the broker cannot be reached")
    server.taps.close()
    (file,) = tmp_path.iterdir()
    (line,) = said(file.read_bytes().splitlines(keepends=True))
    assert (line["event"], line["api"], line["reason"].partition(" that")[0]) == ("refused", "CreateAcls v3", "a rule closes connections")
    assert file.stat().st_mode & 0o777 == 0o600
    assert any(isinstance(rule, AuditRule) for rule in configured_rule_sets(config, len, None, AuditRule(len))[""].rules)
