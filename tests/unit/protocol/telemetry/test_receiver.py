"""The broker's side of KIP-714: the checks and their order, the interval, the cache, what receivers get."""

from __future__ import annotations

import gzip
from typing import Any

import cramjam
import pytest

import kwire
from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.errors import InputError
from kwire.protocol.telemetry import MemoryReceiver, SubscriptionTable, TelemetryReceiver
from kwire.protocol.telemetry.instance_cache import INSTANCE_LIMIT, InstanceCache
from kwire.protocol.telemetry.otlp import encode_metrics
from kwire.protocol.telemetry.receivers import MetricsPayload, PushContext, QueueingReceiver

MS = 1_000_000
INTERVAL = 60_000
HERE = PushContext(
    connection="c1", client_id="app", software_name="apache-kafka-java", software_version="4.4.0", source_address="10.0.0.7",
    source_port=4711, principal="User:alice", node_id=3,
)  # fmt: skip
PAYLOAD = encode_metrics([{"metric": "org.apache.kafka.producer.x", "type": "gauge", "value": 7, "resource": {"client_rack": "r"}}])


class Broken:
    def export(self, context: PushContext, payload: MetricsPayload) -> None:
        raise OSError("disk full")


class Broker:
    """A receiver and what a client needs to talk to it."""

    def __init__(self, metrics: str = "*", **more: Any) -> None:
        self.memory = MemoryReceiver()
        self.table = SubscriptionTable()
        self.table.set("all", {"metrics": metrics, "interval.ms": str(INTERVAL)})
        receivers = more.pop("receivers", [self.memory])
        self.role = TelemetryReceiver(self.table, receivers, **more)

    def get(self, t: int, instance_id: Uuid = ZERO_UUID, context: PushContext = HERE) -> Any:
        return self.role.answer(kwire.messages.GetTelemetrySubscriptionsRequest(client_instance_id=instance_id), context, t * MS)

    def push(self, t: int, told: Any, context: PushContext = HERE, **more: Any) -> int:
        said = {
            "client_instance_id": told.client_instance_id, "subscription_id": told.subscription_id, "metrics": PAYLOAD, **more,
        }  # fmt: skip
        return self.role.answer(kwire.messages.PushTelemetryRequest(**said), context, t * MS).error_code


def test_K714_35_without_a_receiver_the_apis_are_not_advertised() -> None:
    assert Broker(receivers=[]).role.advertised() == {}
    assert Broker().role.advertised() == {71: (0, 0), 72: (0, 0)}


@pytest.mark.parametrize(("kind", "code"), [("kraft", 0), ("zookeeper", 35)])
def test_K714_36_requests_that_were_not_advertised(kind: str, code: int) -> None:
    broker = Broker(receivers=[], unconfigured=kind)
    told = broker.get(0)
    assert told.error_code == code
    told.client_instance_id = told.client_instance_id if not code else Uuid(bytes(range(16)))
    assert broker.push(1, told) == code


def test_K714_37_a_new_id_is_random_not_reserved_and_not_in_use() -> None:
    taken = bytes(range(16))
    drawn = [taken, taken, bytes(range(1, 17))]
    broker = Broker(random=lambda size: drawn.pop(0))
    first, second = broker.get(0).client_instance_id, broker.get(0).client_instance_id
    assert first.hex() == "000102030405460788090a0b0c0d0e0f"
    assert second.hex() == "0102030405064708890a0b0c0d0e0f10"
    assert drawn == []


@pytest.mark.parametrize("number", [0, 1])
def test_K714_38_a_push_with_a_reserved_id_is_refused(number: int) -> None:
    broker = Broker()
    told = broker.get(0)
    told.client_instance_id = Uuid(number.to_bytes(16, "big"))
    assert broker.push(1, told) == 42


# From the first check to the last: what breaks it, and the error.
CHECKS = [
    ("terminated", 42),
    ("early", 89),
    ("subscription", 117),
    ("compression", 76),
    ("size", 118),
    ("exporter", 87),
]


def attempt(faults: set[str]) -> int:
    broker = Broker(receivers=[Broken()] if "exporter" in faults else [MemoryReceiver()], max_bytes=len(PAYLOAD))
    told = broker.get(0)
    if "terminated" in faults:
        broker.push(1, told, terminating=True, metrics=b"")
    t = INTERVAL + 1
    if "early" in faults:
        broker.push(t, told, metrics=b"")
    more: dict[str, Any] = {}
    if "subscription" in faults:
        more["subscription_id"] = told.subscription_id + 1
    if "compression" in faults:
        more["compression_type"] = 9
    if "size" in faults:
        more["metrics"] = PAYLOAD + b"\0"
    return broker.push(t if "early" in faults else 3 * INTERVAL, told, **more)


