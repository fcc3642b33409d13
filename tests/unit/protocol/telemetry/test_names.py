"""Names and labels of client metrics: Kafka's naming rule, what clients must have, the draft's tables, limits and privacy."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.errors import BadLength
from kwire.protocol.telemetry import MetricStore, decode_metrics
from kwire.protocol.telemetry.labels import OVERFLOW, LabelLimit, PrivateLabels, client_labels, suspicious_labels
from kwire.protocol.telemetry.metric_catalog import (
    DRAFT_METRICS,
    HOST_METRICS,
    REQUIRED_METRICS,
    missing_metrics,
    split_name,
    telemetry_name,
    unexpected_names,
)
from kwire.protocol.telemetry.otlp import encode_metrics, with_resource_labels

P = "org.apache.kafka.producer."
C = "org.apache.kafka.consumer."


@pytest.mark.parametrize(
    ("group", "name", "pushed"),
    # What `TelemetryMetricNamingConvention` of kafka-clients 4.4.0 makes of them
    [
        ("producer-metrics", "connection-creation-rate", "producer.connection.creation.rate"),
        ("consumer-fetch-manager-metrics", "fetch-latency-avg", "consumer.fetch.manager.fetch.latency.avg"),
        ("consumer-coordinator-metrics", "rebalance-latency-total", "consumer.coordinator.rebalance.latency.total"),
        ("producer-topic-metrics", "Record-Send-Rate", "producer.topic.record.send.rate"),
        ("consumer-node-metrics", "request-latency-avg", "consumer.node.request.latency.avg"),
        ("admin-client-metrics", "x-y", "admin.client.x.y"),
        ("app-info", "version", "app.info.version"),
        ("stream-thread-metrics", "poll-ratio", "stream.thread.poll.ratio"),
        ("consumer-metrics", "poll-idle-ratio-avg", "consumer.poll.idle.ratio.avg"),
    ],
)
def test_K714_69_names_are_made_as_java_makes_them(group: str, name: str, pushed: str) -> None:
    assert telemetry_name(group, name, {"client-id": "c", "Node-Id": "n1"}) == (
        f"org.apache.kafka.{pushed}", {"client_id": "c", "node_id": "n1"},
    )  # fmt: skip


def test_K714_70_what_every_producer_must_push() -> None:
    assert REQUIRED_METRICS["producer"] == (
        P + "connection.creation.rate", P + "connection.creation.total", P + "node.request.latency.avg", P + "node.request.latency.max",
        P + "produce.throttle.time.avg", P + "produce.throttle.time.max", P + "record.queue.time.avg", P + "record.queue.time.max",
    )  # fmt: skip
    assert missing_metrics("producer", REQUIRED_METRICS["producer"][1:]) == [P + "connection.creation.rate"]


def test_K714_71_what_every_consumer_must_push() -> None:
    assert REQUIRED_METRICS["consumer"] == (
        C + "connection.creation.rate", C + "connection.creation.total", C + "node.request.latency.avg", C + "node.request.latency.max",
        C + "poll.idle.ratio.avg", C + "coordinator.commit.latency.avg", C + "coordinator.commit.latency.max",
        C + "coordinator.assigned.partitions", C + "coordinator.rebalance.latency.avg", C + "coordinator.rebalance.latency.max",
        C + "coordinator.rebalance.latency.total", C + "fetch.manager.fetch.latency.avg", C + "fetch.manager.fetch.latency.max",
    )  # fmt: skip
    assert len(missing_metrics("consumer", [])) == 13


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("client.request.rtt.avg60s", ("client.request.rtt", 60)),
        ("client.request.rtt.avg10s", ("client.request.rtt", 10)),
        ("client.request.rtt", ("client.request.rtt", None)),
        ("client.request.rtt.avg", ("client.request.rtt.avg", None)),
        (".avg5s", (".avg5s", None)),
    ],
)
def test_K714_68_the_period_of_an_average_is_in_its_name(name: str, parts: tuple[str, int | None]) -> None:
    assert tuple(split_name(name)) == parts


PARTITION = {"topic", "partition", "acks"}
TABLE = {
    "K714-72": {"connection.creations": ("sum", set()), "connection.count": ("gauge", set()), "connection.errors": ("sum", {"reason"})},
    "K714-74": {
        "request.rtt": ("histogram", {"broker_id"}), "request.queue.latency": ("histogram", {"broker_id"}),
        "request.queue.count": ("gauge", {"broker_id"}), "request.success": ("sum", {"broker_id"}),
    },
    "K714-75": {"request.errors": ("sum", {"broker_id", "reason"})},
    "K714-76": {"io.wait.time": ("histogram", set())},
    "K714-78": {
        f"producer.{name}": ("gauge", set())
        for name in ("record.bytes", "record.count", "queue.max.bytes", "queue.bytes", "queue.max.messages", "queue.messages")
    },
    "K714-79": {
        "consumer.poll.interval": ("histogram", set()), "consumer.poll.last": ("gauge", set()),
        "consumer.poll.latency": ("histogram", set()), "consumer.commit.count": ("sum", set()),
        "consumer.group.assignment.strategy": ("text", set()),
    },
    "K714-80": {
        "consumer.group.assignment.partition.count": ("gauge", set()), "consumer.assignment.partition.count": ("gauge", set()),
        "consumer.group.rebalance.count": ("sum", set()), "consumer.group.error.count": ("sum", {"error"}),
    },
    "K714-81": {
        "consumer.record.queue.count": ("gauge", set()), "consumer.record.queue.bytes": ("gauge", set()),
        "consumer.record.application.count": ("sum", set()), "consumer.record.application.bytes": ("sum", set()),
        "consumer.fetch.latency": ("histogram", set()), "consumer.fetch.count": ("sum", set()), "consumer.fetch.failures": ("sum", set()),
    },
    "K714-82": {
        "producer.partition.queue.bytes": ("gauge", PARTITION), "producer.partition.queue.count": ("gauge", PARTITION),
        "producer.partition.latency": ("histogram", PARTITION), "producer.partition.queue.latency": ("histogram", PARTITION),
        "producer.partition.record.retries": ("sum", PARTITION), "producer.partition.record.failures": ("sum", PARTITION | {"reason"}),
        "producer.partition.record.success": ("sum", PARTITION),
    },
}  # fmt: skip


@pytest.mark.requirement("K714-72", "K714-74", "K714-75", "K714-76", "K714-78", "K714-79", "K714-80", "K714-81", "K714-82")
def test_the_drafts_tables_of_metrics() -> None:
    wanted = {f"client.{name}": each for rows in TABLE.values() for name, each in rows.items()}
    found = {name: (each.kind, set(each.labels)) for name, each in DRAFT_METRICS.items()}
    assert found.pop("client.terminating") == ("gauge", {"reason"})
    assert found == wanted


@pytest.mark.requirement("K714-73", "K714-75")
@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        ("client.connection.errors", ["disconnect", "auth", "TLS", "timeout", "close"]),
        ("client.request.errors", ["timeout", "disconnect", "error"]),
    ],
)
def test_reasons_are_those_of_the_draft(name: str, reasons: list[str]) -> None:
    assert [DRAFT_METRICS[name].faults({"reason": reason}) for reason in reasons] == [[]] * len(reasons)
    assert DRAFT_METRICS[name].faults({"reason": "tls"}) == [f"label reason is 'tls', not one of {', '.join(reasons)}"]


@pytest.mark.requirement("K714-82", "K714-83")
@pytest.mark.parametrize(
    ("labels", "faults"),
    [
        ({"topic": "t", "partition": "0", "acks": "all"}, []),
        ({"topic": "t", "partition": "unassigned", "acks": "leader"}, []),
        ({"topic": "t", "partition": "0", "acks": "-1"}, ["label acks is '-1', not one of all, none, leader"]),
        ({"topic": "t", "host": "h"}, ["label host is unknown"]),
    ],
)
def test_labels_of_partitions(labels: dict[str, str], faults: list[str]) -> None:
    assert DRAFT_METRICS["client.producer.partition.record.success"].faults(labels) == faults


def test_K714_84_host_metrics_are_known_and_off() -> None:
    assert {name: each.kind for name, each in HOST_METRICS.items()} == {
        "client.process.memory.bytes": "gauge", "client.process.cpu.user.time": "sum", "client.process.cpu.system.time": "sum",
        "client.process.io.wait.time": "sum", "client.process.pid": "gauge",
    }  # fmt: skip
    assert MetricStore().collect(lambda name: True, "cumulative", 1) == []


def test_K714_85_other_names_under_kafkas_prefix_are_flagged() -> None:
    names = [P + "connection.creation.rate", "org.apache.kafka.client.request.rtt.avg60s", "org.apache.kafka.mine.x", "librdkafka.x"]
    assert unexpected_names(names) == ["org.apache.kafka.mine.x"]


def test_K714_88_labels_that_a_client_sends() -> None:
    config = {
        "client.rack": "r1", "group.id": "g", "group.instance.id": "i", "transactional.id": "t", "application.id": "a",
        "bootstrap.servers": "b",
        "sasl.jaas.config": "secret",
    }  # fmt: skip
    expected = {"client_rack": "r1", "group_id": "g", "group_instance_id": "i", "transactional_id": "t", "application_id": "a"}
    assert client_labels(config) == expected
    assert client_labels(config, "m-1") == {**expected, "group_member_id": "m-1"}


def test_K714_79_a_text_is_a_gauge_of_1_with_a_label() -> None:
    kept = MetricStore()
    kept.set("client.consumer.group.assignment.strategy", "cooperative-sticky")
    (point,) = decode_metrics(encode_metrics(kept.collect(lambda name: True, "cumulative", 1)), 0)
    assert (point["type"], point["value"], point["attributes"]) == ("gauge", 1, {"value": "cooperative-sticky"})


def test_K714_81_what_the_draft_calls_count_is_a_sum() -> None:
    (point,) = decode_metrics(encode_metrics([{"metric": "client.consumer.fetch.count", "type": "Count", "value": 3}]), 0)
    assert (point["type"], point["is_monotonic"], point["value"]) == ("sum", True, 3)


def test_K714_92_both_messages_of_otlp_have_the_same_rows(vectors: Any) -> None:
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    (case, *_) = (each for each in vectors("telemetry-sample") if each["compression"] == "none" and each["metrics"])
    data = bytes.fromhex(case["metrics_hex"])
    request = ExportMetricsServiceRequest.FromString(data)
    assert decode_metrics(request.SerializeToString(), 0) == decode_metrics(data, 0)
    assert [point["metric"] for point in decode_metrics(data, 0)] == [metric["name"] for metric in case["metrics"]]


def test_labels_are_added_to_every_resource() -> None:
    data = encode_metrics([{"metric": name, "type": "gauge", "value": 1.5, "resource": {"a": name}} for name in ("m", "n")])
    found = decode_metrics(with_resource_labels(data, {"principal": "User:a", "a": "mine"}), 0)
    assert [point["resource"] for point in found] == [{"principal": "User:a", "a": "mine"}] * 2
    with pytest.raises(BadLength):
        with_resource_labels(b"\xff", {})


def test_K714_94_labels_are_limited_and_what_is_above_is_counted() -> None:
    limit = LabelLimit(values=3)
    points = [{"metric": "m", "attributes": {"topic": f"t{n % 5}", "acks": "all"}} for n in range(10)]
    held = limit.hold(points)
    assert [point["attributes"]["topic"] for point in held] == ["t0", "t1", "t2", OVERFLOW, OVERFLOW] * 2
    assert {point["attributes"]["acks"] for point in held} == {"all"}
    assert limit.overflowed == 4
    few = LabelLimit(series=1)
    found = few.hold([{"metric": name, "attributes": {"l": "v"}} for name in ("m", "n", "m")])
    assert [point["attributes"]["l"] for point in found] == ["v", OVERFLOW, "v"]


def test_K714_95_labels_that_tell_of_the_host_are_found() -> None:
    points = [
        {"attributes": {"topic": "t", "host.name": "h"}, "resource": {"client_rack": "r", "os_arch": "x", "sasl.password": "p"}},
        {"attributes": {"broker_id": "1", "client_id": "c"}, "resource": {"principal": "p"}},
    ]
    assert suspicious_labels(points) == {"host.name", "os_arch", "sasl.password"}


@pytest.mark.parametrize("how", ["drop", "hash"])
def test_K714_96_what_names_somebody_does_not_come_out(how: Any) -> None:
    secret = {
        "client_source_address": "10.9.8.7", "principal": "User:bob", "client_id": "bobs", "transactional_id": "txn-bob",
        "group_id": "bobgroup",
    }  # fmt: skip
    points = [{"metric": "m", "value": 1, "attributes": {"topic": "t", "reason": "fenced by bobhost"}, "resource": {**secret, "zone": "z"}}]
    cleaned = PrivateLabels(how, b"key").clean(points)
    for value in (*secret.values(), "bobhost"):
        assert value not in str(cleaned)
    assert (cleaned[0]["attributes"]["topic"], cleaned[0]["resource"]["zone"], cleaned[0]["value"]) == ("t", "z", 1)
    assert PrivateLabels(how, b"key").clean(points) == cleaned
    if how == "hash":
        assert PrivateLabels(how, b"other").clean(points) != cleaned
        with pytest.raises(ValueError, match="needs a key"):
            PrivateLabels("hash")
