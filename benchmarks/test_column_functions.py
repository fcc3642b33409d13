"""What the column functions do to one Arrow array, without Spark: headers, responses, offsets and metrics to columns, bodies to the
JSON of Kafka's converters.

Held against the ways that are made of other parts of kwire: frames joined to a stream and scanned, and one object a message; and against
msgspec's encoder of the same tree, which has no decoding to do.
"""

from __future__ import annotations

import struct
from typing import Any

import crc32c
import msgspec
import numpy as np
import pyarrow as pa
import pytest

import kwire
from frames import Corpus
from kwire.codec import to_json
from kwire.codec.binary_chunks import chunks_of
from kwire.codec.classes import compiled
from kwire.codec.header_scan import header_batch
from kwire.codec.json_columns import JsonColumns
from kwire.codec.json_text import json_text
from kwire.protocol.telemetry.otlp import encode_metrics, parse_metrics
from kwire.spark.body_types import NO_BODY, body_type
from kwire.spark.frame_rows import FrameRows
from kwire.spark.frame_structs import RequestStruct, ResponseStruct
from kwire.spark.metric_arrays import MetricArrays
from kwire.spark.offset_structs import OffsetStructs
from kwire.spark.reading_options import ReadingOptions
from kwire.spark.record_arrays import RecordArrays
from kwire.spark.request_frames import RequestFrames

ROWS, BODIES, FRAME_BYTES = 10_000, 100, 130
COLUMNS = ("api_key", "api_version", "correlation_id", "client_id", "error")


@pytest.mark.parametrize("who", ["native", "joined and scanned"])
def test_headers_of_a_binary_column(race, who):
    corpus = Corpus(many=True)
    frames = [header + bytes(FRAME_BYTES - len(header)) for header in (corpus.next_header(3, 12) for _ in range(ROWS))]
    column = pa.array(frames, pa.binary())

    def joined() -> Any:
        stream = b"".join(part for frame in column.to_pylist() for part in (len(frame).to_bytes(4, "big"), frame))
        return kwire.scan_headers(stream).to_arrow().select(COLUMNS)

    def native() -> Any:
        return header_batch(column, COLUMNS)

    assert native().equals(joined())
    race("headers of a binary column", who, native if who == "native" else joined, ROWS, ROWS * FRAME_BYTES)


@pytest.mark.parametrize("who", ["native", "an object each", "msgspec, encoding alone"])
@pytest.mark.parametrize(("message", "key", "version"), [("MetadataResponse", 3, 12), ("HeartbeatRequest", 12, 4)])
def test_json_of_bodies(race, message, key, version, who):
    corpus = Corpus()
    if message == "MetadataResponse":
        bodies = [corpus.metadata_response() for _ in range(BODIES)]
    else:
        heartbeats = [
            kwire.messages.HeartbeatRequest(group_id="billing", generation_id=each, member_id=corpus.member()) for each in range(BODIES)
        ]
        bodies = [kwire.encode(each, version) for each in heartbeats]
    [chunk] = chunks_of(pa.array(bodies, pa.binary()))
    keys, versions = np.full(BODIES, key, np.int16), np.full(BODIES, version, np.int16)
    columns = JsonColumns(compiled(), "request" if message.endswith("Request") else "response")
    decode = compiled().decoder(message, version).decode_whole
    trees = [to_json(decode(body), version) for body in bodies]
    run = {
        "native": lambda: columns.texts(chunk, keys, versions)[0],
        "an object each": lambda: [json_text(decode(body), version) for body in bodies],
        "msgspec, encoding alone": lambda: [msgspec.json.encode(tree) for tree in trees],
    }
    assert run["native"]().to_pylist() == run["an object each"]() == [text.decode() for text in run["msgspec, encoding alone"]()]
    race(f"JSON of {message}-v{version}", who, run[who], BODIES, sum(map(len, bodies)))


