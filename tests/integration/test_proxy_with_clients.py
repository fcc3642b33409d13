"""Real clients through the proxy to real brokers: librdkafka, kafka-python, aiokafka, Kafka's own, sarama, kafka-go and kafkajs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest
import trustme

from client_security import Security, write_certificate
from kwire import messages
from kwire.cli.rehearsal_page import RehearsalPage
from kwire.proxy.config import (
    AddressesConfig,
    RefusalConfig,
    RehearsalConfig,
    TapConfig,
    TelemetryConfig,
    TenantConfig,
    TlsConfig,
    UpstreamTlsConfig,
    VersionsConfig,
)
from kwire.proxy.rules.rehearsal import RehearsalRule
from kwire.schema import releases
from kwire.tables import read_series
from proxied_clients import RECORDS, aiokafka_client, confluent, java, kafka, kafka_python, program, values
from threaded_proxy import address, proxied

pytestmark = pytest.mark.xdist_group("kafka")

NEWEST = releases().newest.name
OLDER = releases().resolve("3.9").name
CLIENTS = ("confluent", "kafka-python", "aiokafka", "java", "sarama", "kafka-go", "kafkajs")
PROTOCOLS = ("plaintext", "tls", "mutual-tls", "plain", "scram", "plain-over-tls")


def run_client(client: str, where: str, topic: str, security: Security, records: int = RECORDS, **more: str) -> bool:
    """Whether all records came back in their order, and the one broker that the client was shown is at this address."""
    if client == "java":
        said = java(where, topic, records=records, **security.java(), **more)
        # each of the two transactions ends with a marker at an offset of its own; a consumer's position may or may not be behind the last
        assert said in {f"{where.rpartition(':')[2]} {records} {records + markers}" for markers in (1, 2)}, said
        return True
    if client in ("sarama", "kafka-go", "kafkajs"):
        came = program(client, where, topic, records=records, **security.environment(), **more)
    elif client == "confluent":
        came = confluent(where, topic, records=records, **security.confluent(), **more)
    else:
        took = {"kafka-python": kafka_python, "aiokafka": aiokafka_client}[client]
        came = took(where, topic, records=records, **security.python(), **more)
    assert came == values(records), came[-1]
    return True


@pytest.fixture(params=[pytest.param(OLDER, marks=pytest.mark.matrix), NEWEST])
def broker(request: pytest.FixtureRequest, kafka_broker: Callable[[str], Any]) -> Any:
    return kafka_broker(request.param)


@pytest.fixture(scope="module")
def secured(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Secured:
    folder = tmp_path_factory.mktemp("certificates")
    ca = str(folder / "ca.pem")
    authority.cert_pem.write_to_path(ca)
    sides = {"127.0.0.1": "proxy", "proxy": "upstream", "client": "client"}
    files = {
        side: write_certificate(
            authority.issue_cert(name, common_name=side, organization_name="Example", organization_unit_name="tests"),
            folder / f"{side}.pem",
        )
        for name, side in sides.items()
    }
    return Secured(ca, files["proxy"], files["upstream"], files["client"])


class Secured(NamedTuple):
    ca: str
    proxy: str
    upstream: str
    client: str

    def listener(self, protocol: str, broker: Any) -> tuple[int, dict[str, Any], Security]:
        """Port of the broker, TLS of the proxy's two sides, and what the client does."""
        upstream = UpstreamTlsConfig(ca=self.ca, certificate=self.upstream, key=self.upstream)
        both = {"tls": TlsConfig(certificate=self.proxy, key=self.proxy), "upstream_tls": upstream}
        asks = {**both, "tls": TlsConfig(certificate=self.proxy, key=self.proxy, client_ca=self.ca)}
        found: dict[str, tuple[int, dict[str, Any], Security]] = {
            "plaintext": (broker.plain, {}, Security()),
            "tls": (broker.tls, both, Security(ca=self.ca)),
            "mutual-tls": (broker.tls, asks, Security(ca=self.ca, certificate=self.client)),
            "plain": (broker.sasl, {}, Security(mechanism="PLAIN", user="alice", password="secret")),
            "scram": (broker.sasl, {}, Security(mechanism="SCRAM-SHA-256", user="alice", password="scrambled")),
            "plain-over-tls": (broker.sasl_tls, both, Security(ca=self.ca, mechanism="PLAIN", user="alice", password="secret")),
        }
        return found[protocol]


def all_rules(folder: Path) -> dict[str, Any]:
    return {
        "metrics": "127.0.0.1:0",
        "versions": VersionsConfig(cap=NEWEST),
        "rehearsal": RehearsalConfig(release=NEWEST, mode="count"),
        "refusals": [RefusalConfig(client_id="none such")],
        "telemetry": TelemetryConfig(file=str(folder / "pushed.jsonl")),
        "tap": TapConfig(file=str(folder / "tap.pcapng")),
        "request_log": TapConfig(file=str(folder / "log.jsonl")),
    }


