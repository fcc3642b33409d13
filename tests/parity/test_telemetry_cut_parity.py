"""Pushes that hold far more points than their bytes account for: the tables of both twins take the first of them and say so."""

from __future__ import annotations

import gzip
from functools import partial

import pytest

import kwire
from kwire.protocol.telemetry import POINTS_OF_ANY_PUSH, first_points
from kwire.tables import series
from made_packets import CLIENT, SERVER
from read_by_twins import read_connection

PUSHES = 3


def sized(tag: int, content: bytes) -> bytes:
    """A field of protobuf with a length."""
    size, length = len(content), bytearray()
    while size > 0x7F:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([tag, *length, size]) + content


def metrics_of(points: int) -> bytes:
    """MetricsData with as many gauges `m` of one point, which is 1."""
    gauge = sized(0x2A, sized(0x0A, b"\x31" + (1).to_bytes(8, "little")))
    return sized(0x0A, sized(0x12, sized(0x12, sized(0x0A, b"m") + gauge) * points))


def push(number: int, points: int) -> bytes:
    """PushTelemetry v0 with these metrics in gzip."""
    request = kwire.messages.PushTelemetryRequest(compression_type=1, metrics=gzip.compress(metrics_of(points), mtime=0))
    return b"\0\x48\0\0" + number.to_bytes(4, "big") + b"\0\3app\0" + kwire.encode(request, 0)


@pytest.mark.parametrize("points", [999, 1000, 1001, 20_000])
def test_the_tables_take_the_first_points(points: int, twin: str) -> None:
    frames = []
    for number in range(PUSHES):
        frames += [(CLIENT, push(number, points)), (SERVER, number.to_bytes(4, "big") + bytes(8))]
    assert len(frames[0][1]) < 4 * POINTS_OF_ANY_PUSH
    sink = read_connection(frames, twin)
    rows = [row for batch in sink.observed.builders["telemetry"].take(whole=True) for row in batch.to_pylist()]
    assert len(rows) == PUSHES * min(points, 1000)
    assert {(row["metric"], row["value"]) for row in rows} == {("m", 1.0)}
    broken = [row for batch in sink.violations.take(whole=True) for row in batch.to_pylist()]
    assert [(row["rule"], row["severity"], row["request_index"]) for row in broken] == [
        ("telemetry_cut", "warning", number) for number in range(PUSHES) if points > 1000
    ]
    assert all(f"has {points} metric points; only the first 1000 are kept" in row["explanation"] for row in broken)
    assert [row["packet_number"] for row in broken] == [4 + 2 * row["request_index"] for row in broken]  # behind a handshake of 1 to 3


def test_a_larger_push_gives_a_point_for_each_four_bytes() -> None:
    """An ordinary push is never cut: each of these gauges takes 14 bytes as they are."""
    found, held = first_points(metrics_of(3000), 0)
    assert (len(found), held) == (3000, 3000)
    packed = gzip.compress(metrics_of(3000), mtime=0) + bytes(8000)  # zeros behind the end of a gzip stream are padding
    found, held = first_points(packed, 1)
    assert (len(found), held) == (len(packed) // 4, 3000)


def test_nothing_is_left_out_where_no_metrics_are_wanted(twin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("read_by_twins.series.begin_series", partial(series.begin_series, observing=False))
    sink = read_connection([(CLIENT, push(0, 5000)), (SERVER, bytes(12))], twin)
    assert sink.violations.take(whole=True) == []