@pytest.mark.parametrize("who", ["body='none'", "framed=True", "JSON"])
def test_headers_of_requests(race, who):
    frames = pa.array(_heartbeats())
    framed = pa.array([len(frame).to_bytes(4, "big") + frame for frame in frames.to_pylist()])
    run = {
        "body='none'": lambda: RequestStruct(NO_BODY)(frames),
        "framed=True": lambda: RequestStruct(NO_BODY, framed=True)(framed),
        "JSON": lambda: RequestStruct()(frames),
    }
    assert run["body='none'"]().equals(run["framed=True"]())
    race("headers of Heartbeat v0", who, run[who], ROWS, sum(map(len, frames.to_pylist())))


@pytest.mark.parametrize("who", ["to_kafka_request", "to_kafka_request, JSON", "struct, a loop by hand"])
def test_frames_of_requests(race, who):
    head, tail = struct.Struct(">hhih"), struct.Struct(">i")
    frames = _heartbeats()
    typed = RequestStruct(body_type("HeartbeatRequest", 0, None))(pa.array(frames))
    texts = RequestStruct()(pa.array(frames))

    def by_hand() -> Any:
        found = []
        for row in typed.to_pylist():
            client_id, body = row["client_id"].encode(), row["body"]
            first = head.pack(row["api_key"], row["api_version"], row["correlation_id"], len(client_id)) + client_id
            found.append(first + _text(body["group_id"].encode()) + tail.pack(body["generation_id"]) + _text(body["member_id"].encode()))
        return pa.array(found)

    run = {
        "to_kafka_request": lambda: RequestFrames()(typed),
        "to_kafka_request, JSON": lambda: RequestFrames()(texts),
        "struct, a loop by hand": by_hand,
    }
    assert run[who]().to_pylist() == frames
    race("frames of Heartbeat v0", who, run[who], ROWS, sum(map(len, frames)))


@pytest.mark.parametrize("who", ["from_kafka_request", "from_kafka_request, JSON", "map_frames", "all versions", "struct, a loop by hand"])
def test_requests(race, who):
    head, tail = struct.Struct(">hhih"), struct.Struct(">i")
    frames = pa.array(_heartbeats())
    kind = body_type("HeartbeatRequest", 0, None)
    batch = pa.RecordBatch.from_arrays([frames], names=["frame"])

    def by_hand() -> Any:
        found = []
        for frame in frames.to_pylist():
            key, version, correlation_id, size = head.unpack_from(frame)
            assert (key, version) == (12, 0)
            start = head.size + size
            client_id = frame[head.size : start].decode()
            stop = start + 2 + int.from_bytes(frame[start : start + 2], "big")
            [generation] = tail.unpack_from(frame, stop)
            found.append((correlation_id, client_id, frame[start + 2 : stop].decode(), generation, frame[stop + 6 :].decode()))
        names = ("correlation_id", "client_id", "group_id", "generation_id", "member_id")
        return pa.table(dict(zip(names, map(pa.array, zip(*found, strict=True)), strict=True)))

    rows = {version: FrameRows("frame", (), body_type("HeartbeatRequest", version, None), ReadingOptions()) for version in (0, None)}
    run = {
        "from_kafka_request": lambda: RequestStruct(kind)(frames),
        "from_kafka_request, JSON": lambda: RequestStruct()(frames),
        "map_frames": lambda: list(rows[0](iter([batch]))),
        "all versions": lambda: list(rows[None](iter([batch]))),
        "struct, a loop by hand": by_hand,
    }
    told = by_hand().to_pylist()
    assert [{name: (row | row["body"])[name] for name in told[0]} for row in run["from_kafka_request"]().to_pylist()] == told
    for work in ("map_frames", "all versions"):
        assert run[work]()[0].select(["group_id", "generation_id", "member_id"]).to_pylist() == [
            {name: row[name] for name in ("group_id", "generation_id", "member_id")} for row in told
        ]
    race("requests of Heartbeat v0", who, run[who], ROWS, sum(map(len, frames.to_pylist())))


