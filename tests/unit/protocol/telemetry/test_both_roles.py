"""Both roles of KIP-714 talk to each other in frames, with and without the instance id of KIP-1313, and beside a negotiating broker."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import kwire
from kwire.codec.catalog_codec import Codec
from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.protocol.negotiation import NegotiatingBroker, NegotiatingClient
from kwire.protocol.negotiation.outcomes import Agreed, Answered, Send
from kwire.protocol.telemetry import MemoryReceiver, MetricStore, SubscriptionTable, TelemetryClient, TelemetryReceiver
from kwire.protocol.telemetry.client_states import PushState
from kwire.protocol.telemetry.receivers import PushContext
from kwire.schema import catalog, dialect

MS = 1_000_000
OWN = Uuid.parse("SqxhZUVdTqSO1rz6EUOYhQ")
HERE = PushContext(connection="c1", client_id="app")


def roles(codec: Codec | None = None, **more: Any) -> tuple[TelemetryClient, TelemetryReceiver, MemoryReceiver]:
    store = MetricStore()
    store.add("org.apache.kafka.producer.connection.creation.total", 2)
    table = SubscriptionTable()
    table.set("all", {"metrics": "*", "interval.ms": "1000"})
    memory = MemoryReceiver()
    broker = TelemetryReceiver(table, [memory], codec=codec, known_ids=more.pop("known_ids", "echo"))
    return TelemetryClient(store, codec=codec, client_id="app", random=Random(3), **more), broker, memory


def turn(client: TelemetryClient, broker: TelemetryReceiver, version: int = 0) -> tuple[Any, Any]:
    """One request and its answer, decoded."""
    t = client.due
    assert t is not None
    frame = client.next_frame(t, 9, version=version)
    assert frame is not None
    answer = broker.respond(frame, HERE, t)
    client.receive_frame(answer, t)
    request = broker.codec.decode_request(frame)
    return request, broker.codec.decode_response(answer, request.header.api_key, version).body


def test_a_life_of_a_client() -> None:
    client, broker, memory = roles()
    turn(client, broker)
    for _ in range(3):
        turn(client, broker)
    client.close()
    turn(client, broker)
    assert client.state is PushState.TERMINATED
    assert [payload.terminating for _, payload in memory.payloads] == [False] * 3 + [True]
    assert [points[0]["value"] for points in memory.points] == [2, 0, 0, 0]  # deltas, as Kafka's brokers want them


@pytest.mark.parametrize(("known_ids", "second"), [("echo", None), ("zero", ZERO_UUID)])
def test_K1313_35_an_old_client_gets_its_id_from_the_broker(known_ids: str, second: Uuid | None) -> None:
    client, broker, memory = roles(known_ids=known_ids)
    request, answer = turn(client, broker)
    given = answer.client_instance_id
    assert (request.body.client_instance_id, given != ZERO_UUID, client.instance_id) == (ZERO_UUID, True, given)
    broker.subscriptions.set("more", {"interval.ms": "500"})
    turn(client, broker)  # 117
    request, answer = turn(client, broker)
    assert (request.body.client_instance_id, answer.client_instance_id) == (given, given if second is None else second)
    turn(client, broker)
    assert memory.payloads[-1][1].instance_id == given == client.instance_id


@pytest.mark.parametrize(
    ("known_ids", "answered"),
    [
        pytest.param("zero", ZERO_UUID, marks=pytest.mark.requirement("K1313-36")),
        pytest.param("echo", OWN, marks=pytest.mark.requirement("K1313-38")),
    ],
)
def test_K1313_36_K1313_38_a_client_with_an_id_takes_zero_and_its_own(known_ids: str, answered: Uuid) -> None:
    client, broker, memory = roles(known_ids=known_ids, instance_id=OWN)
    request, answer = turn(client, broker)
    assert (request.body.client_instance_id, answer.client_instance_id, client.instance_id) == (OWN, answered, OWN)
    turn(client, broker)
    assert memory.payloads[0][1].instance_id == OWN


def test_K1313_37_in_version_1_the_id_is_in_the_header_alone() -> None:
    codec = Codec(dialect("kip-1313"))
    client, broker, memory = roles(codec, instance_id=OWN)
    for _ in range(2):
        request, _answer = turn(client, broker, version=1)
        assert request.header.client_instance_id == OWN
        assert request.body.client_instance_id == ZERO_UUID
    assert memory.payloads[0][1].instance_id == OWN


def test_K714_57_telemetry_is_added_to_what_a_broker_without_it_speaks() -> None:
    client, broker, memory = roles()
    before = catalog()
    older = dict.fromkeys((3, 18), (0, 0))
    assert 71 not in older
    here = NegotiatingBroker({**older, **broker.advertised()}, answers={
        key: lambda request: broker.answer(request.body, HERE, now) for key in broker.advertised()
    })  # fmt: skip
    wire = NegotiatingClient(client_id="app", api_versions=0)
    now = 0

    def answers(sent: Any) -> list[Any]:
        said = here.receive(sent.data, now)
        return [each for out in said if isinstance(out, Send) for each in wire.receive(out.data, now)]

    (agreed,) = answers(wire.connected(0)[0])
    assert isinstance(agreed, Agreed)
    assert {71, 72} <= set(agreed.versions.ranges)
    for _ in range(3):
        now = client.due or 0
        (answered,) = answers(wire.send(client.next_request(now), now))
        assert isinstance(answered, Answered)
        client.receive(answered.response.body, now)
    assert [payload.instance_id for _, payload in memory.payloads] == [client.instance_id] * 2
    assert before is catalog()


@pytest.mark.parametrize(
    ("name", "frame"),
    [
        ("GetTelemetrySubscriptionsRequest", "4aac6165455d4ea48ed6bcfa11439885 00"),
        (
            "GetTelemetrySubscriptionsResponse",
            "00000007 0059 4aac6165455d4ea48ed6bcfa11439885 0000000b 03 0401 0000ea60 00100000 01 03 03 612e 03 622e 00",
        ),
        ("PushTelemetryRequest", "4aac6165455d4ea48ed6bcfa11439885 0000000b 01 04 03 abcd 00"),
        ("PushTelemetryResponse", "00000007 0057 00"),
    ],
)
@pytest.mark.requirement("K714-1", "K714-2", "K714-3", "K714-4")
def test_bodies_worked_out_by_hand(name: str, frame: str) -> None:
    made = {
        "GetTelemetrySubscriptionsRequest": {"client_instance_id": OWN},
        "GetTelemetrySubscriptionsResponse": {
            "throttle_time_ms": 7, "error_code": 89, "client_instance_id": OWN, "subscription_id": 11, "accepted_compression_types": [4, 1],
            "push_interval_ms": 60_000, "telemetry_max_bytes": 1 << 20, "delta_temporality": True, "requested_metrics": ["a.", "b."],
        },
        "PushTelemetryRequest": {
            "client_instance_id": OWN, "subscription_id": 11, "terminating": True, "compression_type": 4, "metrics": b"\xab\xcd",
        },
        "PushTelemetryResponse": {"throttle_time_ms": 7, "error_code": 87},
    }[name]  # fmt: skip
    message = getattr(kwire.messages, name)(**made)
    assert kwire.encode(message, 0) == bytes.fromhex(frame)
    assert kwire.encode(kwire.decode(name, bytes.fromhex(frame), 0), 0) == bytes.fromhex(frame)


@pytest.mark.requirement("K714-3")
def test_metrics_that_are_null_are_a_fault() -> None:
    # librdkafka 2.5.3 sends this once its subscription is narrowed (confluentinc/librdkafka#4912)
    from kwire.errors import NullNotAllowed

    with pytest.raises(NullNotAllowed):
        kwire.decode("PushTelemetryRequest", bytes.fromhex("4aac6165455d4ea48ed6bcfa11439885 0000000b 00 00 00 00"), 0)


@pytest.mark.requirement("K714-5")
@pytest.mark.parametrize(
    ("version", "request_bytes", "response_bytes"),
    [(0, "00", "00000000 0000 02 02 61 00 00"), (1, "02 10 00", "00000000 0000 02 02 61 10 00 00")],
)
def test_resources_of_subscriptions_are_listed_under_both_names(version: int, request_bytes: str, response_bytes: str) -> None:
    messages = kwire.messages
    asked = messages.ListConfigResourcesRequest(resource_types=[16] if version else [])
    assert kwire.encode(asked, version) == bytes.fromhex(request_bytes)
    if not version:  # the name before 4.1
        assert kwire.encode(messages.ListClientMetricsResourcesRequest(), 0) == bytes.fromhex(request_bytes)
    answer = kwire.decode("ListConfigResourcesResponse", bytes.fromhex(response_bytes), version)
    assert [(each.resource_name, each.resource_type) for each in answer.config_resources] == [("a", 16)]
    assert kwire.encode(answer, version) == bytes.fromhex(response_bytes)