@pytest.mark.parametrize("place", range(len(CHECKS)))
def test_K714_39_each_check_alone_and_before_all_later_ones(place: int) -> None:
    name, code = CHECKS[place]
    assert attempt({name}) == code
    for later, _ in CHECKS[place + 1 :]:
        assert attempt({name, later}) == code, later
    assert attempt({each for each, _ in CHECKS[place:]}) == code


def test_K714_40_an_early_push_is_dropped() -> None:
    broker = Broker()
    told = broker.get(0)
    assert broker.push(1000, told) == 0
    assert broker.push(1000 + INTERVAL - 1, told) == 89
    assert broker.push(1000 + INTERVAL, told) == 0
    assert len(broker.memory.points) == 2
    assert broker.push(1001 + INTERVAL, told, terminating=True) == 0  # the last one may come early


def test_K714_41_the_first_push_after_a_question_may_come_early() -> None:
    broker = Broker()
    told = broker.get(0)
    assert broker.push(INTERVAL, told) == 0
    told = broker.get(2 * INTERVAL, told.client_instance_id)
    assert broker.push(2 * INTERVAL + 1, told) == 0
    assert broker.push(2 * INTERVAL + 2, told) == 89


@pytest.mark.parametrize(("rules", "code"), [("strict", 89), ("intended", 0)])
@pytest.mark.parametrize("fault", [{"subscription_id": 1}, {"compression_type": 9}], ids=["117", "76"])
def test_K714_42_a_question_right_after_117_or_76(rules: Any, code: int, fault: dict[str, int]) -> None:
    broker = Broker(rules=rules)
    told = broker.get(0)
    assert broker.get(INTERVAL - 1, told.client_instance_id).error_code == 89
    assert broker.push(INTERVAL, told, **fault) in (117, 76)
    assert broker.get(INTERVAL + 1, told.client_instance_id).error_code == code


@pytest.mark.parametrize(("rules", "code"), [("strict", 42), ("intended", 0)])
def test_K714_43_after_the_last_push_every_push_is_refused(rules: Any, code: int) -> None:
    broker = Broker(rules=rules)
    told = broker.get(0)
    assert broker.push(1, told, terminating=True) == 0
    for t in (2, INTERVAL, 2 * INTERVAL):
        assert broker.push(t, told) == 42
    failed = broker.get(0)
    assert broker.push(1, failed, terminating=True, subscription_id=1) == 117
    assert broker.push(2, failed, terminating=True) == code  # apache/kafka#23094


def test_K714_44_an_instance_is_kept_for_a_minute_or_three_intervals() -> None:
    broker = Broker()
    told = broker.get(0)
    assert told.client_instance_id in broker.role.cache
    broker.role.expire((3 * INTERVAL - 1) * MS)
    assert len(broker.role.cache) == 1
    broker.role.expire(3 * INTERVAL * MS)
    assert len(broker.role.cache) == 0
    broker.table.set("all", {"metrics": "*", "interval.ms": "100"})
    broker.get(0)
    broker.role.expire(59_999 * MS)
    assert len(broker.role.cache) == 1
    broker.role.expire(60_000 * MS)
    assert len(broker.role.cache) == 0


def test_K714_44_the_cache_is_bounded_and_forgets_who_was_silent_longest() -> None:
    assert INSTANCE_LIMIT == 16_384
    broker = Broker(cache=InstanceCache(2))
    first, second = broker.get(0).client_instance_id, broker.get(1).client_instance_id
    assert broker.get(INTERVAL, first).error_code == 0  # used
    third = broker.get(INTERVAL).client_instance_id
    assert [each in broker.role.cache for each in (first, second, third)] == [True, False, True]


def test_K714_44_a_connection_takes_its_instances_with_it() -> None:
    broker = Broker()
    broker.get(0)
    other = broker.get(0, context=PushContext(connection="c2")).client_instance_id
    broker.role.disconnected("c1")
    broker.role.disconnected("c1")
    assert len(broker.role.cache) == 1
    assert other in broker.role.cache


def test_K714_45_quotas_are_told_besides() -> None:
    broker = Broker(throttle_ms=lambda context: 250 if context.client_id == "app" else 0)
    assert broker.get(0).throttle_time_ms == 250
    assert broker.get(0, context=PushContext(connection="x")).throttle_time_ms == 0