def requests_of(path: Path, ports: tuple[int, ...]) -> Counter[tuple[Any, ...]]:
    with read_series([str(path)], "x", ports) as found:
        rows = found.table("requests").to_pylist()
    columns = ("software_name", "client_id", "api_name", "api_version", "correlation_id", "error_code", "state", "first_topic", "group_id")
    return Counter(tuple(row[name] for name in columns) for row in rows)


@pytest.mark.parametrize("client", CLIENTS)
def test_all_rules_at_once(broker: Any, client: str, tmp_path: Path) -> None:
    """Records, groups, transactions and admin requests; the only broker that a client is shown is the proxy."""
    with proxied(broker.plain, **all_rules(tmp_path)) as server:
        assert run_client(client, address(server), f"all-rules-{client}", Security())
        ports = tuple(server.ports)
    captured, logged_too = (requests_of(tmp_path / name, ports) for name in ("tap_00001.pcapng", "log_00001.jsonl"))
    assert sum(captured.values()) > 20
    assert logged_too == captured


@pytest.mark.matrix
@pytest.mark.parametrize(("client", "software"), [("confluent", "confluent-kafka-python"), ("java", "apache-kafka-java")])
def test_metrics_are_received(kafka_broker: Callable[[str], Any], client: str, software: str, tmp_path: Path) -> None:
    """Without authentication: clients ask for their subscription before the broker's first answer, and push when they end, at the least."""
    pushed = tmp_path / "pushed_00001.jsonl"
    with proxied(kafka_broker(NEWEST).plain, telemetry=TelemetryConfig(file=str(tmp_path / "pushed.jsonl"), interval_ms=500)) as server:
        for _ in range(5):  # a client that ends before its subscription comes pushes nothing
            assert run_client(client, address(server), f"pushing-{client}", Security())
            if pushed.exists() and pushed.stat().st_size:
                break
    points = [json.loads(line) for line in pushed.read_text().splitlines()]
    assert {point["resource"]["client_software_name"] for point in points} == {software}
    assert True in {point["terminating"] for point in points}


@pytest.mark.matrix
@pytest.mark.parametrize("client", CLIENTS)
def test_a_tenant_with_all_rules(kafka_broker: Callable[[str], Any], client: str, tmp_path: Path) -> None:
    """The client knows nothing of the prefix, which its topic has at the broker."""
    name = f"tenant-{client}"
    tenants = {"acme": TenantConfig(prefix="acme.")}
    with proxied(kafka_broker(OLDER).plain, tenant="acme", tenants=tenants, **all_rules(tmp_path)) as server:
        assert run_client(client, address(server), name, Security())
    # a broker keeps the folder of a topic that was deleted for a minute
    folders = [each.name for each in (kafka_broker(OLDER).folder / "data").iterdir()]
    assert any(each.startswith(f"acme.{name}-0") for each in folders)
    assert not any(each.startswith(name) for each in folders)


# mutual TLS takes all that TLS does, and PLAIN over TLS what PLAIN does: the weaker two are tried with some clients
SECURED = [(protocol, client) for protocol in ("mutual-tls", "scram", "plain-over-tls") for client in CLIENTS]
SECURED += [("tls", "confluent"), ("tls", "java"), ("plain", "kafka-python"), ("plain", "sarama")]


@pytest.mark.matrix
@pytest.mark.parametrize(("protocol", "client"), SECURED)
def test_security_protocols(kafka_broker: Callable[[str], Any], secured: Secured, protocol: str, client: str, tmp_path: Path) -> None:
    """TLS is on both sides; with SASL the client authenticates with the broker."""
    port, tls, security = secured.listener(protocol, kafka_broker(NEWEST))
    with proxied(port, **tls, **all_rules(tmp_path)) as server:
        assert run_client(client, address(server), f"{protocol}-{client}", security)


@pytest.mark.matrix
@pytest.mark.parametrize("client", ["confluent", "java"])
def test_groups_of_kip_848(kafka_broker: Callable[[str], Any], client: str, tmp_path: Path) -> None:
    with proxied(kafka_broker(NEWEST).plain, **all_rules(tmp_path)) as server:
        option = "group_protocol" if client == "confluent" else "group.protocol"
        assert run_client(client, address(server), f"kip-848-{client}", Security(), **{option: "consumer"})
        ports = server.ports
    with read_series([str(tmp_path / "tap_00001.pcapng")], "x", tuple(ports)) as found:
        apis = set(found.table("requests").column("api_name").to_pylist())
    assert "ConsumerGroupHeartbeat" in apis
    assert "JoinGroup" not in apis


