"""A rule that a connection breaks again and again: a hundred rows, and one that counts the rest, from both twins."""

from __future__ import annotations

import io
from typing import Any

import pytest

from kafka_bytes import framed, heartbeat
from kwire.capture.packet_columns import ACK, FIN, SYN
from kwire.tables.series import begin_series, finish_series, iter_piece
from kwire.tables.state_types import KINDS
from kwire.tables.violation_rows import ViolationRows
from made_packets import CLIENT, SERVER
from read_by_twins import read_connections, sink_tables

EMPTY = bytes(4)  # a frame of no bytes: `frame_too_short`


def rows_of(sent: list[bytes], twin: str) -> list[dict[str, Any]]:
    """The violations of a connection whose client sends these bytes, be it closed or open at the end, in the order of the stream."""
    shake = [(CLIENT, SYN, b""), (SERVER, SYN | ACK, b""), *((CLIENT, ACK, each) for each in sent)]
    ended = [*shake, (CLIENT, FIN | ACK, b""), (SERVER, FIN | ACK, b"")]
    first, second = (sink_tables(read_connections([each], twin))["violations"] for each in (ended, shake))
    assert first == second
    return sorted(first, key=lambda row: (row["rule"], row["stream_offset"]))


@pytest.mark.parametrize(("breaches", "counts"), [(99, [1] * 99), (100, [1] * 100), (101, [1] * 101), (5000, [1] * 100 + [4900])])
def test_frames_of_no_bytes(breaches: int, counts: list[int], twin: str) -> None:
    rows = rows_of([heartbeat(0), *[EMPTY] * breaches], twin)
    assert [row["count"] for row in rows] == counts
    assert {(row["rule"], row["explanation"]) for row in rows} == {("frame_too_short", "A frame of 0 bytes is too short for its header.")}
    # behind SYN and its answer; the row that stands for the rest is the last of them
    assert [row["packet_number"] for row in rows] == [4 + number for number in (*range(min(breaches, 100)), breaches - 1)][: len(counts)]


def test_each_rule_has_its_hundred(twin: str) -> None:
    """Bytes behind a body are found by compiled code, frames of no bytes by Python."""
    rows = rows_of([heartbeat(0), *[framed(heartbeat(1)[4:] + b"x"), EMPTY] * 150], twin)
    assert [(row["rule"], row["count"]) for row in rows] == [
        *[("frame_too_short", 1)] * 100, ("frame_too_short", 50), *[("trailing_bytes", 1)] * 100, ("trailing_bytes", 50),
    ]  # fmt: skip


def test_what_was_counted_goes_on_behind_a_state() -> None:
    one = ViolationRows()
    row = ("s", "c", "a-b-0", "frame_too_short", "error", None, None, 1, 0, None, None, "text")
    for number in range(150):
        one.add(row)
        if number in (20, 130):
            taken = sum(batch.num_rows for batch in one.take(whole=True))
            assert taken == (21 if number == 20 else 79)
            kind = KINDS[ViolationRows]
            one = kind.load(kind.fields(*kind.dump(one)))
    one.over("a-b-0")
    assert not one.counted
    (batch,) = one.take(whole=True)
    assert batch.to_pylist()[0]["count"] == 50
    one.add(("s", None, None, "no_kafka", "warning", *[None] * 8))
    assert [row["count"] for batch in one.take(whole=True) for row in batch.to_pylist()] == [1]


def test_a_request_log_counts_alike() -> None:
    """ApiVersions with a software name that brokers refuse, in the JSON form of Kafka's request log."""
    line = (
        '[2026-01-01 00:00:00,000] DEBUG Completed request:{"isForwarded":false,"requestHeader":{"requestApiKey":18,"requestApiVersion":3,'
        '"correlationId":%d,"clientId":"app","requestApiKeyName":"API_VERSIONS"},"request":{"clientSoftwareName":"-bad",'
        '"clientSoftwareVersion":"1"},"response":{"errorCode":42,"apiKeys":[],"throttleTimeMs":0},"connection":"10.0.0.1:9092-10.0.0.9:5-0",'
        '"totalTimeMs":1.0,"requestQueueTimeMs":0.1,"localTimeMs":0.1,"remoteTimeMs":0.0,"throttleTimeMs":0,"responseQueueTimeMs":0.1,'
        '"sendTimeMs":0.1,"securityProtocol":"PLAINTEXT","principal":"User:ANONYMOUS","listener":"PLAINTEXT","clientInformation":'
        '{"softwareName":"unknown","softwareVersion":"unknown"}} (kafka.request.logger)\n'
    )
    carry = begin_series("log")
    found: list[Any] = []
    for batches in iter_piece(io.BytesIO("".join(line % number for number in range(250)).encode()), carry):
        found += batches["violations"]
    found += finish_series(carry)[0]["violations"]
    rows = [row for batch in found for row in batch.to_pylist()]
    assert {row["rule"] for row in rows} == {"client_software_invalid"}
    assert [row["count"] for row in rows] == [1] * 100 + [150]
