"""The broker's side of negotiation with real clients: Kafka's own Java client, librdkafka and kafka-python."""

from __future__ import annotations

import secrets
import socket
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import confluent_kafka
import confluent_kafka.admin
import pytest
from tests.scram_server import ScramCredential, ScramServer

import listening_port
from kwire.codec.frames import Request
from kwire.protocol.negotiation import NegotiatingBroker
from kwire.protocol.negotiation.broker_role import TokenAnswer
from kwire.protocol.negotiation.outcomes import Authenticated, Identified, Outcome, Over, Send
from kwire.protocol.negotiation.scram import SCRAM_MECHANISMS
from kwire.schema import releases
from quick_spark import java_program

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it reads its schemas in a way that Python is giving up
    import kafka

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]  # the jars are fetched once

ROOT = Path(__file__).resolve().parents[2]
NEWEST = releases().newest.name
CLUSTER = "kwireTestsQmNUu0Mw9cVQ"


class Listener:
    """A port whose connections a machine serves: one broker, which is the whole cluster and speaks `ranges` beside SASL."""

    def __init__(self, ranges: dict[int, tuple[int, int]], **more: Any) -> None:
        self.ranges = ranges
        self.more = more
        self.outcomes: list[Outcome] = []
        self.requests: list[tuple[int, int]] = []
        self.faults: list[BaseException] = []
        self.address = ""

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def serve(self, connection: socket.socket) -> None:
        more = dict(self.more)
        if "scram" in more:  # an exchange is of one connection
            more["authenticate"] = ScramServer(more.pop("scram"), secrets.token_urlsafe())
        machine = NegotiatingBroker(self.ranges, answers={3: self._metadata, 60: self._cluster}, **more)
        self.messages = machine.codec.messages
        try:
            while not machine.over and (data := connection.recv(65536)):
                outcomes = machine.receive(data, time.monotonic_ns())
                self.outcomes += outcomes
                connection.sendall(b"".join(each.data for each in outcomes if isinstance(each, Send)))
        except OSError:
            pass  # the client went away
        except BaseException as error:
            self.faults.append(error)
            raise

    def _metadata(self, request: Request) -> Any:
        self.requests.append((3, request.header.api_version))
        told = self.messages.MetadataResponse
        node = told.MetadataResponseBroker(node_id=7, host="127.0.0.1", port=self.port)
        return told(brokers=[node], cluster_id=CLUSTER, controller_id=7, topics=[])

    def _cluster(self, request: Request) -> Any:
        self.requests.append((60, request.header.api_version))
        told = self.messages.DescribeClusterResponse
        return told(
            brokers=[told.DescribeClusterBroker(broker_id=7, host="127.0.0.1", port=self.port)], cluster_id=CLUSTER, controller_id=7
        )

    def all(self, kind: type) -> list[Any]:
        return [each for each in self.outcomes if isinstance(each, kind)]

    def errors(self) -> list[int]:
        """The error codes of the ApiVersions responses, which all stand at the same place; of other responses nothing is looked at."""
        return [code for each in self.all(Send) if (code := int.from_bytes(each.data[8:10], "big")) in (35, 42)]


@contextmanager
def listening(ranges: dict[int, tuple[int, int]], **more: Any) -> Iterator[Listener]:
    listener = Listener(ranges, **more)
    with listening_port.listening(listener.serve) as listener.address:
        yield listener
    assert listener.faults == []


def alice(mechanism: str, token: bytes) -> TokenAnswer:
    return (
        TokenAnswer(principal="User:alice")
        if token.split(b"\0")[1:] == [b"alice", b"secret"]
        else TokenAnswer(refused="Authentication failed")
    )


SASL: dict[str, Any] = {"mechanisms": ["PLAIN"], "authenticate": alice}
SASL_RANGES = {17: (0, 1), 36: (0, 2)}


def java(address: str, **settings: str) -> str:
    given = {"bootstrap.servers": address, "default.api.timeout.ms": "20000", "request.timeout.ms": "15000", **settings}
    done = java_program("DescribeCluster", [f"{key}={value}" for key, value in given.items()], 90)
    return done.stdout.strip().splitlines()[-1] if done.returncode == 0 else done.stderr


JAVA_SASL = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": 'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="secret";',
}


@pytest.mark.requirement("K511-13", "K511-15", "K511-19")
def test_the_java_client_falls_back_to_our_range_and_still_says_who_it_is() -> None:
    """4.4 asks in version 5, and a broker with 0-3 answers with error 35."""
    with listening({3: (0, 12), 18: (0, 3), 60: (0, 1)}) as listener:
        assert java(listener.address) == f"{CLUSTER} 7"
    assert 35 in listener.errors()
    assert set(listener.all(Identified)) == {Identified("apache-kafka-java", NEWEST)}
    assert (60, 1) in listener.requests


@pytest.mark.requirement("K511-14")
def test_the_java_client_falls_back_to_version_0_where_nothing_is_told() -> None:
    with listening({3: (0, 9), 18: (0, 2), 60: (0, 0)}, legacy_fallback=True) as listener:
        assert java(listener.address) == f"{CLUSTER} 7"
    assert set(listener.all(Identified)) == {Identified("unknown", "unknown")}


