"""The headers of a stream: both twins, and what `peek_header` says of each frame."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from kwire.codec.binary_chunks import chunks_of
from kwire.codec.header_scan import HEADER_TYPES, HeaderScan
from kwire.codec.splicing import FrameSplicer
from kwire.errors import BadLength, Fault, WireError


def rows_of(columns: Any) -> list[tuple[Any, ...]]:
    return list(zip(*(getattr(columns, name) for name in columns.names), strict=True))


def peeked(codec: Any, frame: bytes) -> tuple[int, Any]:
    try:
        return 0, codec.frames.peek_header(frame, strict=False)
    except WireError as error:
        return error.code, None


def stream_of(frames: list[bytes]) -> bytes:
    return b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)


@pytest.fixture(scope="module")
def requests(vectors):
    return [bytes.fromhex(case["hex"])[4:] for case in vectors("frames-sample") if case["kind"] == "request"]


@pytest.fixture
def scan(codec):
    return HeaderScan(codec.compiled).scan_headers


@pytest.fixture
def reference_scan(reference_codec):
    return HeaderScan(reference_codec.compiled).scan_headers


def test_frames_of_kafka(scan, reference_codec, vectors):
    """Offsets, versions and ids are those that Kafka's own classes wrote."""
    cases = [case for case in vectors("frames-sample") if case["kind"] == "request"]
    stream = b"".join(bytes.fromhex(case["hex"]) for case in cases)
    columns = scan(stream)
    assert len(columns) == len(cases) > 100
    assert (columns.end, columns.fault) == (len(stream), Fault.NONE)
    at = 0
    for index, case in enumerate(cases):
        frame = bytes.fromhex(case["hex"])
        header = reference_codec.frames.peek_header(frame[4:], strict=False)
        assert columns.frame_offset[index] == at
        assert columns.frame_length[index] == len(frame) - 4
        assert columns.body_offset[index] == at + 4 + case["header_size"]
        assert (columns.api_key[index], columns.api_version[index]) == (case["api_key"], case["version"])
        assert columns.correlation_id[index] == header.correlation_id
        # header version 0 has none; the object has the default then
        assert columns.client_ids[index] == (header.client_id if columns.header_version[index] else None)
        assert columns.error[index] == 0
        at += len(frame)