@pytest.mark.parametrize("who", ["from_kafka_response", "from_kafka_response, JSON", "map_frames", "struct, a loop by hand"])
def test_responses(race, who):
    head, body = struct.Struct(">ib"), struct.Struct(">ihb")
    frames = pa.array([head.pack(row, 0) + body.pack(0, 25, 0) for row in range(ROWS)])
    keys, versions = pa.array([12] * ROWS, pa.int16()), pa.array([4] * ROWS, pa.int16())
    kind = body_type("HeartbeatResponse", 4, None)
    rows = FrameRows("frame", (), kind, ReadingOptions())
    batch = pa.RecordBatch.from_arrays([frames], names=["frame"])

    def by_hand() -> Any:
        found = []
        for frame in frames.to_pylist():
            correlation_id, tags = head.unpack_from(frame)
            assert not tags
            found.append((correlation_id, *body.unpack_from(frame, head.size)[:2]))
        return pa.table([pa.array(column, pa.int32()) for column in zip(*found, strict=True)], names=["id", "throttle", "error"])

    run = {
        "from_kafka_response": lambda: ResponseStruct(kind)(frames, keys, versions),
        "from_kafka_response, JSON": lambda: ResponseStruct()(frames, keys, versions),
        "map_frames": lambda: list(rows([batch])),
        "struct, a loop by hand": by_hand,
    }
    typed = [row["body"]["error_code"] for row in run["from_kafka_response"]().to_pylist()]
    assert typed == by_hand().column("error").to_pylist() == [row["error_code"] for row in run["map_frames"]()[0].to_pylist()]
    race("responses of Heartbeat v4", who, run[who], ROWS, ROWS * 12)


def _heartbeats() -> list[bytes]:
    head, member = struct.Struct(">hhih"), _text(b"consumer-billing-1-79f4d093")
    return [head.pack(12, 0, row, 7) + b"billing" + _text(b"billing") + struct.pack(">i", row) + member for row in range(ROWS)]


def _text(value: bytes) -> bytes:
    return len(value).to_bytes(2, "big") + value


@pytest.mark.parametrize("who", ["from_consumer_offsets", "struct, a loop by hand"])
def test_offset_records(race, who):
    value = struct.Struct(">hqihq")  # version 3: offset, leader epoch, empty metadata, time
    keys = pa.array([b"\0\1" + _text(b"billing") + _text(b"orders") + struct.pack(">i", row % 12) for row in range(ROWS)])
    values = pa.array([value.pack(3, row, -1, 0, 1_700_000_000_000 + row) for row in range(ROWS)])

    def by_hand() -> Any:
        found = []
        for key, data in zip(keys.to_pylist(), values.to_pylist(), strict=True):
            start = 4 + int.from_bytes(key[2:4], "big")
            stop = start + 2 + int.from_bytes(key[start : start + 2], "big")
            [partition] = struct.unpack_from(">i", key, stop)
            version, offset, epoch, size, at = value.unpack(data)
            assert (version, size) == (3, 0)
            found.append((key[4:start].decode(), key[start + 2 : stop].decode(), partition, offset, epoch, at))
        names = ("group", "topic", "partition", "offset", "leader_epoch", "commit_timestamp")
        return pa.table(dict(zip(names, map(pa.array, zip(*found, strict=True)), strict=True)))

    run = {"from_consumer_offsets": lambda: OffsetStructs()(keys, values), "struct, a loop by hand": by_hand}
    rows = run["from_consumer_offsets"]().to_pylist()
    told = by_hand().to_pylist()
    assert [{name: (row | row["offset_commit"])[name] for name in told[0]} for row in rows] == told
    race("records of __consumer_offsets", who, run[who], ROWS, ROWS * (value.size + 23))


