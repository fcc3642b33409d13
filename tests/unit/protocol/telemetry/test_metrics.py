"""Metrics that clients push: payloads of Kafka's own classes, every kind of OTLP metric, payloads that cannot be read."""

from __future__ import annotations

import gzip
import math

import cramjam
import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.metrics.v1 import metrics_pb2 as otlp

from kwire.errors import BadCompression, BadLength, LimitExceeded, UnsupportedVersion, WireError
from kwire.protocol.telemetry import decode_metrics

TEMPORALITY = {"AGGREGATION_TEMPORALITY_DELTA": "delta", "AGGREGATION_TEMPORALITY_CUMULATIVE": "cumulative", None: None}


def payload(*metrics, resource=()):
    group = otlp.ResourceMetrics(scope_metrics=[otlp.ScopeMetrics(metrics=metrics)])
    group.resource.attributes.extend(resource)
    return otlp.MetricsData(resource_metrics=[group]).SerializeToString()


def gauge(*points):
    return otlp.Metric(name="m", gauge=otlp.Gauge(data_points=points))


def test_points_are_those_that_kafka_wrote(vectors):
    seen = set()
    for case in vectors("telemetry-sample"):
        points = decode_metrics(bytes.fromhex(case["metrics_hex"]), case["compression_id"])
        found = [
            (p["metric"], p["type"], p["value"], type(p["value"]).__name__, p["attributes"], p["resource"], p["time_unix_nano"],
             p["start_time_unix_nano"], p["temporality"], p["is_monotonic"], p["count"], p["buckets"])
            for p in points
        ]  # fmt: skip
        expected = [
            (m["name"], m["type"], m["value"], {"int": "int", "double": "float"}[m["value_type"]], m["attributes"], m["resource"],
             m["time_unix_nano"], m["start_time_unix_nano"], TEMPORALITY[m.get("temporality")], m.get("monotonic"), None, None)
            for m in case["metrics"]
        ]  # fmt: skip
        assert found == expected, (case["case"], case["compression"])
        seen.add((case["compression"], bool(points)))
    assert seen == {(codec, some) for codec in ("none", "gzip", "snappy", "lz4", "zstd") for some in (True, False)}


@pytest.mark.parametrize("compression_type", range(5))
def test_no_bytes_are_no_metrics(compression_type):
    assert decode_metrics(b"", compression_type) == []


def test_numbers_that_are_not_finite():
    values = [point["value"] for point in decode_metrics(payload(gauge(*(
        otlp.NumberDataPoint(as_double=value) for value in (math.inf, -math.inf, math.nan)))), 0)]  # fmt: skip
    assert values[:2] == [math.inf, -math.inf]
    assert math.isnan(values[2])


def test_a_point_without_a_value():
    never, flagged = decode_metrics(payload(gauge(otlp.NumberDataPoint(), otlp.NumberDataPoint(as_int=5, flags=1))), 0)
    assert (never["value"], flagged["value"]) == (None, None)


def test_histograms():
    explicit = otlp.HistogramDataPoint(count=6, sum=9.5, explicit_bounds=[1, 10], bucket_counts=[3, 2, 1], time_unix_nano=7)
    without_sum = otlp.HistogramDataPoint(count=1)
    (first, second) = decode_metrics(
        payload(otlp.Metric(name="h", unit="ms", histogram=otlp.Histogram(data_points=[explicit, without_sum], aggregation_temporality=1))),
        0,
    )
    assert (first["type"], first["temporality"], first["is_monotonic"], first["unit"]) == ("histogram", "delta", None, "ms")
    assert (first["value"], first["count"], first["time_unix_nano"]) == (9.5, 6, 7)
    assert first["buckets"] == [
        {"upper_bound": 1.0, "count": 3}, {"upper_bound": 10.0, "count": 2}, {"upper_bound": math.inf, "count": 1},
    ]  # fmt: skip
    assert (second["value"], second["count"], second["buckets"]) == (None, 1, [])


def test_exponential_histograms_and_summaries():
    half = otlp.ExponentialHistogramDataPoint.Buckets(offset=-2, bucket_counts=[1, 4])
    exponential = otlp.ExponentialHistogramDataPoint(count=6, sum=3, scale=2, zero_count=1, positive=half)
    quantile = otlp.SummaryDataPoint.ValueAtQuantile(quantile=0.99, value=12)
    first, second = decode_metrics(
        payload(
            otlp.Metric(name="e", exponential_histogram=otlp.ExponentialHistogram(data_points=[exponential], aggregation_temporality=2)),
            otlp.Metric(name="s", summary=otlp.Summary(data_points=[otlp.SummaryDataPoint(count=2, sum=13, quantile_values=[quantile])])),
        ),
        0,
    )
    assert (first["type"], first["temporality"], first["value"], first["count"]) == ("exponential_histogram", "cumulative", 3.0, 6)
    assert first["buckets"] == {
        "scale": 2, "zero_count": 1, "positive": {"offset": -2, "counts": [1, 4]}, "negative": {"offset": 0, "counts": []},
    }  # fmt: skip
    assert (second["type"], second["temporality"], second["value"], second["count"]) == ("summary", None, 13.0, 2)
    assert second["buckets"] == [{"quantile": 0.99, "value": 12.0}]


