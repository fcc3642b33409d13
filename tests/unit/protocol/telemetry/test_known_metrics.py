"""Many pushes of the same metrics, against OpenTelemetry's own classes and the reader of one push."""

from __future__ import annotations

import random
from typing import Any

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kwire.errors import WireError
from kwire.protocol.telemetry import decode_metrics
from kwire.protocol.telemetry.known_metrics import MEASURED, read_points
from twin_codecs import vectors_of

NAN = float("nan")


def push(rack: str, start: int, time: int, value: float, kind: str = "sum") -> bytes:
    whole = MetricsData()
    group = whole.resource_metrics.add()
    label = group.resource.attributes.add()
    label.key, label.value.string_value = "rack", rack
    metric = group.scope_metrics.add().metrics.add()
    metric.name, metric.unit = "requests", "1"
    point = getattr(metric, kind).data_points.add()
    point.start_time_unix_nano, point.time_unix_nano = start, time
    setattr(point, "as_int" if isinstance(value, int) else "as_double", value)
    label = point.attributes.add()
    label.key, label.value.string_value = "topic", "orders"
    return whole.SerializeToString()


@pytest.mark.parametrize("kind", ["sum", "gauge"])
@pytest.mark.parametrize("values", [(7, 7, -8, (1 << 63) - 1), (1.0, 2.0, 1.0, NAN), (NAN, 0.0, -0.0, float("inf")), (3, 3.0, 4, 4.5)])
def test_each_push_has_its_own_numbers_and_resource(values, kind):
    for place, value in enumerate(values):
        for start, time in ((0, 5), (5, 6), (6, 5), ((1 << 64) - 1, 0), (0, 0)):
            [([told], *own)] = read_points(push(f"rack-{place}", start, time, value, kind), 0)
            assert repr([own[0], *(each for [each] in own[1:])]) == repr([{"rack": f"rack-{place}"}, start, time, value])
            assert (told["metric"], told["type"], told["unit"], told["attributes"]) == ("requests", kind, "1", {"topic": "orders"})


def test_lists_of_metrics_are_remembered_with_numbers_of_their_own():
    def list_of(name: str, *values: int | float) -> bytes:
        whole = MetricsData()
        for each in values:
            whole.MergeFromString(push("a", 5, 6, each))
        for group in whole.resource_metrics[1:]:
            whole.resource_metrics[0].scope_metrics[0].metrics.append(group.scope_metrics[0].metrics[0])
        del whole.resource_metrics[1:]
        whole.resource_metrics[0].scope_metrics[0].metrics[1].name = name
        return whole.SerializeToString()

    seen = []
    for turn in range(8):
        name, values = "bc"[turn % 2], (turn, turn + 0.5, -turn)
        [points] = read_points(list_of(name, *values), 0)
        assert [point["metric"] for point in points.first] == ["requests", name, "requests"]
        assert repr([*points.values]) == repr([*values])
        assert [*points.times] == [6, 6, 6]
        seen.append(points.first)
    assert seen[4] is seen[6]
    assert seen[5] is seen[7]


def outcome(read: Any, data: bytes) -> str:
    try:
        return repr(read(data, 0))
    except WireError as error:
        return str(error)


def of_known(data: bytes, compression_type: int) -> list[dict[str, Any]]:
    names = ("resource", *MEASURED)
    return [
        point | dict(zip(names, (resource, *own), strict=True))
        for first, resource, *measured in read_points(data, compression_type)
        for point, *own in zip(first, *measured, strict=True)
    ]


def test_changed_pushes_are_read_as_alone():
    pick = random.Random(5)
    cases = [bytes.fromhex(case["metrics_hex"]) for case in vectors_of("telemetry-sample") if case["compression_id"] == 0]
    cases += [push("a", 1, 2, 3), push("a", 0, 2, 3.0), b""]
    assert any(len(decode_metrics(case, 0)) > 5 for case in cases)
    for _ in range(3000):
        data = bytearray(pick.choice(cases))
        for _ in range(pick.choice((0, 1, 1, 4)) if data else 0):
            data[pick.randrange(len(data))] = pick.randrange(256)
        data = data[: pick.choice((None, None, pick.randrange(len(data) + 1)))]
        assert outcome(of_known, bytes(data)) == outcome(decode_metrics, bytes(data)), data.hex()