@pytest.mark.parametrize("who", ["from_record_batch", "struct, a loop by hand"])
def test_record_batches(race, who):
    """Batches of 10 records without headers; all numbers in records take one byte."""
    value = b"v" * 50
    head = struct.Struct(">qiib4xhiqqqhii")  # base offset, length, epoch, magic, checksum, attributes, delta, times, producer, sequence

    def batch_of(number: int) -> bytes:
        bodies = [bytes([0, 0, 2 * each, 8]) + b"key%d" % each + bytes([2 * len(value)]) + value + b"\0" for each in range(10)]
        records = b"".join(bytes([2 * len(body)]) + body for body in bodies)
        made = head.pack(10 * number, 49 + len(records), 0, 2, 0, 9, number, number, -1, -1, -1, 10) + records
        return made[:17] + crc32c.crc32c(made[21:]).to_bytes(4, "big") + made[21:]

    batches = pa.array([batch_of(number) for number in range(ROWS // 10)])

    def by_hand() -> Any:
        found = []
        for batch in batches.to_pylist():
            base, _, _, magic, attributes, _, first, _, _, _, _, count = head.unpack_from(batch)
            assert (magic, attributes) == (2, 0)
            at = head.size
            for _ in range(count):
                size = batch[at] >> 1
                key = at + 5
                data = key + (batch[at + 4] >> 1) + 1
                found.append((base + (batch[at + 3] >> 1), first + (batch[at + 2] >> 1), batch[key : data - 1], batch[data : at + size]))
                at += size + 1
        names = ("offset", "timestamp", "key", "value")
        return pa.table(dict(zip(names, map(pa.array, zip(*found, strict=True)), strict=True)))

    run = {"from_record_batch": lambda: RecordArrays()(batches), "struct, a loop by hand": by_hand}
    records = run["from_record_batch"]().flatten()
    told = by_hand()
    assert records.field("error").null_count == ROWS
    assert {name: records.field(name).to_pylist() for name in told.column_names} == told.to_pydict()
    race("record batches, 10 records", who, run[who], ROWS, sum(map(len, batches.to_pylist())))


@pytest.mark.parametrize("who", ["from_otlp", "OpenTelemetry's classes, a loop by hand"])
def test_pushed_metrics(race, who):
    def push(number: int) -> bytes:
        at = 1_700_000_000_000_000_000 + number
        labels = {"attributes": {"node_id": "1", "topic": "orders"}, "resource": {"client_rack": "a"}, "time_unix_nano": at}
        kinds = ("sum", "gauge")
        name = "org.apache.kafka.producer.request.latency"
        points = [{"metric": f"{name}.{each}", "type": kinds[each % 2], "value": float(number), **labels} for each in range(10)]
        return encode_metrics(points)

    payloads = pa.array([push(number) for number in range(BODIES)])
    kinds = pa.array([0] * BODIES, pa.int8())

    def by_hand() -> Any:
        found = []
        for payload in payloads.to_pylist():
            for group in parse_metrics(payload).resource_metrics:
                resource = [(each.key, each.value.string_value) for each in group.resource.attributes]
                for metric in (each for scope in group.scope_metrics for each in scope.metrics):
                    for point in getattr(metric, metric.WhichOneof("data")).data_points:
                        labels = [(each.key, each.value.string_value) for each in point.attributes]
                        found.append((metric.name, point.as_double, point.time_unix_nano, labels, resource))
        texts = pa.map_(pa.string(), pa.string())
        types = (pa.string(), pa.float64(), pa.int64(), texts, texts)
        return [pa.array(column, kind) for column, kind in zip(zip(*found, strict=True), types, strict=True)]

    run = {"from_otlp": lambda: MetricArrays()(payloads, kinds), "OpenTelemetry's classes, a loop by hand": by_hand}
    points = run["from_otlp"]().flatten()
    names = ("metric", "value", "time_unix_nano", "attributes", "resource")
    assert [points.field(name).to_pylist() for name in names] == [column.to_pylist() for column in by_hand()]
    race("pushed metrics, 10 points", who, run[who], BODIES, sum(map(len, payloads.to_pylist())))