def test_labels_of_every_type():
    nested = KeyValueList(values=[KeyValue(key="k", value=AnyValue(bool_value=True))])
    labels = [
        KeyValue(key="text", value=AnyValue(string_value="a")),
        KeyValue(key="int", value=AnyValue(int_value=-(2**63))),
        KeyValue(key="list", value=AnyValue(array_value=ArrayValue(values=[AnyValue(double_value=0.5), AnyValue()]))),
        KeyValue(key="map", value=AnyValue(kvlist_value=nested)),
        KeyValue(key="bytes", value=AnyValue(bytes_value=b"\xff")),
        KeyValue(key="none"),
    ]
    (point,) = decode_metrics(payload(gauge(otlp.NumberDataPoint(as_int=1, attributes=labels)), resource=labels[:1]), 0)
    assert point["attributes"] == {"text": "a", "int": -(2**63), "list": [0.5, None], "map": {"k": True}, "bytes": b"\xff", "none": None}
    assert point["resource"] == {"text": "a"}


def test_a_metric_of_no_type_has_no_points():
    assert decode_metrics(payload(otlp.Metric(name="m")), 0) == []


@pytest.mark.parametrize("data", [b"\xff", b"\x0a\x05\x01", b"not protobuf", b"\x0a\x02\x0a\x7f", b'{"resourceMetrics":[]}'])
def test_bytes_that_are_not_metrics(data):
    with pytest.raises(BadLength) as caught:
        decode_metrics(data, 0)
    assert str(caught.value) == f"{len(data)} bytes of metrics are not OTLP MetricsData at byte 0 in metrics (PushTelemetryRequest)"


@pytest.mark.parametrize("compression_type", [1, 2, 3, 4])
def test_bytes_that_are_not_compressed(compression_type):
    with pytest.raises(BadCompression, match="in metrics"):
        decode_metrics(b"\x0a\x00\x0a\x00", compression_type)


@pytest.mark.parametrize("compression_type", [-1, 5, 127])
def test_codecs_that_are_not_there(compression_type):
    with pytest.raises(UnsupportedVersion, match=f"unknown compression type {compression_type} "):
        decode_metrics(b"", compression_type)


@pytest.mark.parametrize("compression_type", [0, 1, 2, 3, 4])
def test_payloads_are_bounded(compression_type):
    zeros = bytes(200_000)
    packed = {
        0: zeros, 1: gzip.compress(zeros), 2: bytes(cramjam.snappy.compress_raw(zeros)), 3: bytes(cramjam.lz4.compress(zeros)),
        4: bytes(cramjam.zstd.compress(zeros)),
    }[compression_type]  # fmt: skip
    with pytest.raises(LimitExceeded):
        decode_metrics(packed, compression_type, limit=100_000)


def test_points_are_bounded():
    data = payload(gauge(*[otlp.NumberDataPoint()] * 30))
    assert len(decode_metrics(data, 0, max_points=30)) == 30
    with pytest.raises(LimitExceeded, match="metric points exceed the limit of 29"):
        decode_metrics(data, 0, max_points=29)


@pytest.mark.parametrize(
    "metrics",
    [
        otlp.MetricsData(resource_metrics=[otlp.ResourceMetrics()] * 101),
        otlp.MetricsData(resource_metrics=[otlp.ResourceMetrics(scope_metrics=[otlp.ScopeMetrics()] * 100)]),
        otlp.MetricsData(resource_metrics=[otlp.ResourceMetrics(scope_metrics=[otlp.ScopeMetrics(metrics=[otlp.Metric()] * 99)])]),
    ],
)
def test_empty_parts_are_bounded(metrics):
    data = metrics.SerializeToString()
    assert decode_metrics(data, 0) == []
    with pytest.raises(LimitExceeded, match="groups, metrics, labels and buckets exceed the limit of 100 "):
        decode_metrics(data, 0, max_points=10)


@pytest.mark.parametrize(
    "metric",
    [
        gauge(otlp.NumberDataPoint(attributes=[KeyValue()] * 98)),
        gauge(otlp.NumberDataPoint(attributes=[KeyValue(value=AnyValue(array_value=ArrayValue(values=[AnyValue()] * 97)))])),
        otlp.Metric(
            summary=otlp.Summary(data_points=[otlp.SummaryDataPoint(quantile_values=[otlp.SummaryDataPoint.ValueAtQuantile()] * 98)])
        ),
        otlp.Metric(histogram=otlp.Histogram(data_points=[otlp.HistogramDataPoint(explicit_bounds=[1] * 49, bucket_counts=[1] * 49)])),
    ],
)
def test_what_a_point_holds_is_bounded(metric):
    data = payload(metric)
    assert len(decode_metrics(data, 0)) == 1
    with pytest.raises(LimitExceeded, match="labels and buckets"):
        decode_metrics(data, 0, max_points=10)


def test_payloads_that_are_cut_or_changed(vectors):
    cases = [case for case in vectors("telemetry-sample") if case["case"] == "push-synthetic"]
    assert len(cases) == 5
    for case in cases:
        data = bytes.fromhex(case["metrics_hex"])
        broken = [data[:end] for end in range(0, len(data), 9)]
        broken += [data[:at] + bytes([data[at] ^ 0x81]) + data[at + 1 :] for at in range(0, len(data), 11)]
        refused = 0
        for each in broken:
            try:
                assert isinstance(decode_metrics(each, case["compression_id"]), list)
            except WireError:
                refused += 1
        assert refused > len(broken) // 4, case["compression"]
