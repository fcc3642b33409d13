"""Real clients through the proxy to real brokers: librdkafka, kafka-python and Kafka's own Java client."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import trustme

from kwire.cli.rehearsal_page import RehearsalPage
from kwire.proxy.config import AddressesConfig, RehearsalConfig, TlsConfig
from kwire.proxy.rules.rehearsal import RehearsalRule
from kwire.proxy.server import ProxyServer
from kwire.schema import releases
from proxied_clients import ALL, RECORDS, confluent, java, kafka, kafka_python
from running_proxy import address, proxied

pytestmark = pytest.mark.xdist_group("kafka")

NEWEST = releases().newest.name
OLDER = releases().resolve("3.9").name
PLAIN = {"sasl_mechanism": "PLAIN", "password": "secret"}
SCRAM = {"sasl_mechanism": "SCRAM-SHA-256", "password": "scrambled"}


def java_ends(server: ProxyServer) -> set[str]:
    """Each of the two transactions ends with a marker at an offset of its own; a consumer's position may or may not be behind the last."""
    return {f"{server.ports[0]} {RECORDS} {RECORDS + markers}" for markers in (1, 2)}


@pytest.fixture(params=[OLDER, NEWEST])
def broker(request: pytest.FixtureRequest, kafka_broker: Callable[[str], Any]) -> Any:
    return kafka_broker(request.param)


@pytest.mark.parametrize("client", [confluent, kafka_python])
@pytest.mark.parametrize("large_answers", ["cap", "hold"])
def test_records_groups_transactions_and_admin(broker: Any, client: Callable[..., list[bytes]], large_answers: str) -> None:
    """The only broker that the clients are shown is the proxy."""
    with proxied(broker.plain, addresses=AddressesConfig(large_answers=large_answers)) as server:  # type: ignore[arg-type]
        assert client(address(server), f"plain-{large_answers}-{client.__name__}") == ALL


def test_the_java_client(broker: Any) -> None:
    with proxied(broker.plain) as server:
        assert java(address(server), "no-sasl-java") in java_ends(server)


@pytest.mark.parametrize("sasl", [PLAIN, SCRAM], ids=["plain", "scram"])
def test_clients_that_authenticate(broker: Any, sasl: dict[str, str]) -> None:
    """With the broker: the proxy passes what they say."""
    mechanism, password = sasl["sasl_mechanism"], sasl["password"]
    name = mechanism.lower()
    with proxied(broker.sasl) as server:
        where = address(server)
        rdkafka = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": mechanism, "sasl_username": "alice", "sasl_password": password}
        assert confluent(where, f"sasl-{name}-confluent", **rdkafka) == ALL
        given = {"security_protocol": "SASL_PLAINTEXT", "sasl_plain_username": "alice", "sasl_plain_password": password}
        assert kafka_python(where, f"sasl-{name}-python", sasl_mechanism=mechanism, **given) == ALL
        module = "scram.ScramLoginModule" if mechanism.startswith("SCRAM") else "plain.PlainLoginModule"
        login = f'org.apache.kafka.common.security.{module} required username="alice" password="{password}";'
        asked = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism, "sasl.jaas.config": login}
        assert java(where, f"sasl-{name}-java", **asked) in java_ends(server)


def test_tls_towards_clients(broker: Any, tmp_path: Path) -> None:
    """The broker's listener speaks SASL without TLS; clients speak SASL over TLS."""
    authority = trustme.CA()
    made = authority.issue_cert("127.0.0.1")
    made.cert_chain_pems[0].write_to_path(str(tmp_path / "cert.pem"))
    made.private_key_pem.write_to_path(str(tmp_path / "key.pem"))
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    tls = TlsConfig(certificate=str(tmp_path / "cert.pem"), key=str(tmp_path / "key.pem"))
    trusted = str(tmp_path / "ca.pem")
    with proxied(broker.sasl, tls) as server:
        where = address(server)
        rdkafka = {"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN", "sasl_username": "alice", "sasl_password": "secret"}
        assert confluent(where, "tls-confluent", ssl_ca_location=trusted, **rdkafka) == ALL
        given = {"security_protocol": "SASL_SSL", "sasl_plain_username": "alice", "sasl_plain_password": "secret"}
        context = ssl.create_default_context(cafile=trusted)
        assert kafka_python(where, "tls-python", sasl_mechanism="PLAIN", ssl_context=context, **given) == ALL


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
        assert confluent(address(server), "rehearsed-confluent") == ALL
    with proxied(older.plain, rehearsal=RehearsalConfig(release=NEWEST, mode="count")) as server:
        assert sends_as_0_10(address(server), "rehearsed") == ""
        (rule,) = (each for each in server.rules.rules if isinstance(each, RehearsalRule))
        assert {(each.api_key, each.api_version) for each in rule.rejected} == {(0, 2)}


def test_the_page_of_a_rehearsal(kafka_broker: Callable[[str], Any], tmp_path: Path) -> None:
    """The analysis of what the tap wrote, made while the proxy runs and again at its end."""
    older = kafka_broker(OLDER)
    with kafka.KafkaAdminClient(bootstrap_servers=older.address) as admin:
        admin.create_topics([kafka.admin.NewTopic("on-the-page", 1, 1)])
    page = RehearsalPage(str(tmp_path / "out"), NEWEST)
    with proxied(older.plain, rehearsal=RehearsalConfig(release=NEWEST, mode="count"), tap=page.tap()) as server:
        ports = server.ports
        assert confluent(address(server), "page-confluent") == ALL
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
    assert [each["verdict"] for each in both if (each["api_name"], each["api_version"]) == ("Produce", 2)] == ["rejected"]
    capture = b"".join(each.read_bytes() for each in (tmp_path / "out" / "captures").iterdir())
    assert b"page-confluent" in capture
    assert b"record 1" not in capture


def tables(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / "upgrade_impact").to_pylist()
    return found
