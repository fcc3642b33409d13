"""What the column functions do to one Arrow array, without Spark: headers and responses to columns, bodies to the JSON of Kafka's
converters.

Held against the ways that are made of other parts of kwire: frames joined to a stream and scanned, and one object a message; and against
msgspec's encoder of the same tree, which has no decoding to do.
"""

from __future__ import annotations

import struct
from typing import Any

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
from kwire.spark.body_types import body_type
from kwire.spark.frame_rows import FrameRows
from kwire.spark.frame_structs import ResponseStruct
from kwire.spark.reading_options import ReadingOptions

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
