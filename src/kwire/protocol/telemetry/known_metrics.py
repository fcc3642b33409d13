"""Cached reader of pushes. Clients push the same metrics again and again; only the times and the value of each metric change. The reader
remembers the other bytes of a metric, and of a list of metrics, and the dicts read from them.

`decode_metrics` reads unusual pushes (histograms, lists as labels, exemplars, large ones) and invalid ones.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache, lru_cache
from struct import Struct
from typing import Any, Final, NamedTuple

from kwire.protocol.telemetry.metric_points import MAX_METRICS, MAX_POINTS, PointReader, decode_metrics, unpacked
from kwire.protocol.telemetry.otlp import metrics_layout

__all__ = ["MEASURED", "Points", "read_points"]

_PUSH_BYTES: Final = 1 << 16  # too small to exceed the limits of `decode_metrics` on points and parts
_METRIC_BYTES: Final = 1024
_MOST: Final = 4096  # metrics to remember
_LISTED: Final = 1 << 16  # points to remember in lists, some 200 bytes each
_RESOURCES: Final = 256  # as large as a push
_PLACES: Final = 8  # most positions of numbers to try in metrics of one size
_PACKED: Final = ("Resource.attributes", "ResourceMetrics.scope_metrics", "ScopeMetrics.metrics")
_FIELDS: Final = {"name", "description", "unit", "gauge", "sum"}
_POINT_FIELDS: Final = {"start_time_unix_nano", "time_unix_nano", "as_double", "as_int", "attributes", "flags"}
_SCALARS: Final = {None, "string_value", "bool_value", "int_value", "double_value", "bytes_value"}
# Layout of times and value in the bytes of all clients, by tags: optional start time (2), time (3), double (4) or integer (6).
_NUMBER_BYTES: Final = 9
_TIMES: Final = ("start_time_unix_nano", "time_unix_nano")
_NUMBERS: Final = {
    b"\x11\x19\x21": Struct("<xQxQxd"), b"\x11\x19\x31": Struct("<xQxQxq"), b"\x19\x21": Struct("<xQxd"), b"\x19\x31": Struct("<xQxq"),
}  # fmt: skip


MEASURED: Final = (*_TIMES, "value")
"""Fields that differ between pushes of a metric, besides the resource."""


class Points(NamedTuple):
    """Points of one resource: the dicts of `decode_metrics` from the push that was read first, and the own `MEASURED` fields."""

    first: Sequence[dict[str, Any]]
    resource: dict[str, Any] | None
    start_times: Sequence[int | None]
    times: Sequence[int | None]
    values: Sequence[float | None]


def read_points(data: Any, compression_type: int) -> list[Points]:
    """Read the metrics of a push; arguments and faults as for `decode_metrics`. Equal resources and metrics share their dicts."""
    view = unpacked(data, compression_type, MAX_METRICS)
    if 0 < view.nbytes <= _PUSH_BYTES:
        known = _known_metrics()
        try:
            return known.points(view.tobytes())
        except (known.unreadable, ValueError):  # unusual, or at fault
            pass
    return [_of_dicts([point], point["resource"]) for point in decode_metrics(data, compression_type)]


def _of_dicts(points: list[dict[str, Any]], resource: dict[str, Any]) -> Points:
    return Points(points, resource, *([point[name] for point in points] for name in MEASURED))


def _protobuf(module: str) -> Any:
    return importlib.import_module(f"google.protobuf.{module}")


def _class_of(described: Any) -> Any:
    return _protobuf("message_factory").GetMessageClass(described)


def _push_classes() -> tuple[Any, Any]:
    """Return the classes of `MetricsData` and `ScopeMetrics` with the labels of resources, scopes and metrics as bytes."""
    described = metrics_layout().DESCRIPTOR
    pool = _protobuf("descriptor_pool").DescriptorPool()
    for each in (*described.dependencies, described):
        file = _protobuf("descriptor_pb2").FileDescriptorProto.FromString(each.serialized_pb)
        for message in file.message_type:
            for field in message.field:
                if f"{message.name}.{field.name}" in _PACKED:
                    field.type = field.TYPE_BYTES
                    field.ClearField("type_name")
        pool.AddSerializedFile(file.SerializeToString())
    names = (described.message_types_by_name[name].full_name for name in ("MetricsData", "ScopeMetrics"))
    push, scope = (_class_of(pool.FindMessageTypeByName(name)) for name in names)
    return push, scope


class _Layout(NamedTuple):
    """Places of numbers in lists of metrics of one size: the bytes around them, the numbers, how many a metric has, and known lists."""

    around: Struct
    numbers: Struct
    step: int
    known: dict[tuple[bytes, ...], Sequence[dict[str, Any]]]


class _KnownMetrics:
    def __init__(self) -> None:
        self.unreadable: type[Exception] = _protobuf("message").DecodeError
        self._push, self._scope = _push_classes()
        self._metric = metrics_layout().Metric
        self._label = _class_of(metrics_layout().NumberDataPoint.DESCRIPTOR.fields_by_name["attributes"].message_type)
        self._resource = lru_cache(_RESOURCES)(self._read_resource)
        self._places: dict[int, list[tuple[int, int]]] = {}  # positions of the numbers, by size of a metric
        self._metrics: dict[tuple[bytes, bytes, bytes], dict[str, Any]] = {}
        self._layouts: dict[int, list[_Layout]] = {}  # by size of a list of metrics; empty for a size seen once
        self._listed = 0  # points in these lists

    def points(self, data: bytes) -> list[Points]:
        found = []
        for group in self._push.FromString(data).resource_metrics:
            resource = self._resource(tuple(group.resource.attributes))
            found += [self._points_of(scope, resource) for scope in group.scope_metrics]
        return found

    def _points_of(self, scope: bytes, resource: dict[str, Any]) -> Points:
        for around, numbers, step, known in self._layouts.get(len(scope), ()):
            first = known.get(around.unpack(scope))
            if first is not None:
                own = numbers.unpack(scope)
                starts = own[::step] if step > len(_TIMES) else [point["start_time_unix_nano"] for point in first]
                return Points(first, resource, starts, own[step - 2 :: step], own[step - 1 :: step])
        metrics = list(self._scope.FromString(scope).metrics)
        found: list[dict[str, Any]] = []
        measured: list[tuple[Any, Any, Any]] = []
        places: list[tuple[int, bytes]] = []
        for metric in metrics:
            for start, stop in self._places.get(len(metric), ()):
                tags = metric[start:stop:_NUMBER_BYTES]
                point = self._metrics.get((metric[:start], tags, metric[stop:]))
                if point is not None:
                    own = _NUMBERS[tags].unpack_from(metric, start)
                    found.append(point)
                    measured.append(own if len(tags) > len(_TIMES) else (point["start_time_unix_nano"], *own))
                    places.append((start, tags))
                    break
            else:
                for point in self._read(metric, resource):
                    found.append(point)
                    measured.append((point["start_time_unix_nano"], point["time_unix_nano"], point["value"]))
        if len(places) == len(metrics) and len({len(tags) for _, tags in places}) == 1:
            self._learn_list(scope, metrics, places, found)
        return Points(found, resource, *zip(*measured, strict=True)) if found else Points([], resource, (), (), ())

    def _learn_list(self, scope: bytes, metrics: list[bytes], places: list[tuple[int, bytes]], points: list[dict[str, Any]]) -> None:
        """Remember a list of known metrics when its size is seen again, if changing the numbers of each changes nothing else."""
        layouts = self._layouts.get(len(scope))
        if layouts is None:
            self._layouts[len(scope)] = []
            return
        changed, expected = bytearray(scope), []
        texts, numbers, at, end = "<", "<", 0, 0
        for metric, (start, tags) in zip(metrics, places, strict=True):
            at = scope.find(metric, at)
            other = bytearray(metric)
            for each in range(start + 1, start + _NUMBER_BYTES * len(tags), _NUMBER_BYTES):
                other[each] ^= 1
            expected.append(bytes(other))
            changed[at : at + len(metric)] = other
            gap = at + start - end
            texts += f"{gap}s" + f"c{_NUMBER_BYTES - 1}x" * len(tags)
            numbers += f"{gap}x" + str(_NUMBERS[tags].format).removeprefix("<")
            end += gap + _NUMBER_BYTES * len(tags)
            at += len(metric)
        if list(self._scope.FromString(bytes(changed)).metrics) != expected:
            return
        layout = _Layout(Struct(f"{texts}{len(scope) - end}s"), Struct(f"{numbers}{len(scope) - end}x"), len(places[0][1]), {})
        formats = [(each.around.format, each.numbers.format) for each in layouts]
        if (own := (layout.around.format, layout.numbers.format)) in formats:
            layout = layouts[formats.index(own)]
        else:
            layouts.insert(0, layout)
            del layouts[_PLACES:]
        layout.known[layout.around.unpack(scope)] = points
        self._listed += len(points)
        if self._listed > _LISTED:
            self._layouts.clear()
            self._listed = 0

    def _read(self, data: bytes, resource: dict[str, Any]) -> list[dict[str, Any]]:
        metric = self._metric.FromString(data)
        self._check(metric)
        points = list(PointReader(MAX_POINTS).points_of(metric, resource))
        if len(points) == 1 and points[0]["value"] is not None and len(data) <= _METRIC_BYTES:
            self._learn(data, metric, points[0])
        return points

    def _read_resource(self, labels: tuple[bytes, ...]) -> dict[str, Any]:
        found = [self._label.FromString(label) for label in labels]
        _check_labels(found)
        return PointReader(MAX_POINTS).labels(found)

    def _check(self, metric: Any) -> None:
        """Raise ValueError for fields that may nest deeper here than in a push."""
        kind = metric.WhichOneof("data")
        if kind is None or not {field.name for field, _ in metric.ListFields()} <= _FIELDS:
            raise ValueError("unusual metric")
        for point in getattr(metric, kind).data_points:
            if not {field.name for field, _ in point.ListFields()} <= _POINT_FIELDS:
                raise ValueError("unusual point")
            _check_labels(point.attributes)

    def _learn(self, data: bytes, metric: Any, point: dict[str, Any]) -> None:
        """Remember a metric whose numbers are adjacent, if replacing their bytes changes only these numbers."""
        [written] = getattr(metric, point["type"]).data_points
        which = written.WhichOneof("value")
        for tags, numbers in _NUMBERS.items():
            if (which == "as_double") != (tags[-1:] == b"\x21"):
                continue
            names = (*_TIMES, which)[-len(tags) :]
            sample = bytearray(numbers.pack(*(getattr(written, name) for name in names)))
            sample[::_NUMBER_BYTES] = tags
            start = data.find(sample)
            if start < 0:
                continue
            stop = start + len(sample)
            for name in names:
                value = getattr(written, name)
                setattr(written, name, value ^ 1 if isinstance(value, int) else 1.0 if value != 1 else 2.0)
            sample[:] = numbers.pack(*(getattr(written, name) for name in names))
            sample[::_NUMBER_BYTES] = tags
            if self._metric.FromString(data[:start] + sample + data[stop:]) != metric:
                return
            if len(self._metrics) >= _MOST:
                self._metrics.clear()
                self._places.clear()
            places = self._places.setdefault(len(data), [])
            if (start, stop) not in places:
                places.insert(0, (start, stop))
                del places[_PLACES:]
            self._metrics[data[:start], tags, data[stop:]] = point
            return


def _check_labels(labels: Any) -> None:
    if not all(label.value.WhichOneof("value") in _SCALARS for label in labels):
        raise ValueError("a label that may have parts")


@cache
def _known_metrics() -> _KnownMetrics:
    return _KnownMetrics()