def test_K714_47_changed_subscriptions_are_told_at_once() -> None:
    broker = Broker()
    told = broker.get(0)
    assert broker.push(1, told) == 0
    broker.table.set("all", {"metrics": "org.apache.kafka.producer.", "interval.ms": "1000"})
    assert broker.push(2, told) == 117
    again = broker.get(1002, told.client_instance_id)
    assert (again.error_code, again.requested_metrics, again.push_interval_ms) == (0, ("org.apache.kafka.producer.",), 1000)
    assert broker.push(1003, again) == 0
    broker.table.set("all", {"metrics": "*"})
    assert broker.get(1004, told.client_instance_id).requested_metrics == ("*",)  # inside the interval


def test_K714_104_who_is_no_longer_wanted_stops_to_push() -> None:
    broker = Broker()
    told = broker.get(0)
    assert broker.push(1, told) == 0
    broker.table.set("all", {})
    assert broker.push(INTERVAL + 1, told) == 117
    again = broker.role.answer(
        kwire.messages.GetTelemetrySubscriptionsRequest(client_instance_id=told.client_instance_id), HERE, (INTERVAL * 10) * MS
    )
    assert (again.requested_metrics, again.push_interval_ms) == ((), 300_000)


@pytest.mark.parametrize(("kind", "code"), [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 76), (9, 76), (-1, 76)])
def test_K714_26_every_compression_that_kafka_has_is_taken(kind: int, code: int) -> None:
    broker = Broker()
    told = broker.get(0)
    assert list(told.accepted_compression_types) == [4, 3, 1, 2]
    packed = {
        1: lambda: gzip.compress(PAYLOAD), 2: lambda: bytes(cramjam.snappy.compress_raw(PAYLOAD)),
        3: lambda: bytes(cramjam.lz4.compress(PAYLOAD)), 4: lambda: bytes(cramjam.zstd.compress(PAYLOAD)),
    }.get(kind, lambda: PAYLOAD)()  # fmt: skip
    assert broker.push(1, told, compression_type=kind, metrics=packed) == code
    assert [point["value"] for points in broker.memory.points for point in points] == ([] if code else [7])


def test_K714_49_a_request_is_handled_without_waiting_for_receivers() -> None:
    memory = MemoryReceiver()
    queue = QueueingReceiver(memory, limit=2)
    broker = Broker(receivers=[queue])
    for _ in range(3):
        assert broker.push(1, broker.get(0)) == 0
    assert (len(queue), queue.dropped, len(memory.points)) == (2, 1, 0)
    assert (queue.drain(1), len(memory.points), queue.drain(), len(memory.points)) == (1, 1, 1, 2)


def test_K714_50_a_bomb_of_a_gibibyte_is_refused_at_the_limit() -> None:
    bomb = 64 * gzip.compress(bytes(1 << 24))  # members of gzip follow each other
    broker = Broker(max_bytes=2 << 20, max_unpacked=32 << 20)
    assert broker.push(1, broker.get(0), compression_type=1, metrics=bomb) == 87
    assert not broker.memory.payloads


@pytest.mark.parametrize("metrics", [PAYLOAD[:-1], b"\xff\xff\xff"])
def test_K714_51_metrics_that_cannot_be_read_are_a_bad_record(metrics: bytes) -> None:
    broker = Broker()
    assert broker.push(1, broker.get(0), metrics=metrics) == 87
    assert broker.role.values(0)["plugin-error-count"] == 1


def test_K714_52_receivers_get_who_what_and_whether_it_was_the_last() -> None:
    broker = Broker()
    told = broker.get(0)
    broker.push(1, told, terminating=True)
    ((context, payload),) = broker.memory.payloads
    assert context is HERE
    assert (payload.instance_id, payload.content_type, payload.data) == (told.client_instance_id, "OTLP", PAYLOAD)
    assert (payload.terminating, payload.push_interval_ms) == (True, INTERVAL)


def test_empty_metrics_are_taken_and_not_handed_on() -> None:
    broker = Broker()
    assert broker.push(1, broker.get(0), metrics=b"", compression_type=4) == 0
    assert not broker.memory.payloads


