"""KIP-714 as it was drafted: one request, content types, handshakes with each broker (dialect `kip-714-draft`)."""

from __future__ import annotations

from random import Random
from typing import Any

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kwire
from kwire.codec.catalog_codec import Codec
from kwire.drafts.content_types import ACCEPTED_CONTENT_TYPES, UnsupportedEncoding, parse_content_type, to_draft, to_released
from kwire.drafts.telemetry_broker import DraftTelemetryBroker
from kwire.drafts.telemetry_client import DraftState, DraftTelemetryClient
from kwire.protocol.telemetry import MemoryReceiver, MetricStore
from kwire.protocol.telemetry.otlp import encode_metrics
from kwire.protocol.telemetry.receivers import PushContext
from kwire.schema import dialect

MS = 1_000_000
DRAFT = Codec(dialect("kip-714-draft")).messages
HERE = PushContext(connection="c", client_id="rdkafka")
PAYLOAD = encode_metrics([{"metric": "client.x", "type": "gauge", "value": 1}])
PLAIN, ZSTD = "application/x-protobuf;type=otlp+metrics09", "application/x-protobuf+zstd;type=otlp+metrics09"
ID = "rdkafka-00112233-4455-6677-8899-aabbccddeeff"


def draft_broker(**more: Any) -> tuple[DraftTelemetryBroker, MemoryReceiver]:
    memory = MemoryReceiver()
    configs = {"rdkafka": {"client.producer.": 1000}, "": {"client.": 60_000}}
    return DraftTelemetryBroker(configs, more.pop("receivers", [memory]), random=Random(5), **more), memory


def ask(broker: DraftTelemetryBroker, t: int, **more: Any) -> Any:
    return broker.answer(DRAFT.PushTelemetryRequest(**{"client_instance_id": ID, **more}), HERE, t * MS)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (PLAIN, ("application/x-protobuf", 0, "otlp+metrics", "09")),
        (ZSTD, ("application/x-protobuf", 4, "otlp+metrics", "09")),
        ("application/x-protobuf+gzip; type=otlp+metrics1.0", ("application/x-protobuf", 1, "otlp+metrics", "1.0")),
    ],
)
def test_K714_9_content_types_are_taken_apart(text: str, parts: tuple[Any, ...]) -> None:
    assert tuple(parse_content_type(text)) == parts
    assert str(parse_content_type(text)) == text.replace("; ", ";")


@pytest.mark.parametrize(
    "text",
    ["application/x-protobuf", "application/x-protobuf+zstd", "application/x-protobuf;type=otlp", "application/x-protobuf+br;type=a1", ""],
)
def test_K714_9_without_type_and_version_an_encoding_is_not_supported(text: str) -> None:
    with pytest.raises(UnsupportedEncoding):
        parse_content_type(text)


@pytest.mark.requirement("K714-8", "K714-53")
@pytest.mark.parametrize(
    ("content_type", "told", "code"),
    [(None, True, 0), ("", True, 0), (PLAIN, False, 0), ("application/json;type=otlp+metrics09", True, 76), ("nonsense", True, 76)],
)
def test_accepted_types_are_told_when_they_are_asked_for_or_not_met(content_type: str | None, told: bool, code: int) -> None:
    broker, memory = draft_broker()
    answer = ask(broker, 0, content_type=content_type, metrics=PAYLOAD if content_type else b"")
    assert (tuple(answer.accepted_content_types), answer.error_code) == (ACCEPTED_CONTENT_TYPES if told else (), code)
    assert len(memory.payloads) == (content_type == PLAIN)


def test_the_compression_is_in_the_content_type() -> None:
    broker, memory = draft_broker()
    assert ask(broker, 0, content_type=ZSTD, metrics=bytes(cramjam.zstd.compress(PAYLOAD))).error_code == 0
    assert memory.points[0][0]["resource"] == {"client_instance_id": ID}
    assert ask(broker, 1000, content_type=PLAIN, metrics=b"\xff").error_code == 87


@pytest.mark.requirement("K714-36")
def test_without_a_receiver_the_function_is_not_enabled() -> None:
    broker, _ = draft_broker(receivers=[])
    assert ask(broker, 0, content_type=PLAIN, metrics=PAYLOAD).error_code == 35