@pytest.mark.matrix
@pytest.mark.parametrize("client", ["confluent", "kafka-python"])
def test_large_answers_may_be_held(broker: Any, client: str) -> None:
    with proxied(broker.plain, addresses=AddressesConfig(large_answers="hold")) as server:
        assert run_client(client, address(server), f"held-{client}", Security())


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("protocol", "sees", "proxy_sees"),
    [
        ("tls", "User:CN=upstream,OU=tests,O=Example", ""),
        ("mutual-tls", "User:CN=upstream,OU=tests,O=Example", "User:CN=client,OU=tests,O=Example"),
        ("scram", "User:alice", "User:alice"),
        ("plain-over-tls", "User:alice", "User:alice"),
    ],
)
def test_whom_the_broker_sees(
    kafka_broker: Callable[[str], Any], coordinated: Any, secured: Secured, protocol: str, sees: str, proxy_sees: str, tmp_path: Path
) -> None:
    """With mutual TLS the certificate of the proxy, with SASL the client (docs/how-to/proxy.md); the broker's request log says so."""
    broker = kafka_broker(NEWEST)
    log = broker.folder / "requests.log"
    port, tls, security = secured.listener(protocol, broker)
    with coordinated(broker.plain, "whom") as ask, proxied(port, **tls) as server:
        logged(ask, "DEBUG")
        try:
            with kafka.KafkaConsumer(bootstrap_servers=address(server), client_id=f"whom-{protocol}", **security.python()) as consumer:
                consumer.topics()
                assert {peer.principal for peer in server.peers()} == {proxy_sees}
        finally:
            logged(ask, "WARN")
    read = json.JSONDecoder().raw_decode
    lines = [read(line, line.index("{"))[0] for line in log.read_text().splitlines() if f"whom-{protocol}" in line]
    seen = {line["principal"] for line in lines if line["requestHeader"]["requestApiKeyName"] == "METADATA"}
    assert seen == {sees}


def logged(ask: Any, level: str) -> None:
    """Set the level of the broker's request log (KIP-412)."""
    request = messages.IncrementalAlterConfigsRequest
    config = request.AlterableConfig(name="kafka.request.logger", config_operation=0, value=level)
    resource = request.AlterConfigsResource(resource_type=8, resource_name="1", configs=[config])
    (found,) = ask(request(resources=[resource]), 1).responses
    assert found.error_code == 0, found


def sends_as_0_10(where: str, topic: str) -> str:
    """What a client of Kafka 0.10's time gets for a record: the name of the error, empty for none."""
    producer = kafka.KafkaProducer(bootstrap_servers=where, api_version=(0, 10), retries=0, request_timeout_ms=3000, max_block_ms=8000)
    try:
        producer.send(topic, b"of old").get(15)
    except kafka.errors.KafkaError as error:
        return type(error).__name__
    finally:
        producer.close(1)
    return ""


@pytest.mark.matrix
def test_a_rehearsal_breaks_the_clients_that_the_release_would_break(kafka_broker: Callable[[str], Any]) -> None:
    """Produce v2 and Metadata v1 of kafka-python for Kafka 0.10: Kafka 4 has Produce from v3 on (KIP-896). Behind the rehearsal a client
    ends as on the real broker, and with `count` it works and is counted."""
    older, newer = kafka_broker(OLDER), kafka_broker(NEWEST)
    for each in (older, newer):
        with kafka.KafkaAdminClient(bootstrap_servers=each.address) as admin:
            admin.create_topics([kafka.admin.NewTopic("rehearsed", 1, 1)])
    assert sends_as_0_10(older.address, "rehearsed") == ""
    real = sends_as_0_10(newer.address, "rehearsed")
    assert real
    with proxied(older.plain, rehearsal=RehearsalConfig(release=NEWEST, mode="break")) as server:
        assert sends_as_0_10(address(server), "rehearsed") == real
        assert confluent(address(server), "rehearsed-confluent") == values()
    with proxied(older.plain, rehearsal=RehearsalConfig(release=NEWEST, mode="count")) as server:
        assert sends_as_0_10(address(server), "rehearsed") == ""
        (rule,) = (each for each in server.rules.rules if isinstance(each, RehearsalRule))
        assert {(each.api_key, each.api_version) for each in rule.counts.read()[0]} == {(0, 2)}


@pytest.mark.matrix
def test_the_page_of_a_rehearsal(kafka_broker: Callable[[str], Any], tmp_path: Path) -> None:
    """The analysis of what the tap wrote, made while the proxy runs and again at its end."""
    older = kafka_broker(OLDER)
    with kafka.KafkaAdminClient(bootstrap_servers=older.address) as admin:
        admin.create_topics([kafka.admin.NewTopic("on-the-page", 1, 1)])
    page = RehearsalPage(str(tmp_path / "out"), NEWEST)
    with proxied(older.plain, rehearsal=RehearsalConfig(release=NEWEST, mode="count"), tap=page.tap()) as server:
        ports = server.ports
        assert confluent(address(server), "page-confluent") == values()
        page.finish(ports)
        first = tables(tmp_path / "out" / "analysis")
        assert sends_as_0_10(address(server), "on-the-page") == ""
        assert server.taps is not None
        assert server.taps.capture is not None
    page.finish(ports)
    assert server.taps.capture.dropped == 0
    both = tables(tmp_path / "out" / "analysis")
    assert page.path.exists()
    assert {each["software_name"] for each in first} == {"confluent-kafka-python"}
    assert [each["verdict"] for each in both if (each["api_name"], each["api_version"]) == ("Produce", 2)] == ["breaks"]
    capture = b"".join(each.read_bytes() for each in (tmp_path / "out" / "captures").iterdir())
    assert b"page-confluent" in capture
    assert b"record 1" not in capture


def tables(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / "upgrade_impact").to_pylist()
    return found