def test_K714_56_counters_have_kafkas_names_and_values() -> None:
    clock = iter([0, 4_000_000, 0, 8_000_000])
    broker = Broker(stopwatch=lambda: next(clock))
    told = broker.get(0)
    broker.push(0, told)
    broker.push(1, told)
    broker.push(INTERVAL, told)
    broker.push(2 * INTERVAL, told, subscription_id=1)
    whole = broker.role.values(2 * INTERVAL * MS)
    assert whole == {
        "instance-count": 1, "throttle-count": 1, "throttle-rate": 0, "unknown-subscription-request-count": 1,
        "unknown-subscription-request-rate": pytest.approx(1 / 60), "plugin-export-count": 2, "plugin-export-rate": 0,
        "plugin-error-count": 0, "plugin-error-rate": 0, "plugin-export-time-avg": 6, "plugin-export-time-max": 8,
    }  # fmt: skip
    mine = broker.role.values(2 * INTERVAL * MS, told.client_instance_id)
    assert (mine["throttle-count"], mine["plugin-export-count"], mine["plugin-export-time-max"]) == (1, 2, 8)
    assert not {"instance-count", "unknown-subscription-request-count"} & set(mine)
    broker.role.disconnected("c1")
    assert broker.role.values(2 * INTERVAL * MS, told.client_instance_id)["throttle-count"] == 0


def test_K714_58_who_does_not_push_any_more_is_gone() -> None:
    broker = Broker()
    told = broker.get(0)
    broker.push(0, told)
    assert broker.role.cache.silent((INTERVAL * 3 // 2 + 500) * MS, grace_ms=500) == []
    assert broker.role.cache.silent((INTERVAL * 3 // 2 + 501) * MS, grace_ms=500) == [told.client_instance_id]


def test_K714_107_a_connection_cannot_invent_ids_without_end() -> None:
    broker = Broker(cache=InstanceCache(per_connection=10, per_address=15))
    codes = [broker.get(0, Uuid((n + 2).to_bytes(16, "big"))).error_code for n in range(10_000)]
    assert (codes.count(0), codes.count(89), len(broker.role.cache), broker.role.refused_ids) == (10, 9990, 10, 9990)
    other = PushContext(connection="c2", source_address="10.0.0.7")
    assert [broker.get(0, context=other).error_code for _ in range(6)] == [0] * 5 + [89]  # the same address
    assert broker.get(0, context=PushContext(connection="c3", source_address="10.0.0.8")).error_code == 0
    broker.role.disconnected("c1")
    assert broker.get(0, context=other).error_code == 0


def test_K714_90_labels_are_added_and_win_over_the_clients() -> None:
    broker = Broker()
    lies = {"client_rack": "r", "principal": "User:root", "client_id": "me", "client_software_name": "mine"}
    data = encode_metrics([{"metric": "m", "type": "gauge", "value": 1, "resource": lies}])
    told = broker.get(0)
    assert broker.push(1, told, metrics=data) == 0
    ((point,),) = broker.memory.points
    assert point["resource"] == {
        "client_rack": "r", "principal": "User:alice", "client_id": "app", "client_software_name": "apache-kafka-java",
        "client_software_version": "4.4.0", "client_source_address": "10.0.0.7", "client_source_port": "4711", "broker_id": "3",
        "client_instance_id": str(told.client_instance_id),
    }  # fmt: skip


def test_K714_89_labels_that_the_drafts_clients_send_are_taken_and_overwritten() -> None:
    broker = Broker()
    own = {"client_id": "drafted", "client_instance_id": "someClientId-B64CD139", "application_id": "a"}
    broker.push(1, broker.get(0), metrics=encode_metrics([{"metric": "m", "type": "gauge", "value": 1, "resource": own}]))
    ((point,),) = broker.memory.points
    assert (point["resource"]["client_id"], point["resource"]["application_id"]) == ("app", "a")
    assert point["resource"]["client_instance_id"] != "someClientId-B64CD139"


@pytest.mark.requirement("K714-90")
def test_the_node_may_have_the_label_of_the_later_text() -> None:
    broker = Broker(node_label="node_id")
    broker.push(1, broker.get(0))
    ((point,),) = broker.memory.points
    assert (point["resource"]["node_id"], "broker_id" in point["resource"]) == ("3", False)


def test_K714_105_other_signals_are_refused() -> None:
    with pytest.raises(InputError, match=r"^MetadataRequest is not a client telemetry request\.$"):
        Broker().role.answer(kwire.messages.MetadataRequest(), HERE, 0)


def test_frames_come_in_and_go_out() -> None:
    broker = Broker(random=lambda size: bytes(range(16)))
    asked = bytes.fromhex("0047 0000 00000003 0001 63 00" + 32 * "0" + "00")
    answer = broker.role.respond(asked, HERE, 0)
    assert answer == bytes.fromhex(
        "00000003 00" "00000000 0000 000102030405460788090a0b0c0d0e0f"
        + f"{broker.role.cache.get(Uuid.parse('AAECAwQFRgeICQoLDA0ODw'), 0).subscription_id & 0xFFFFFFFF:08x}"  # type: ignore[union-attr]
        + "05 04030102 0000ea60 00100000 01 02 02 2a 00"
    )  # fmt: skip
