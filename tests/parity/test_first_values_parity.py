"""The first value of a column, empty, null or missing, at every way that Arrow arrays take into native code.

Short values are copied 32 bytes at a time, as far as the input goes: so each message ends in more bytes than that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest

from kwire.codec.binary_chunks import chunks_of
from kwire.codec.columns import Columns
from kwire.codec.header_scan import HeaderScan
from kwire.codec.json_columns import JsonColumns
from kwire.codec.records import record_reader
from kwire.spark.body_types import JSON_BODY, BodyType
from kwire.spark.frame_rows import FrameRows
from kwire.spark.frame_structs import RequestStruct
from kwire.spark.frame_sums import frames_to_rows
from kwire.spark.reading_options import ReadingOptions

MEMBER = "m" * 40
VALUES: list[list[str | None]] = [
    [],
    [""],
    [None],
    ["", "", ""],
    [None, ""],
    ["", "app"],
    ["app", ""],
    [None, "", "app", None, ""],
    ["a" * 32, ""],
    ["", "a" * 33, "a" * 300],
]
KINDS = (pa.binary(), pa.large_binary(), pa.binary_view())

pytestmark = pytest.mark.parametrize("values", VALUES, ids=str)


def string(text: str | None) -> bytes:
    return b"\xff\xff" if text is None else len(text).to_bytes(2, "big") + text.encode()


def compact(text: str | None) -> bytes:
    """A compact string of at most 300 characters; its length, one more for null, is a varint."""
    size = 0 if text is None else len(text) + 1
    return (bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])) + (text or "").encode()


def arrays(messages: Iterable[bytes | None]) -> Iterable[Any]:
    """Arrays of the messages: of each kind, whole, as a slice, and in chunks."""
    messages = list(messages)
    for kind in KINDS:
        yield pa.array(messages, kind)
        yield pa.array([None, b"left out" * 9, *messages, b"left out" * 9], kind).slice(2, len(messages))
        yield pa.chunked_array([[], messages[:1], messages[1:]], kind)


def heartbeats(client_ids: Iterable[str | None]) -> list[bytes]:
    """HeartbeatRequest v0: api 12, version 0, correlation id 7, client id; group "g", generation 5, member."""
    return [
        bytes.fromhex("000c 0000 00000007") + string(each) + string("g") + bytes.fromhex("00000005") + string(MEMBER) for each in client_ids
    ]


def test_client_ids_of_headers(codec: Any, values: list[str | None]) -> None:
    for frames in arrays(heartbeats(values)):
        batch = HeaderScan(codec.compiled).header_batch(frames)
        batch.validate(full=True)
        assert batch.column("client_id").to_pylist() == values
        assert batch.column("correlation_id").to_pylist() == [7] * len(values)


def test_client_ids_behind_nulls(codec: Any, values: list[str | None]) -> None:
    for frames in arrays([None, *heartbeats(values)]):
        assert HeaderScan(codec.compiled).header_batch(frames, ("client_id",)).column(0).to_pylist() == [None, *values]


def test_structs_of_frames(values: list[str | None]) -> None:
    for body in (JSON_BODY, BodyType("HeartbeatRequest", 0)):
        for frames in arrays(heartbeats(values)):
            found = RequestStruct(body)(frames)
            found.validate(full=True)
            assert [row["client_id"] for row in found.to_pylist()] == values
            assert [row["error"] for row in found.to_pylist()] == [None] * len(values)


def test_rows_and_sums_of_frames(values: list[str | None]) -> None:
    body = BodyType()
    for frames in arrays(heartbeats(values)):
        batches = pa.table({"frame": frames}).to_batches() or [pa.record_batch({"frame": pa.array([], pa.binary())})]
        rows = list(FrameRows("frame", (), body, ReadingOptions())(iter(batches)))
        assert [each for batch in rows for each in batch.column("client_id").to_pylist()] == values
        sums = frames_to_rows("frame", (), body, ReadingOptions(), True, ("client_id",), "count")(iter(batches))
        found = {row["client_id"]: row["count"] for batch in sums for row in batch.to_pylist()}
        assert found == {each: values.count(each) for each in values}


def test_columns_of_messages(codec: Any, values: list[str | None]) -> None:
    """HeartbeatRequest v4: group, generation 5, member, instance, no tags. FindCoordinatorRequest v4: type 0, keys, no tags."""
    columns = Columns(codec.compiled)
    bodies = [compact(each or "") + bytes.fromhex("00000005") + compact(MEMBER) + compact(each) + b"\0" for each in values]
    for messages in arrays(bodies):
        batch = columns.to_arrow("HeartbeatRequest", messages, 4)
        batch.validate(full=True)
        assert batch.column("group_id").to_pylist() == [each or "" for each in values]
        assert batch.column("group_instance_id").to_pylist() == values
    keys = [[each] for each in values if each is not None]
    bodies = [bytes([0, len(each) + 1]) + b"".join(map(compact, each)) + b"\0" for each in ([], *keys, [*("x" * 40 for _ in keys)])]
    for messages in arrays(bodies):
        batch = columns.to_arrow("FindCoordinatorRequest", messages, 4)
        batch.validate(full=True)
        assert batch.column("coordinator_keys").to_pylist() == [[], *keys, ["x" * 40] * len(keys)]


def test_json_of_messages(codec: Any, values: list[str | None]) -> None:
    chosen = [each or "" for each in values]
    bodies = [string(each) + bytes.fromhex("00000005") + string(MEMBER) for each in chosen]
    numbers = {name: (number.to_bytes(2, "little") * len(chosen)) for name, number in (("key", 12), ("version", 0))}
    for messages in arrays(bodies):
        if isinstance(messages, pa.ChunkedArray):
            continue
        [chunk] = chunks_of(messages)
        texts, left = JsonColumns(codec.compiled, "request").texts(chunk, numbers["key"], numbers["version"])
        texts.validate(full=True)
        assert texts.to_pylist() == [f'{{"groupId":"{each}","generationId":5,"memberId":"{MEMBER}"}}' for each in chosen]
        assert left == []


def test_columns_of_records(codec: Any, values: list[str | None]) -> None:
    """Messages of magic 0: offset 0, size, checksum, magic, attributes, key, value, both with lengths of four bytes."""

    def content(text: str | None) -> bytes:
        return b"\xff" * 4 if text is None else len(text).to_bytes(4, "big") + text.encode()

    bodies = [bytes(6) + content(each) + content(other) for each in values for other in (each, MEMBER)]
    buffers = [bytes(8) + len(each).to_bytes(4, "big") + each for each in bodies]
    keys = [None if each is None else each.encode() for each in values for _ in range(2)]
    for messages in arrays(buffers):
        for fields in (None, ("key",), ("value",), ("headers",)):
            batch = record_reader(codec.twin).to_arrow(messages, fields=fields, check_crc=False)
            batch.validate(full=True)
            if fields is None:
                assert batch.column("key").to_pylist() == keys
                assert batch.column("value").to_pylist()[1::2] == [MEMBER.encode()] * len(values)
            elif fields == ("key",):
                assert batch.column("key").to_pylist() == keys