def test_broken_frames(scan, reference_scan, codec, requests):
    chance = random.Random(511)
    frames = []
    for frame in requests:
        for _ in range(4):
            head = bytearray(frame[:64])
            head[chance.randrange(len(head))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
            frames.append(bytes(head[: chance.randrange(len(head) + 1)]) if chance.random() < 0.5 else bytes(head))
    stream = stream_of([*frames, b"", b"\0", frames[0]])
    ours, theirs = scan(stream), reference_scan(stream)
    assert rows_of(ours) == rows_of(theirs)
    assert (len(ours), ours.end, ours.fault) == (len(theirs), theirs.end, theirs.fault) == (len(frames) + 3, len(stream), Fault.NONE)
    assert ours.client_ids == theirs.client_ids
    assert ours.to_arrow().equals(theirs.to_arrow())
    assert set(ours.error) >= {Fault.NONE, Fault.TRUNCATED, Fault.UNKNOWN_API}
    for index, frame in enumerate(frames):
        fault, header = peeked(codec, frame)
        if header is None:
            assert ours.error[index] == fault, frame.hex()
            assert ours.body_offset[index] == -1
        else:
            assert ours.error[index] in (Fault.NONE, Fault.UNKNOWN_API)
            assert (ours.api_key[index], ours.correlation_id[index]) == (header.api_key, header.correlation_id)
            assert ours.client_ids[index] == (header.client_id if ours.header_version[index] else None)


def test_where_a_stream_ends(scan, reference_scan, requests):
    stream = stream_of(requests[:3])
    ends = [0]
    for frame in requests[:3]:
        ends.append(ends[-1] + 4 + len(frame))
    for cut in range(len(stream) + 1):
        ours = scan(memoryview(stream)[:cut])
        whole = max(end for end in ends if end <= cut)
        assert (ours.end, len(ours), ours.fault) == (whole, ends.index(whole), Fault.NONE)
    for length, fault in ((-1, Fault.BAD_LENGTH), (-(2**31), Fault.BAD_LENGTH), (2**31 - 1, Fault.LIMIT_EXCEEDED)):
        broken = stream + length.to_bytes(4, "big", signed=True) + stream
        for each in (scan, reference_scan):
            columns = each(broken)
            assert (columns.end, len(columns), columns.fault) == (len(stream), 3, fault)
    longest = max(map(len, requests[:3]))
    assert scan(stream, max_frame_bytes=longest).end == len(stream)
    assert scan(stream, max_frame_bytes=longest - 1).fault == Fault.LIMIT_EXCEEDED


def test_columns_as_arrays(scan):
    import numpy as np

    # Metadata v12: api key, version, correlation id 7, client id, no tags; then a null client id; then an id that is not UTF-8
    frames = [bytes.fromhex(text) for text in ("0003000c0000000700016100", "0003000c00000008ffff00", "0003000c000000090001ff00", "0003")]
    columns = scan(stream_of(frames))
    assert columns.numpy("correlation_id").dtype == np.int32
    assert columns.to_arrow().to_pylist() == [
        {
            "frame_offset": offset, "frame_length": length, "header_version": version, "api_key": key, "api_version": api_version,
            "correlation_id": correlation, "client_id": client, "body_offset": body, "error": error,
        }
        for offset, length, version, key, api_version, correlation, client, body, error in (
            (0, 12, 2, 3, 12, 7, "a", 16, None), (16, 11, 2, 3, 12, 8, None, 31, None), (31, 12, 2, 3, 12, 9, "�", 47, None),
            (47, 2, None, None, None, None, None, None, "TRUNCATED"),
        )
    ]  # fmt: skip
    empty = scan(b"")
    assert len(empty) == 0
    assert empty.to_arrow().num_rows == 0
    assert empty.numpy("api_key").dtype == np.int16


@pytest.fixture
def batch_of(codec):
    return HeaderScan(codec.compiled).header_batch


def test_headers_in_a_binary_column(batch_of):
    # Metadata v12: api key, version, correlation id 7, client id, no tags; then a null client id; then an id that is not UTF-8; a frame
    # that ends early; a null; an api that is not known, in header version 1; and ControlledShutdown v0, whose header has no client id
    texts = (
        "0003000c0000000700016100",
        "0003000c00000008ffff00",
        "0003000c000000090003c3a9ff00",
        "0003",
        None,
        "7fff00000000000a00016b",
        "000700000000000b",
    )
    frames = [None if text is None else bytes.fromhex(text) for text in texts]
    rows = [
        (12, 2, 3, 12, 7, "a", 12, None), (11, 2, 3, 12, 8, None, 11, None), (14, 2, 3, 12, 9, "é\ufffd", 14, None),
        (2, None, None, None, None, None, None, "TRUNCATED"), (None,) * 8, (11, 1, 32767, 0, 10, "k", 11, "UNKNOWN_API"),
        (8, 0, 7, 0, 11, None, 8, None),
    ]  # fmt: skip
    for kind in (pa.binary(), pa.large_binary()):
        column = pa.array([b"left out", *frames, b"left out"], kind).slice(1, len(frames))
        made = batch_of(column)
        made.validate(full=True)
        assert [tuple(row.values()) for row in made.to_pylist()] == rows
        assert made.schema == pa.schema([(name, pa.type_for_alias(HEADER_TYPES[name])) for name in HEADER_TYPES])
        some = batch_of(column, ("error", "client_id"))
        assert some.equals(made.select(["error", "client_id"]))
    chunked = pa.chunked_array([frames[:2], frames[2:], []], pa.binary())
    assert batch_of(chunked).equals(made)
    assert batch_of(pa.array([], pa.binary())).num_rows == batch_of(pa.chunked_array([], pa.binary())).num_rows == 0


def test_a_frame_that_begins_with_its_own_length(batch_of, scan, codec):
    # Heartbeat v1 of a client of 30 and of 40,000 bytes, of an api that Kafka does not have, and a v13 of Produce with nothing behind it
    frames = [bytes.fromhex(f"000c000100000007{size:04x}") + b"c" * size for size in (30, 40_000)]
    framed = [len(frame).to_bytes(4, "big") + frame for frame in frames]
    framed += [bytes.fromhex("7fff000000000009"), bytes.fromhex("0000000d00000007000663636363636300")]
    found = batch_of(pa.array(framed, pa.binary())).to_pylist()
    for row, frame in zip(found[:2], framed[:2], strict=True):
        assert row == {**dict.fromkeys(HEADER_TYPES), "frame_length": len(frame), "error": "BAD_LENGTH"}
    assert [row["error"] for row in found[2:]] == ["TRUNCATED", None]
    assert found[3]["api_version"] == 13
    assert batch_of(pa.array(frames, pa.binary())).column("error").null_count == 2
    columns, splice = scan(stream_of(framed[:2])), FrameSplicer(codec.compiled).splice
    assert (list(columns.error), list(columns.api_key), list(columns.body_offset)) == ([Fault.BAD_LENGTH] * 2, [-1, -1], [-1, -1])
    for frame in framed[:2]:
        for read in (codec.frames.peek_header, codec.frames.decode_request, lambda each: splice(each, {"header.client_id": "x"})):
            with pytest.raises(BadLength, match="the first 4 bytes look like a length prefix; pass the frame without it"):
                read(frame)
        assert isinstance(codec.frames.decode_request(frame, strict=False).violation, BadLength)
    assert codec.frames.peek_header(framed[3]).api_version == 13


def test_broken_frames_in_a_column(batch_of, reference_codec, requests):
    chance = random.Random(714)
    frames = []
    for frame in requests:
        head = bytearray(frame[:64])
        head[chance.randrange(len(head))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
        frames += [bytes(head), bytes(head[: chance.randrange(len(head) + 1)])]
    column = pa.array([*frames, None, *frames], pa.binary())
    assert batch_of(column).equals(HeaderScan(reference_codec.compiled).header_batch(column))


def test_columns_of_headers_that_are_not_there(batch_of):
    for names in (("nothing",), ("api_key", "api_key"), ()):
        with pytest.raises(ValueError, match="headers have the columns"):
            batch_of(pa.array([b""], pa.binary()), names)


def test_buffers_that_do_not_fit_their_array(codec):
    scanner = HeaderScan(codec.compiled)._scanner
    [chunk] = chunks_of(pa.array([b"0123456789", b"0123456789"], pa.binary()))

    def offsets(*values: int) -> bytes:
        return b"".join(value.to_bytes(4, "little", signed=True) for value in values)

    def read(bad: Any) -> list[int]:
        """The lengths and the api keys."""
        columns, _ = scanner.scan_column(bad, True)
        return [*memoryview(columns[1]).cast("i"), *memoryview(columns[3]).cast("h")]

    assert read(chunk) == [10, 10, 0x3031, 0x3031]
    for bad, reason in (
        (chunk._replace(offsets=offsets(0, 10)), "offsets of a binary array are shorter"),
        (chunk._replace(offsets=offsets(0, 10, 21)), "leave its bytes at element 1"),
        (chunk._replace(offsets=offsets(-1, 10, 20)), "leave its bytes at element 0"),
        (chunk._replace(offsets=offsets(0, 10, 9)), "leave its bytes at element 1"),
        (chunk._replace(validity=b""), "validity bits of a binary array are shorter"),
        (chunk._replace(starts=bytes(4)), "fewer starts than elements"),
        (chunk._replace(starts=offsets(0, 11)), "leave its bytes at element 1"),
    ):
        with pytest.raises(ValueError, match=reason):
            read(bad)
    assert read(chunk._replace(starts=offsets(-1, 0))) == [-1, 10, -1, 0x3031]