@pytest.mark.requirement("K511-26", "K511-27")
def test_the_java_client_authenticates() -> None:
    with listening({3: (0, 12), 18: (0, 4), 60: (0, 1), **SASL_RANGES}, **SASL) as listener:
        assert java(listener.address, **JAVA_SASL) == f"{CLUSTER} 7"
    first, second, third = [each for each in listener.outcomes if not isinstance(each, Send)][:3]
    assert (first, second) == (Identified("unknown", "unknown"), Authenticated("User:alice", "PLAIN"))
    assert third == Identified("apache-kafka-java", NEWEST)


def test_the_java_client_reads_that_its_password_is_wrong() -> None:
    with listening({3: (0, 12), 18: (0, 4), **SASL_RANGES}, **SASL) as listener:
        wrong = {**JAVA_SASL, "sasl.jaas.config": JAVA_SASL["sasl.jaas.config"].replace("secret", "guess")}
        assert "SaslAuthenticationException: Authentication failed" in java(listener.address, **wrong)
    assert listener.all(Over)[0].reason == "authentication_failed"


RDKAFKA_SASL = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "alice", "sasl.password": "secret"}


def scram(password: str = "secret") -> dict[str, Any]:
    known = {mechanism: ScramCredential.of(mechanism, password, b"some salt") for mechanism in SCRAM_MECHANISMS}
    return {"mechanisms": list(SCRAM_MECHANISMS), "scram": lambda mechanism, name: known[mechanism] if name == "alice" else None}


JAVA_SCRAM = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.jaas.config": JAVA_SASL["sasl.jaas.config"].replace("plain.Plain", "scram.Scram"),
}


def test_the_java_client_authenticates_by_scram() -> None:
    """Kafka's client checks the broker's signature too."""
    ranges = {3: (0, 12), 18: (0, 4), 60: (0, 1), **SASL_RANGES}
    with listening(ranges, **scram()) as listener:
        assert java(listener.address, **JAVA_SCRAM) == f"{CLUSTER} 7"
    assert Authenticated("User:alice", "SCRAM-SHA-512") in listener.outcomes
    with listening(ranges, **scram("another")) as listener:
        assert "SaslAuthenticationException" in java(listener.address, **JAVA_SCRAM)
    assert listener.all(Authenticated) == []


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_librdkafka_and_kafka_python_authenticate_by_scram(mechanism: str) -> None:
    with listening({3: (0, 12), 18: (0, 4), 60: (0, 1), **SASL_RANGES}, **scram()) as listener:
        settings = {**RDKAFKA_SASL, "sasl.mechanism": mechanism}
        assert confluent_kafka.admin.AdminClient({"bootstrap.servers": listener.address, **settings}).list_topics(timeout=20).brokers
        given = {"security_protocol": "SASL_PLAINTEXT", "sasl_plain_username": "alice", "sasl_plain_password": "secret"}
        kafka.KafkaAdminClient(bootstrap_servers=listener.address, sasl_mechanism=mechanism, **given).close()
    assert {Identified("kafka-python", kafka.__version__), Authenticated("User:alice", mechanism)} < {
        each for each in listener.outcomes if not isinstance(each, Send)
    }


@pytest.mark.requirement("K511-13")
@pytest.mark.parametrize(
    ("versions", "settings"), [((0, 4), {}), ((0, 3), {}), ((0, 2), {}), ((0, 4), RDKAFKA_SASL)], ids=["4", "3", "2", "sasl"]
)
def test_librdkafka(versions: tuple[int, int], settings: dict[str, str]) -> None:
    with listening({3: (0, 12), 18: versions, **SASL_RANGES}, **(SASL if settings else {})) as listener:
        admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": listener.address, **settings})
        found = admin.list_topics(timeout=20)
    assert (found.cluster_id, list(found.brokers)) == (CLUSTER, [7])
    name, version = confluent_kafka.version(), confluent_kafka.libversion()[0]
    named = Identified("confluent-kafka-python", f"{name if isinstance(name, str) else name[0]}-rdkafka-{version}")
    assert set(listener.all(Identified)) == {named if versions[1] >= 3 else Identified("unknown", "unknown")}
    if settings:
        assert Authenticated("User:alice", "PLAIN") in listener.outcomes


@pytest.mark.parametrize("sasl", [False, True])
def test_kafka_python(sasl: bool) -> None:
    given = {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "alice",
        "sasl_plain_password": "secret",
    }
    with listening({3: (0, 12), 18: (0, 4), 60: (0, 1), **SASL_RANGES}, **(SASL if sasl else {})) as listener:
        admin = kafka.KafkaAdminClient(bootstrap_servers=listener.address, **(given if sasl else {}))
        try:
            assert admin.describe_cluster()["cluster_id"] == CLUSTER
        finally:
            admin.close()
    assert Identified("kafka-python", kafka.__version__) in listener.outcomes
    assert (Authenticated("User:alice", "PLAIN") in listener.outcomes) is sasl


@pytest.mark.requirement("K35-35")
def test_a_client_chooses_for_each_broker() -> None:
    """The same client against our broker of 3.9's versions and one of 2.4's."""
    for name, metadata in (("3.9", 12), ("2.4", 9)):
        accepts = releases().resolve(name).advertised()
        with listening({key: (accepts[key].lowest, accepts[key].highest) for key in (3, 18)}) as listener:
            admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": listener.address})
            admin.list_topics(timeout=20)
        assert {version for key, version in listener.requests if key == 3} == {metadata}
