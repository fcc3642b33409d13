"""Writer of points as OTLP `MetricsData`, and of labels into a payload."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from kwire.errors import Fault, InputError, raise_for

__all__ = ["encode_metrics", "is_monotonic_type", "metrics_layout", "parse_metrics", "with_resource_labels"]

_TEMPORALITY = {"delta": 1, "cumulative": 2}


def metrics_layout() -> Any:
    """Return OpenTelemetry's generated module of metrics; raise InputError where it is not installed."""
    try:
        return importlib.import_module("opentelemetry.proto.metrics.v1.metrics_pb2")
    except ImportError as error:
        raise InputError("Client metrics need the opentelemetry-proto package: run pip install 'kwire[telemetry]'.") from error


def is_monotonic_type(kind: str) -> bool:
    """Return whether points of this type only grow: `sum`, which the proposal calls `Count` in two places."""
    return kind.lower() in ("sum", "count")


def parse_metrics(data: bytes | bytearray | memoryview) -> Any:  # noqa: RET503 (raise_for never comes back)
    layout = metrics_layout()
    unreadable: type[Exception] = importlib.import_module("google.protobuf.message").DecodeError
    whole = layout.MetricsData()
    try:
        whole.ParseFromString(bytes(data))
    except unreadable:
        # protobuf gives no offset, and its message may hold bytes of the payload
        reason = f"{len(data)} bytes of metrics are not OTLP MetricsData"
    else:
        return whole
    raise_for(Fault.BAD_LENGTH, 0, "metrics", "PushTelemetryRequest", 72, None, reason)


def _set(label: Any, value: object) -> None:
    if isinstance(value, bool):
        label.value.bool_value = value
    elif isinstance(value, int):
        label.value.int_value = value
    elif isinstance(value, float):
        label.value.double_value = value
    else:
        label.value.string_value = str(value)


def _write_labels(attributes: Any, labels: Mapping[str, object]) -> None:
    for key, value in labels.items():
        label = attributes.add()
        label.key = key
        _set(label, value)


def encode_metrics(points: Iterable[Mapping[str, Any]]) -> bytes:
    """Write points of sums and gauges as OTLP `MetricsData`; without points, return no bytes.

    Points are dicts as returned by `decode_metrics`; `metric`, `type` and `value` are required, and `temporality` for a sum. Consecutive
    points with equal resources share one. A text value becomes a gauge of 1 with the label `value`.
    """
    whole = metrics_layout().MetricsData()
    scope: Any = None
    resource: Mapping[str, object] | None = None
    for point in points:
        if scope is None or point.get("resource", {}) != resource:
            resource = point.get("resource", {})
            group = whole.resource_metrics.add()
            _write_labels(group.resource.attributes, resource or {})
            scope = group.scope_metrics.add()
        metric = scope.metrics.add()
        metric.name = point["metric"]
        metric.unit = point.get("unit", "")
        metric.description = point.get("description", "")
        if is_monotonic_type(point["type"]):
            metric.sum.is_monotonic = point.get("is_monotonic", True)
            metric.sum.aggregation_temporality = _TEMPORALITY[point.get("temporality") or "cumulative"]
            written = metric.sum.data_points.add()
        elif point["type"] == "gauge":
            written = metric.gauge.data_points.add()
        else:
            raise InputError(f"A point of type {point['type']!r} cannot be written: kwire pushes sums and gauges.")
        labels = dict(point.get("attributes", {}))
        value = point["value"]
        if isinstance(value, str):
            labels["value"], value = value, 1
        if isinstance(value, int):
            written.as_int = value
        else:
            written.as_double = value
        written.start_time_unix_nano = point.get("start_time_unix_nano", 0)
        written.time_unix_nano = point.get("time_unix_nano", 0)
        _write_labels(written.attributes, labels)
    return bytes(whole.SerializeToString())


def with_resource_labels(data: bytes | bytearray | memoryview, labels: Mapping[str, object]) -> bytes:
    """Return an uncompressed payload with labels set on each of its resources."""
    whole = parse_metrics(data)
    for group in whole.resource_metrics:
        kept = [label for label in group.resource.attributes if label.key not in labels]
        del group.resource.attributes[:]
        group.resource.attributes.extend(kept)
        _write_labels(group.resource.attributes, labels)
    return bytes(whole.SerializeToString())