@pytest.mark.requirement("K714-60", "K714-61")
def test_K714_20_the_first_interval_is_random_later_ones_are_the_lowest() -> None:
    broker, _ = draft_broker()
    first = [ask(broker, 0, client_instance_id=None).next_push_ms for _ in range(2000)]
    assert (min(first) < 10, max(first) > 990, max(first) <= 1000) == (True, True, True)
    answer = ask(broker, 0)
    again = ask(broker, answer.next_push_ms, content_type=PLAIN, metrics=PAYLOAD)
    assert (again.next_push_ms, list(again.requested_metrics)) == (1000, ["client.", "client.producer."])


@pytest.mark.requirement("K714-40")
def test_an_early_push_is_told_the_rest_of_its_time_and_nothing_else() -> None:
    broker, memory = draft_broker()
    wait = ask(broker, 0).next_push_ms
    early = ask(broker, wait - 1, content_type=PLAIN, metrics=PAYLOAD)
    assert early == DRAFT.PushTelemetryResponse(error_code=89, next_push_ms=1)
    assert not memory.payloads
    assert ask(broker, wait, content_type=PLAIN, metrics=PAYLOAD).error_code == 0
    assert ask(broker, wait + 1, content_type=PLAIN, metrics=PAYLOAD, terminating=True).error_code == 0
    assert len(memory.payloads) == 2


def test_K714_13_after_a_delay_an_empty_push_goes_to_a_random_broker() -> None:
    chosen = {DraftTelemetryClient(MetricStore(), random=Random(seed)).choose(["a", "b", "c"], 0) for seed in range(50)}
    assert chosen == {"a", "b", "c"}
    client = DraftTelemetryClient(MetricStore(), random=Random(1), delay_ms=500)
    client.choose(["a"], 0)
    assert client.next_request(499 * MS) is None
    assert client.next_request(500 * MS) == DRAFT.PushTelemetryRequest(client_instance_id=None, content_type=None, metrics=b"")


@pytest.mark.requirement("K714-15", "K714-17")
def test_K714_16_another_broker_is_shaken_hands_with_again() -> None:
    store = MetricStore()
    store.add("client.connection.creations", 2)
    client, (one, memory), (other, _) = DraftTelemetryClient(store, delay_ms=0), draft_broker(), draft_broker()
    client.choose(["a"], 0)
    client.receive(one.answer(client.next_request(0), HERE, 0), 0)
    assert client.instance_id is not None
    push = client.next_request(client.due)
    assert (push.client_instance_id, push.content_type) == (client.instance_id, PLAIN)
    client.receive(one.answer(push, HERE, client.due), client.due)
    assert memory.points[0][0]["value"] == 2
    client.choose(["b"], client.due)
    shaken = client.next_request(client.due)
    assert (shaken.client_instance_id, shaken.content_type, shaken.metrics) == (client.instance_id, None, b"")
    other.configs = {}
    client.receive(other.answer(shaken, HERE, client.due), client.due)
    assert client.wanted.nothing
    assert client.next_request(client.due - 1) is None
    assert client.next_request(client.due).metrics == b""  # an empty push asks again
    assert client.next_request(0, terminating=True) is None
    assert client.state is DraftState.TERMINATED


@pytest.mark.requirement("K714-27")
def test_the_drafts_client_pushes_once_more_when_it_ends() -> None:
    store = MetricStore()
    store.add("client.x", 1)
    client, (broker, _) = DraftTelemetryClient(store, delay_ms=0), draft_broker()
    client.choose(["a"], 0)
    client.receive(broker.answer(client.next_request(0), HERE, 0), 0)
    assert client.next_request(0, terminating=True).terminating


@given(st.binary(min_size=16, max_size=16).filter(any), st.booleans(), st.integers(0, 4), st.binary(max_size=40), st.integers(0, 9))
def test_K714_11_both_forms_keep_what_they_share(instance: bytes, terminating: bool, kind: int, metrics: bytes, subscription: int) -> None:
    body = kwire.messages.PushTelemetryRequest(
        client_instance_id=kwire.Uuid(instance),
        subscription_id=subscription,
        terminating=terminating,
        compression_type=kind,
        metrics=metrics,
    )
    drafted, lost = to_draft(body, DRAFT, "app")
    assert lost == ([f"the subscription id {subscription}"] if subscription else [])
    again, lost = to_released(drafted, kwire.messages, subscription)
    assert again == body
    assert lost == ["the client id 'app' in the instance id", "the format otlp+metrics09"]


def test_K714_11_a_handshake_has_no_id() -> None:
    drafted, _ = to_draft(kwire.messages.PushTelemetryRequest(), DRAFT, "app")
    assert drafted.client_instance_id is None
    assert to_released(drafted, kwire.messages)[0].client_instance_id == bytes(16)
