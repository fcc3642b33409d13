"""Metrics pushed by clients (KIP-714) as plain dicts: OTLP MetricsData in a PushTelemetry request, compressed or not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, NoReturn

from kwire.errors import Fault, raise_for
from kwire.protocol.telemetry.otlp import parse_metrics

__all__ = [
    "BYTES_OF_A_POINT", "MAX_METRICS", "MAX_POINTS", "POINTS_OF_ANY_PUSH", "PointReader", "decode_metrics", "first_points", "unpacked",
]  # fmt: skip

MAX_METRICS: Final = 8 << 20
"""Default limit of the unpacked size: eight times a broker's limit for packed payloads (`telemetry.max.bytes`). Reading needs up to forty
times the unpacked size in memory."""

MAX_POINTS: Final = 100_000
"""Default limit of data points per payload: an empty point takes two bytes, but a whole dict once decoded."""

POINTS_OF_ANY_PUSH: Final = 1_000
"""Points of a push that the tables accept at any payload size; an ordinary client pushes a few hundred."""

BYTES_OF_A_POINT: Final = 4
"""Payload bytes, as sent, required per further point; only a hostile payload is packed more tightly."""

_PARTS_PER_POINT: Final = 10  # groups, metrics, labels, buckets and the like that a payload may have for each point that it may have

_MESSAGE: Final = "PushTelemetryRequest"
_API_KEY: Final = 72
_CODECS: Final = 4  # none, gzip, snappy, lz4, zstd: as in record batches
_MAGIC: Final = 2  # snappy and lz4 are framed as in record batches of this magic
_TEMPORALITIES: Final = {1: "delta", 2: "cumulative"}
_NO_VALUE: Final = 1  # flag of a point: no value was recorded


def decode_metrics(data: Any, compression_type: int, *, limit: int = MAX_METRICS, max_points: int = MAX_POINTS) -> list[dict[str, Any]]:
    """Decode the metrics of a PushTelemetry request.

    Clients send `MetricsData`; the proposal's `ExportMetricsServiceRequest` has the same bytes. An empty payload holds no metrics,
    regardless of the compression type; a terminating client may push one.

    Arguments:
        data: the `metrics` field; any contiguous buffer.
        compression_type: the field of that name: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
        limit: largest unpacked size in bytes.
        max_points: largest number of data points; for each, ten groups, metrics, labels and buckets are allowed.

    Returns:
        One dict per data point, in the order of the payload:

        - `metric`, `unit`, `description`: name, unit and description of the metric, `""` if missing;
        - `type`: `gauge`, `sum`, `histogram`, `exponential_histogram` or `summary`;
        - `temporality`: `delta` or `cumulative`, None if the type has none or it is not sent;
        - `is_monotonic`: of a sum, else None;
        - `value`: int or float (infinities and NaN too) of a gauge or a sum, the sum of the others, None if nothing was recorded;
        - `count`: number of observations, None for a gauge or a sum;
        - `buckets`: None for a gauge or a sum; for a histogram a list of `{"upper_bound", "count"}`, the last bound infinite; for an
          exponential histogram `{"scale", "zero_count", "positive", "negative"}`, with `{"offset", "counts"}` for the last two; for a
          summary a list of `{"quantile", "value"}`;
        - `attributes`, `resource`: dicts of the labels of the point and of its client; points of one client share the latter;
        - `start_time_unix_nano` (0 if not sent), `time_unix_nano`.

    Raises:
        UnsupportedVersion: unknown compression type.
        BadLength: the payload is not OTLP metrics.
        WireError: the payload cannot be unpacked or exceeds a limit (`LimitExceeded`).
        InputError: the packages of the extra `kwire[telemetry]` are not installed.
    """
    view = unpacked(data, compression_type, limit)
    return list(PointReader(max_points).points(parse_metrics(view))) if view.nbytes else []


def first_points(data: Any, compression_type: int) -> tuple[list[dict[str, Any]], int]:
    """Decode the first points of a push: `POINTS_OF_ANY_PUSH`, or one for each `BYTES_OF_A_POINT` of a larger one.

    Returns:
        The decoded points, and the number of points in the push.
    """
    view = unpacked(data, compression_type, MAX_METRICS)
    if not view.nbytes:
        return [], 0
    metrics = parse_metrics(view)
    held = sum(
        len(getattr(metric, kind).data_points)
        for group in metrics.resource_metrics
        for scope in group.scope_metrics
        for metric in scope.metrics
        if (kind := metric.WhichOneof("data")) is not None
    )
    most = max(POINTS_OF_ANY_PUSH, memoryview(data).nbytes // BYTES_OF_A_POINT)
    return list(islice(PointReader(MAX_POINTS, held).points(metrics), most)), held


def unpacked(data: Any, compression_type: int, limit: int) -> memoryview:
    """Return the payload of a push without its compression; arguments and faults as for `decode_metrics`."""
    view = memoryview(data).cast("B")
    if not 0 <= compression_type <= _CODECS:
        _refuse(Fault.UNSUPPORTED_VERSION, f"unknown compression type {compression_type}", "compression_type")
    # Kafka's own readers do not end for some codecs when there is nothing to unpack.
    if compression_type and view.nbytes:
        from kwire.codec.records.compression import unpack

        return memoryview(unpack(compression_type, _MAGIC, view, limit, 0, "metrics"))
    if view.nbytes > limit:
        _refuse(Fault.LIMIT_EXCEEDED, f"metrics of {view.nbytes} bytes exceed the limit of {limit}")
    return view


def _refuse(fault: Fault, reason: str, path: str = "metrics") -> NoReturn:
    raise_for(fault, 0, path, _MESSAGE, _API_KEY, None, reason)


class PointReader:
    """Reader of the points of one payload. It counts parts, because a small payload of empty parts takes long to read."""

    def __init__(self, max_points: int, held: int = 0) -> None:
        self._max_points = max_points
        self._points_left = max(max_points, held)
        self._parts_left = max_points * _PARTS_PER_POINT

    def _parts(self, parts: Any) -> Any:
        self._parts_left -= len(parts)
        if self._parts_left < 0:
            _refuse(Fault.LIMIT_EXCEEDED, f"groups, metrics, labels and buckets exceed the limit of {self._max_points * _PARTS_PER_POINT}")
        return parts

    def points(self, metrics: Any) -> Iterator[dict[str, Any]]:
        for group in self._parts(metrics.resource_metrics):
            resource = self.labels(group.resource.attributes)
            for scope in self._parts(group.scope_metrics):
                for metric in self._parts(scope.metrics):
                    yield from self.points_of(metric, resource)

    def points_of(self, metric: Any, resource: dict[str, Any]) -> Iterator[dict[str, Any]]:
        kind = metric.WhichOneof("data")
        if kind is None:  # a type that OTLP gets one day
            return
        held = getattr(metric, kind)
        self._points_left -= len(held.data_points)
        if self._points_left < 0:
            _refuse(Fault.LIMIT_EXCEEDED, f"metric points exceed the limit of {self._max_points}")
        for point in held.data_points:
            yield {
                "metric": metric.name,
                "unit": metric.unit,
                "description": metric.description,
                "type": kind,
                "temporality": _TEMPORALITIES.get(getattr(held, "aggregation_temporality", 0)),
                "is_monotonic": held.is_monotonic if kind == "sum" else None,
                **self._measured(kind, point),
                "attributes": self.labels(point.attributes),
                "resource": resource,
                "start_time_unix_nano": point.start_time_unix_nano,
                "time_unix_nano": point.time_unix_nano,
            }

    def _measured(self, kind: str, point: Any) -> dict[str, Any]:
        recorded = not point.flags & _NO_VALUE
        if kind in ("gauge", "sum"):
            which = point.WhichOneof("value") if recorded else None
            return {"value": None if which is None else getattr(point, which), "count": None, "buckets": None}
        # A histogram's sum is left out where observations may be negative; a summary always has one.
        total = point.sum if recorded and (kind == "summary" or point.HasField("sum")) else None
        return {"value": total, "count": point.count, "buckets": self._buckets(kind, point)}

    def _buckets(self, kind: str, point: Any) -> Any:
        if kind == "summary":
            return [{"quantile": each.quantile, "value": each.value} for each in self._parts(point.quantile_values)]
        if kind == "exponential_histogram":
            halves = {
                name: {"offset": half.offset, "counts": list(self._parts(half.bucket_counts))}
                for name, half in (("positive", point.positive), ("negative", point.negative))
            }
            return {"scale": point.scale, "zero_count": point.zero_count, **halves}
        bounds = [*self._parts(point.explicit_bounds), float("inf")]
        return [{"upper_bound": bound, "count": count} for bound, count in zip(bounds, self._parts(point.bucket_counts), strict=False)]

    def labels(self, attributes: Any) -> dict[str, Any]:
        return {each.key: self._plain(each.value) for each in self._parts(attributes)}

    def _plain(self, value: Any) -> Any:
        which = value.WhichOneof("value")
        if which is None:
            return None
        held = getattr(value, which)
        if which == "array_value":
            return [self._plain(each) for each in self._parts(held.values)]
        return self.labels(held.values) if which == "kvlist_value" else held
