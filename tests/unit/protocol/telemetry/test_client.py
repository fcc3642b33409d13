"""The client's side of KIP-714 against answers written by hand: states, waits, what is pushed, what errors lead to."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

import kwire
from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.errors import KwireError
from kwire.protocol.telemetry import MetricStore, TelemetryClient, decode_metrics
from kwire.protocol.telemetry.client_outcomes import Accepted, Disabled, Failed, PushLost, Subscribed
from kwire.protocol.telemetry.client_role import LIBRDKAFKA_JITTER, InstanceIdTimeout
from kwire.protocol.telemetry.client_states import TELEMETRY_CLIENT, PushEvent, PushState
from kwire.protocol.transitions import InvalidTransition

MS = 1_000_000
ID = Uuid.parse("SqxhZUVdTqSO1rz6EUOYhQ")
INTERVAL = 10_000
COUNT = "org.apache.kafka.producer.connection.creation.total"

# What `ClientTelemetryState.validateTransition` of kafka-clients 4.4.0 lets pass.
KAFKAS_MOVES = {
    "SUBSCRIPTION_NEEDED": {"SUBSCRIPTION_IN_PROGRESS", "TERMINATED"},
    "SUBSCRIPTION_IN_PROGRESS": {"SUBSCRIPTION_NEEDED", "PUSH_NEEDED", "TERMINATING_PUSH_NEEDED", "TERMINATED"},
    "PUSH_NEEDED": {"SUBSCRIPTION_NEEDED", "PUSH_IN_PROGRESS", "TERMINATING_PUSH_NEEDED", "TERMINATED"},
    "PUSH_IN_PROGRESS": {"SUBSCRIPTION_NEEDED", "PUSH_NEEDED", "TERMINATING_PUSH_NEEDED", "TERMINATED"},
    "TERMINATING_PUSH_NEEDED": {"TERMINATING_PUSH_IN_PROGRESS", "TERMINATED"},
    "TERMINATING_PUSH_IN_PROGRESS": {"TERMINATED"},
    "TERMINATED": set(),
}


def store() -> MetricStore:
    made = MetricStore({"client_rack": "r1"})
    made.add(COUNT, 5)
    return made


def client(**more: Any) -> TelemetryClient:
    return TelemetryClient(more.pop("store", None) or store(), random=more.pop("random", None) or Random(7), **more)


def subscription(**more: Any) -> Any:
    told = {
        "client_instance_id": ID, "subscription_id": 11, "accepted_compression_types": [4, 3, 1, 2], "push_interval_ms": INTERVAL,
        "telemetry_max_bytes": 1 << 20, "delta_temporality": True, "requested_metrics": ["*"],
    }  # fmt: skip
    return kwire.messages.GetTelemetrySubscriptionsResponse(**{**told, **more})


def pushed(error_code: int = 0) -> Any:
    return kwire.messages.PushTelemetryResponse(error_code=error_code)


def subscribed(t: int = 0, told: Any = None, **more: Any) -> TelemetryClient:
    machine = client(**more)
    assert machine.next_request(t) is not None
    machine.receive(told or subscription(), t)
    return machine


def push(machine: TelemetryClient) -> Any:
    assert machine.due is not None
    body = machine.next_request(machine.due)
    assert type(body).__name__ == "PushTelemetryRequest"
    return body


def points(body: Any) -> list[dict[str, Any]]:
    return decode_metrics(body.metrics, body.compression_type)


def test_K714_18_the_moves_are_those_of_kafka_4_4() -> None:
    found: dict[str, set[str]] = {state.name: set() for state in PushState}
    for state, _, to in TELEMETRY_CLIENT:
        found[state.name].add(to.name)
    assert found == KAFKAS_MOVES
    for state in PushState:
        for event in PushEvent:
            if not TELEMETRY_CLIENT.allows(state, event):
                with pytest.raises(InvalidTransition):
                    TELEMETRY_CLIENT.after(state, event)


def test_the_page_of_the_proposal_draws_the_table() -> None:
    assert f"```mermaid\n{TELEMETRY_CLIENT.diagram()}```" in (Path(__file__).parents[4] / "docs" / "explanation" / "kip-714.md").read_text(
        "utf-8"
    )


def test_K714_18_a_bad_move_disables_telemetry() -> None:
    machine = subscribed()
    (said,) = machine._move(PushEvent.ASKED)
    assert said == Disabled(reason="a client that pushes metrics cannot take ASKED in state PUSH_NEEDED")
    assert machine.due is None
    assert machine.next_request(10**15) is None


def test_K714_12_without_the_api_nothing_is_ever_sent() -> None:
    machine = client()
    for hour in range(100):
        assert machine.next_request(hour * 3_600_000 * MS, supported=False) is None
    assert machine.next_request(101 * 3_600_000 * MS) is not None


def test_K714_30_a_broker_without_the_api_is_waited_out() -> None:
    machine = client()
    assert machine.next_request(0, supported=False) is None
    assert machine.due == 300_000 * MS
    machine.next_request(300_000 * MS)
    (said,) = machine.lost(300_001 * MS, unsupported=True)
    assert said.again_in_ms == 300_000


@pytest.mark.parametrize(("lost", "due"), [("retry", 300_005 * MS), ("stop", None)])
def test_K714_30_a_lost_request_is_retried_or_the_end_as_in_java_of_2024(lost: Any, due: int | None) -> None:
    machine = client(lost=lost)
    machine.next_request(0)
    (said,) = machine.lost(5 * MS)
    assert (said.error_code, said.again_in_ms, machine.due) == (None, 300_000 if due else None, due)


def test_a_request_without_an_answer_is_lost_after_its_time() -> None:
    machine = client(request_timeout_ms=1000)
    machine.next_request(0)
    assert machine.tick(999 * MS) == []
    assert machine.next_request(1000 * MS) is None
    (said,) = machine.tick(1000 * MS)
    assert said.reason == "the request was lost"
    assert machine.state is PushState.SUBSCRIPTION_NEEDED


def test_K714_14_the_first_question_goes_out_at_once_without_an_id() -> None:
    machine = client(client_id="c")
    frame = machine.next_frame(0, 3)
    assert frame == bytes.fromhex("0047 0000 00000003 0001 63 00" + 32 * "0" + "00")
    assert machine.next_frame(1, 4) is None


def test_K714_15_the_id_of_the_first_answer_is_used_with_every_broker() -> None:
    machine = subscribed()
    assert push(machine).client_instance_id == ID
    machine.receive(pushed(117), machine.due or 0)
    asked = machine.next_request(machine.due or 0)  # whichever broker this goes to
    assert asked.client_instance_id == ID
    machine.receive(subscription(client_instance_id=Uuid(bytes(range(16)))), 0)
    assert machine.instance_id == ID


def test_an_answer_without_an_id_is_the_end() -> None:
    machine = client()
    machine.next_request(0)
    (said,) = machine.receive(subscription(client_instance_id=ZERO_UUID), 0)
    assert said == Failed(reason="the broker did not assign a client instance id", error_code=None, again_in_ms=None)


def test_K714_17_where_nothing_is_wanted_the_broker_is_asked_again_after_the_interval() -> None:
    machine = subscribed(told=subscription(requested_metrics=[]))
    assert (machine.state, machine.due) == (PushState.SUBSCRIPTION_NEEDED, INTERVAL * MS)
    assert machine.next_request(INTERVAL * MS - 1) is None
    assert type(machine.next_request(INTERVAL * MS)).__name__ == "GetTelemetrySubscriptionsRequest"


@pytest.mark.parametrize(("jitter", "low", "high"), [(None, 0.5, 1.5), (LIBRDKAFKA_JITTER, 0.8, 1.2)], ids=["java", "librdkafka"])
def test_K714_19_the_first_push_comes_at_a_random_part_of_the_interval(jitter: Any, low: float, high: float) -> None:
    random, more = Random(1), {} if jitter is None else {"jitter": jitter}
    parts = [(subscribed(random=random, **more).due or 0) / (INTERVAL * MS) for _ in range(10_000)]
    assert low <= min(parts) < low + 0.001
    assert high - 0.001 < max(parts) <= high
    assert sum(parts) / len(parts) == pytest.approx(1, abs=0.01)


def test_K714_19_later_pushes_come_after_exactly_the_interval() -> None:
    machine = subscribed()
    push(machine)
    assert machine.receive(pushed(), 50_000 * MS) == [Accepted(terminating=False)]
    assert machine.due == (50_000 + INTERVAL) * MS


@pytest.mark.parametrize("interval", [0, -1])
def test_K714_21_an_interval_that_is_none_is_the_default(interval: int) -> None:
    machine = subscribed(told=subscription(push_interval_ms=interval))
    assert machine.subscription is not None
    assert machine.subscription.interval_ms == 300_000


def test_K714_22_delta_and_cumulative_and_a_change_between_them() -> None:
    kept = MetricStore()
    found = []
    for temporality, count in (("delta", 5), ("delta", 3), ("cumulative", 4), ("cumulative", 0), ("delta", 1)):
        kept.add("m", count)
        (point,) = decode_metrics(kwire_bytes(kept.collect(lambda name: True, temporality, 9)), 0)  # type: ignore[arg-type]
        found.append((point["value"], point["temporality"], point["is_monotonic"]))
    assert found == [(5, "delta", True), (3, "delta", True), (12, "cumulative", True), (12, "cumulative", True), (13, "delta", True)]


def kwire_bytes(found: list[dict[str, Any]]) -> bytes:
    from kwire.protocol.telemetry.otlp import encode_metrics

    return encode_metrics(found)


@pytest.mark.parametrize(("delta", "values", "lost"), [(False, [5, 8, 12], "cumulative"), (True, [5, 3, 4], "delta")])
def test_K714_23_a_lost_push_costs_cumulative_values_nothing(delta: bool, values: list[int], lost: str) -> None:
    kept = store()
    machine = subscribed(told=subscription(delta_temporality=delta), store=kept)
    found = [points(push(machine))[0]["value"]]
    machine.receive(pushed(), 0)
    kept.add(COUNT, 3)
    found.append(points(push(machine))[0]["value"])
    said = machine.receive(pushed(89), 0)  # this one was not taken
    assert said[1] == PushLost(points=1, temporality=lost)  # type: ignore[arg-type]
    kept.add(COUNT, 4)
    machine.next_request(machine.due or 0)
    machine.receive(subscription(delta_temporality=delta), 0)
    found.append(points(push(machine))[0]["value"])
    assert (found, machine.lost_pushes) == (values, 1)


@pytest.mark.parametrize(("size", "kind"), [(1000, 0), (1001, 4)])
def test_K714_24_the_draft_compresses_what_is_over_1000_bytes(size: int, kind: int) -> None:
    kept = MetricStore()
    kept.set("m", "x")
    fixed = len(kwire_bytes(kept.collect(lambda name: True, "delta", 1)))
    for length in range(size - fixed - 8, size - fixed + 2):
        kept.set("m", "x" * length)
        if len(kwire_bytes(kept.collect(lambda name: True, "delta", 1))) == size:
            break
    machine = subscribed(t=1, store=kept, compress_above=1000)
    assert push(machine).compression_type == kind


@pytest.mark.parametrize(
    ("accepted", "ours", "kind"),
    [([4, 3, 1, 2], (4, 3, 1, 2), 4), ([4, 3, 1, 2], (1, 2), 1), ([9, 2], (1, 2), 2), ([], (4,), 0), ([4], (1,), 0)],
)
def test_K714_25_the_first_accepted_compression_that_we_have_is_used(accepted: list[int], ours: tuple[int, ...], kind: int) -> None:
    machine = subscribed(told=subscription(accepted_compression_types=accepted), compressions=ours)
    body = push(machine)
    assert (body.compression_type, points(body)[0]["value"]) == (kind, 5)


def test_K714_25_what_cannot_be_compressed_goes_out_plain() -> None:
    def broken(kind: int, plain: bytes) -> bytes:
        raise ValueError("no memory")

    machine = subscribed(packer=broken)
    body = push(machine)
    assert (body.compression_type, points(body)[0]["value"]) == (0, 5)
    machine.receive(pushed(117), 0)
    machine.next_request(0)
    machine.receive(subscription(), 0)
    assert machine.subscription is not None
    assert machine.subscription.compression_type == 3  # zstd did not work


def test_K714_27_who_ends_pushes_once_more_at_once() -> None:
    machine = subscribed()
    assert machine.close() == []
    assert machine.due == 0
    assert push(machine).terminating
    assert machine.receive(pushed(), 5) == [Accepted(terminating=True)]
    assert (machine.state, machine.due) == (PushState.TERMINATED, None)


@pytest.mark.parametrize("told", [None, subscription(requested_metrics=[])], ids=["no subscription", "nothing wanted"])
def test_K714_27_who_has_nothing_to_push_just_ends(told: Any) -> None:
    machine = subscribed(told=told) if told else client()
    machine.close()
    assert (machine.state, machine.due) == (PushState.TERMINATED, None)
    machine.close()


def test_K714_28_the_last_push_says_why() -> None:
    machine = subscribed(terminating_metric=True, told=subscription(requested_metrics=["org.apache.kafka.producer."]))
    assert [point["metric"] for point in points(push(machine))] == [COUNT]
    machine.receive(pushed(), 0)
    machine.close("Fatal error: static consumer fenced")
    last = points(push(machine))[-1]
    assert (last["metric"], last["attributes"]) == (
        "org.apache.kafka.client.terminating", {"reason": "Fatal error: static consumer fenced"},
    )  # fmt: skip


WAITS = {117: 0, 76: 0, 118: "interval", 89: "interval", 42: None, 87: None, 35: None, 7: None, -1: None, 12345: None}


@pytest.mark.parametrize(("code", "wait"), WAITS.items())
def test_K714_29_what_an_error_on_a_push_leads_to(code: int, wait: Any) -> None:
    machine = subscribed()
    push(machine)
    ms = INTERVAL if wait == "interval" else wait
    said = machine.receive(pushed(code), 7)
    assert (said[0].error_code, said[0].again_in_ms) == (code, ms)  # type: ignore[union-attr]
    assert (machine.state, machine.due) == (PushState.SUBSCRIPTION_NEEDED, None if ms is None else 7 + ms * MS)


@pytest.mark.parametrize(("code", "wait"), WAITS.items())
def test_K714_29_what_an_error_on_a_question_leads_to(code: int, wait: Any) -> None:
    machine = client()
    machine.next_request(0)
    ms = 300_000 if wait == "interval" else wait
    (said,) = machine.receive(kwire.messages.GetTelemetrySubscriptionsResponse(error_code=code), 7)
    assert (said.error_code, said.again_in_ms) == (code, ms)  # type: ignore[union-attr]
    assert machine.due == (None if ms is None else 7 + ms * MS)


def test_K714_31_no_error_reaches_the_application() -> None:
    machine = client()
    machine.next_frame(0, 1)
    (said,) = machine.receive_frame(b"\x00\x00\x00\x01\x00", 1)
    assert said.reason.startswith("the answer cannot be read: ")  # type: ignore[union-attr]
    assert machine.receive_frame(b"", 2) == []
    assert machine.receive(pushed(), 3) == []  # nobody asked


def test_K714_32_metrics_that_are_off_ask_nothing() -> None:
    machine = client(enabled=False)
    assert (machine.due, machine.next_request(10**18)) == (None, None)
    assert client().enabled
    with pytest.raises(KwireError, match=r"enable\.metrics\.push is false"):
        machine.client_instance_id(0, 10)
    machine.close()
    assert machine.next_request(10**18) is None


def test_K714_33_the_instance_id_is_waited_for() -> None:
    machine = client()
    machine.next_request(0, supported=False)
    assert machine.due == 300_000 * MS
    waiting = machine.client_instance_id(5, 100)
    assert machine.due == 5  # asking is due at once
    assert waiting.result(6) is None
    with pytest.raises(InstanceIdTimeout, match="in time"):
        waiting.result(5 + 100 * MS)
    machine.next_request(7)
    machine.receive(subscription(), 8)
    assert waiting.result(9) == ID
    assert machine.client_instance_id(9, 0).result(9) == ID  # known: at once
    with pytest.raises(ValueError, match="negative"):
        machine.client_instance_id(9, -1)


def test_K714_34_no_matching_metric_is_an_empty_payload() -> None:
    machine = subscribed(told=subscription(requested_metrics=["nothing.like.this"]))
    body = push(machine)
    assert (body.metrics, body.compression_type) == (b"", 0)
    assert kwire.encode(body, 0)[-2:] == bytes.fromhex("01 00")  # an empty compact array, not null


def test_K714_86_a_metric_without_a_value_is_not_pushed() -> None:
    assert MetricStore().collect(lambda name: True, "cumulative", 1) == []
    assert [point["metric"] for point in points(push(subscribed()))] == [COUNT]


def test_K714_77_a_bootstrap_connection_has_no_node() -> None:
    kept = MetricStore()
    kept.add("client.request.success", broker_id=kept.of_broker(None))
    kept.add("client.request.success", broker_id=kept.of_broker(-1))
    kept.add("client.request.success", broker_id=kept.of_broker(3))
    found = decode_metrics(kwire_bytes(kept.collect(lambda name: True, "delta", 1)), 0)
    assert {point["attributes"]["broker_id"]: point["value"] for point in found} == {"bootstrap": 2, "3": 1}


def test_K714_88_labels_of_the_client_follow_the_group() -> None:
    kept = store()
    machine = subscribed(store=kept)
    assert points(push(machine))[0]["resource"] == {"client_rack": "r1"}
    machine.receive(pushed(), 0)
    kept.labels(group_member_id="m-1")
    assert points(push(machine))[0]["resource"] == {"client_rack": "r1", "group_member_id": "m-1"}
    kept.labels(group_member_id=None)
    assert kept.resource == {"client_rack": "r1"}


def test_K714_95_kwire_pushes_nothing_about_its_host() -> None:
    import os
    import platform

    machine = subscribed(t=1)
    plain = bytes(points(push(machine)).__repr__(), "utf-8")
    for secret in (platform.node(), platform.system(), os.environ.get("HOME", "/root"), platform.python_version()):
        assert secret.encode() not in plain


def test_an_answer_after_the_end_began_is_passed_over() -> None:
    machine = subscribed()
    push(machine)
    machine.close()
    assert machine.receive(pushed(42), 3) == []
    assert push(machine).terminating


def test_outcomes_tell_the_subscription() -> None:
    machine = client()
    machine.next_request(0)
    (said,) = machine.receive(subscription(requested_metrics=["a."]), 0)
    assert isinstance(said, Subscribed)
    assert (said.subscription_id, said.wanted.prefixes, said.temporality, said.max_bytes) == (11, ("a.",), "delta", 1 << 20)
