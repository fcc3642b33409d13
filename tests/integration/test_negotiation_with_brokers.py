"""The client's side of negotiation against real brokers of the newest release and of 3.9: bytes that Kafka itself answered."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from kwire.codec.catalog_codec import Codec
from kwire.codec.uuids import Uuid
from kwire.protocol.instance_ids import new_instance_id
from kwire.protocol.negotiation import NegotiatingClient
from kwire.protocol.negotiation.outcomes import Agreed, Answered, Outcome, Over, Retried, Send
from kwire.schema import Versions, catalog, dialect, releases

pytestmark = pytest.mark.xdist_group("kafka")

NEWEST, OLDER = releases().newest.name, releases().resolve("3.9").name
BOTH = [NEWEST, pytest.param(OLDER, marks=pytest.mark.matrix)]


class Wire:
    def __init__(self, machine: NegotiatingClient, port: int) -> None:
        self.machine = machine
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)

    def run(self, outcomes: list[Outcome], until: type) -> list[Outcome]:
        said = list(outcomes)
        while True:
            self.socket.sendall(b"".join(each.data for each in outcomes if isinstance(each, Send)))
            if any(isinstance(each, until) for each in said):
                return said
            data = self.socket.recv(65536)
            outcomes = self.machine.receive(data, time.monotonic_ns()) if data else self.machine.closed(time.monotonic_ns())
            said += outcomes
            assert until is Over or not any(isinstance(each, Over) for each in said), said

    def ask(self, body: Any, version: int | None = None) -> Any:
        (answered,) = (
            each for each in self.run([self.machine.send(body, time.monotonic_ns(), version)], Answered) if isinstance(each, Answered)
        )
        return answered.response


@contextmanager
def connected(port: int, **more: Any) -> Iterator[tuple[Wire, list[Outcome]]]:
    wire = Wire(NegotiatingClient(**more), port)
    with closing(wire.socket):
        yield wire, wire.run(wire.machine.connected(time.monotonic_ns()), Agreed)


@pytest.fixture(params=BOTH)
def broker(request: pytest.FixtureRequest, kafka_broker: Callable[[str], Any]) -> Any:
    return kafka_broker(request.param)


def test_K511_15_what_a_broker_tells_is_what_its_release_advertises(broker: Any) -> None:
    with connected(broker.plain) as (wire, said):
        retries = [each for each in said if isinstance(each, Retried)]
        # 4.4 has ApiVersions v5; 3.9 answers it in version 0 with error 35 and 0-4
        assert retries == ([] if broker.release == NEWEST else [Retried(5, 4)])
        versions = wire.machine.versions
        assert versions is not None
        told = {key: each for key, each in versions.ranges.items() if key not in (71, 72)}
        release = releases()[broker.release]
        assert told == {key: each for key, each in release.advertised().items() if key not in (71, 72)}
        assert broker.release in [each.name for each in versions.releases]
        assert versions.unknown == {}


@pytest.mark.requirement("K35-36")
def test_requests_in_the_chosen_versions_are_answered(broker: Any) -> None:
    with connected(broker.plain, client_id="wire") as (wire, _):
        messages = wire.machine.codec.messages
        cluster = wire.ask(messages.DescribeClusterRequest())
        assert [(each.broker_id, each.host, each.port) for each in cluster.body.brokers] == [(1, "127.0.0.1", broker.plain)]
        metadata = wire.ask(messages.MetadataRequest(topics=[]))
        assert metadata.api_version == releases()[broker.release].advertised()[3].highest
        assert metadata.body.cluster_id == cluster.body.cluster_id == "kwireTestsQmNUu0Mw9cVQ"


def test_K511_13_every_version_of_apiversions_is_answered_alike(broker: Any) -> None:
    for version in range(6):
        with connected(broker.plain, api_versions=version) as (wire, said):
            assert wire.machine.versions is not None
            known = version in releases()[broker.release].advertised()[18]
            assert [type(each) for each in said] == ([Send, Agreed] if known else [Send, Retried, Send, Agreed])


def test_K511_20_a_bad_name_is_refused_and_the_connection_goes_on(broker: Any) -> None:
    wire = Wire(NegotiatingClient(software=("my client", "1.0"), api_versions=3), broker.plain)
    with closing(wire.socket):
        (*_, over) = wire.run(wire.machine.connected(time.monotonic_ns()), Over)
        assert over.error.error_code == 42
        assert "client_software_name" in str(over.error)
        wire.machine = NegotiatingClient(software=("my-client", "1.0"), api_versions=3)  # on the same connection
        assert wire.run(wire.machine.connected(time.monotonic_ns()), Agreed)


@pytest.mark.requirement("K35-25", "K35-26")
def test_produce_that_is_advertised_and_not_taken(broker: Any) -> None:
    with connected(broker.plain) as (wire, _):
        assert wire.machine.versions is not None
        assert wire.machine.versions.ranges[0].lowest == 0
        body = wire.machine.codec.messages.ProduceRequest(acks=1, timeout_ms=1000)
        if broker.release == OLDER:
            assert wire.machine.versions.standing("Produce", 0) == "deprecated"
            assert wire.ask(body, 0).api_version == 0
            return
        assert wire.machine.versions.standing("Produce", 0) == "refused"
        (*_, over) = wire.run([wire.machine.send(body, time.monotonic_ns(), 0)], Over)
        assert over.reason == "closed_after_unsupported"


@pytest.mark.requirement("K35-25")
def test_a_version_that_no_release_has_closes_the_connection(broker: Any) -> None:
    with connected(broker.plain, codec=Codec(dialect("kip-1313"))) as (wire, _):
        highest = wire.machine.codec.catalog["MetadataRequest"].valid_versions.highest
        (*_, over) = wire.run([wire.machine.send(wire.machine.codec.messages.MetadataRequest(), time.monotonic_ns(), highest)], Over)
        assert over.reason == "closed_after_unsupported"


@pytest.mark.requirement("K511-26", "K511-27")
def test_apiversions_before_sasl_and_after_it(broker: Any) -> None:
    with connected(broker.sasl, api_versions=0) as (wire, _):
        messages = wire.machine.codec.messages
        assert wire.ask(messages.SaslHandshakeRequest(mechanism="PLAIN"), 1).body.error_code == 0
        assert wire.ask(messages.SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"), 2).body.error_code == 0
        wire.run(wire.machine.ask_again(time.monotonic_ns(), 3), Agreed)
        assert wire.ask(messages.DescribeClusterRequest()).body.error_code == 0


def test_a_gssapi_token_without_a_handshake_closes_the_connection(kafka_broker: Callable[[str], Any]) -> None:
    """KAFKA-18339: read as a request it has an api key that no release has."""
    token = bytes.fromhex("6082010206092a864886f712010202") + bytes(247)
    with closing(socket.create_connection(("127.0.0.1", kafka_broker(NEWEST).sasl), timeout=20)) as wire:
        wire.sendall(len(token).to_bytes(4, "big") + token)
        assert wire.recv(65536) == b""


@pytest.mark.requirement("K511-28")
@pytest.mark.parametrize("handshake", [False, True])
def test_apiversions_in_between_ends_the_connection(broker: Any, handshake: bool) -> None:
    with connected(broker.sasl, api_versions=0) as (wire, _):
        if handshake:
            wire.ask(wire.machine.codec.messages.SaslHandshakeRequest(mechanism="PLAIN"), 1)
        (*_, over) = wire.run(wire.machine.ask_again(time.monotonic_ns(), 0), Over)
        if handshake:
            assert "ILLEGAL_SASL_STATE (34)" in str(over.error)
        else:
            assert over.reason == "closed_by_peer"


@pytest.mark.requirement("K511-5")
def test_who_means_another_cluster_or_node_is_told_so(kafka_broker: Callable[[str], Any]) -> None:
    port = kafka_broker(NEWEST).plain
    with connected(port, cluster_id="kwireTestsQmNUu0Mw9cVQ", node_id=1) as (wire, _):
        assert wire.machine.versions is not None
    for meant in ({"cluster_id": "another", "node_id": 1}, {"cluster_id": "kwireTestsQmNUu0Mw9cVQ", "node_id": 2}):
        wire = Wire(NegotiatingClient(**meant), port)
        with closing(wire.socket):
            (*_, over) = wire.run(wire.machine.connected(time.monotonic_ns()), Over)
            assert str(over.error) == "the broker refused ApiVersions v5 with REBOOTSTRAP_REQUIRED (129)"


def test_K1313_53_a_client_with_header_3_uses_header_2_with_released_brokers(broker: Any) -> None:
    instance_id = new_instance_id()
    with connected(broker.plain, codec=Codec(dialect("kip-1313")), instance_id=instance_id) as (wire, _):
        machine = wire.machine
        sent = machine.send(machine.codec.messages.DescribeClusterRequest(), time.monotonic_ns())
        assert bytes(instance_id) not in sent.data
        assert wire.run([sent], Answered)
        assert machine.versions is not None
        for key in machine.versions.ranges:
            if machine.codec.catalog.request(key) is not None:
                assert machine.codec.header_version("request", key, machine.versions.choose(key)) <= 2


def test_header_3_on_apiversions_is_read_as_tags(broker: Any) -> None:
    """Why a client begins with the highest ApiVersions of header 2: brokers take the id for tagged fields, and give up on most ids."""
    codec = Codec(dialect("kip-1313"))
    highest = codec.catalog["ApiVersionsRequest"].valid_versions.highest
    assert highest == catalog()["ApiVersionsRequest"].valid_versions.highest + 1
    wire = Wire(NegotiatingClient(codec=codec, instance_id=Uuid(b"\xff" * 16), api_versions=highest), broker.plain)
    with closing(wire.socket):
        (*_, over) = wire.run(wire.machine.connected(time.monotonic_ns()), Over)
        assert over.reason == "closed_by_peer"
    # one whose first byte is 0, no tags, passes
    lucky = Uuid(b"\0" + b"\x40" * 15)
    with connected(broker.plain, codec=codec, instance_id=lucky, api_versions=highest) as (wire, said):
        assert isinstance(said[1], Retried)
        assert wire.machine.versions is not None
        assert isinstance(wire.machine.versions.ranges[18], Versions)
