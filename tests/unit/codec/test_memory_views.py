"""Values of type bytes and records that stay in the frame: ``memoryviews=True``."""

from __future__ import annotations

import array
import copy
import gc
import pickle
import sys
import weakref
from typing import Any

import pytest

import kwire
from kwire.codec import to_json
from kwire.codec.classes import CompiledCatalog
from kwire.codec.decoding import FrameReader, message_reader
from kwire.codec.frames import Opaque
from kwire.codec.records.reading import RecordReader
from kwire.errors import BadUtf8, Truncated, UnknownApi, WireError
from kwire.schema import catalog

# Produce v0: acks 1, timeout 100, topic "t" with three partitions: records aabbcc, none (size 0), null
PRODUCE = bytes.fromhex("0001 00000064 00000001 0001 74 00000003 00000000 00000003 aabbcc 00000001 00000000 00000002 ffffffff")
# SyncGroup v4 (flexible): group "g", generation 1, member "m", no instance; assignments: "m" 0102, with tag 5 of 07 behind it
SYNC = bytes.fromhex("0267 00000001 026d 00 02 026d 03 0102 01 05 01 07 00")
HEADER = bytes.fromhex("0000 0000 00000007 0001 63")  # Produce v0 of client "c"; header version 1


def produced(message: Any) -> list[Any]:
    return [each.records for each in message.topic_data[0].partition_data]


@pytest.fixture
def views(codec: Any) -> Any:
    return lambda name, version, data, lenient=False: codec.compiled.decoder(name, version).decode_whole(data, 0, lenient, True)


def test_values_are_the_bytes_of_the_frame_where_they_are(views: Any) -> None:
    frame = bytearray(PRODUCE)
    first, empty, null = produced(views("ProduceRequest", 0, frame))
    assert (type(first), type(empty), null) == (memoryview, memoryview, None)
    assert (bytes(first), bytes(empty)) == (b"\xaa\xbb\xcc", b"")
    assert (first.readonly, first.format, first.itemsize, first.ndim, first.shape, first.strides, first.nbytes) == (
        True, "B", 1, 1, (3,), (1,), 3
    )  # fmt: skip
    assert (empty.nbytes, empty.shape, first.contiguous, empty.contiguous) == (0, (0,), True, True)
    assert first.obj is frame
    frame[frame.index(b"\xaa")] = 0x11
    assert first[0] == 0x11
    assert (first[1:].tobytes(), first.cast("b").tolist(), first[-1]) == (b"\xbb\xcc", [0x11, -69, -52], 0xCC)
    with pytest.raises(TypeError):
        first[0] = 0


@pytest.mark.parametrize(
    "given",
    [
        PRODUCE,
        bytearray(PRODUCE),
        memoryview(PRODUCE),
        memoryview(bytearray(b"x" + PRODUCE + b"y"))[1:-1],
        memoryview(PRODUCE).cast("b"),
        type("Frame", (bytes,), {})(PRODUCE),
        array.array("B", PRODUCE),
    ],
    ids=["bytes", "bytearray", "memoryview", "part of a bytearray", "signed", "subclass of bytes", "array"],
)
def test_any_contiguous_buffer(codec: Any, views: Any, given: Any) -> None:
    message = views("ProduceRequest", 0, given)
    plain = codec.decode("ProduceRequest", PRODUCE, 0)
    assert message == plain
    assert plain == message
    assert all(each is None or (each.readonly and each.format == "B") for each in produced(message))
    assert {type(each) for each in produced(plain)} == {bytes, type(None)}
    with pytest.raises(BufferError):
        views("ProduceRequest", 0, memoryview(PRODUCE)[::2])
    with pytest.raises(TypeError):
        views("ProduceRequest", 0, "text")


def test_wider_items_are_seen_as_bytes(views: Any) -> None:
    """A ProduceRequest v0 of 48 bytes, given as 24 numbers of two bytes."""
    data = PRODUCE.replace(b"\0\0\0\3\xaa\xbb\xcc", b"\0\0\0\7\1\2\3\4\5\6\7")
    assert len(data) % 2 == 0
    first = produced(views("ProduceRequest", 0, array.array("H", data)))[0]
    assert (bytes(first), first.itemsize) == (bytes(range(1, 8)), 1)


def test_a_view_keeps_the_frame_and_a_bytearray_keeps_its_size(views: Any) -> None:
    frame = bytearray(PRODUCE)
    message = views("ProduceRequest", 0, frame)
    with pytest.raises(BufferError):
        frame.append(0)
    kept = produced(message)[0]
    del message
    with pytest.raises(BufferError):
        frame.clear()
    del kept
    gc.collect()
    frame.clear()

    class Frame(bytearray):
        pass

    lost = Frame(PRODUCE)
    gone = weakref.ref(lost)
    message = views("ProduceRequest", 0, lost)
    del lost
    assert gone() is not None
    assert bytes(produced(message)[0]) == b"\xaa\xbb\xcc"
    del message
    gc.collect()
    assert gone() is None


def test_nothing_is_kept_after_a_fault_or_without_values(views: Any) -> None:
    frame = bytearray(PRODUCE[:-1])
    with pytest.raises(Truncated):
        views("ProduceRequest", 0, frame)
    gc.collect()
    frame.clear()
    frame = bytearray(b"\0\0")
    views("HeartbeatResponse", 0, frame)
    frame.clear()


def test_references_are_counted(views: Any) -> None:
    """Of the frame, which is neither lost nor kept, over whole and broken messages."""
    frame = bytes(bytearray(PRODUCE))
    broken = bytes(bytearray(PRODUCE[:-2]))
    before = sys.getrefcount(frame), sys.getrefcount(broken)
    for _ in range(100):
        views("ProduceRequest", 0, frame)
        with pytest.raises(Truncated):
            views("ProduceRequest", 0, broken)
    gc.collect()
    assert (sys.getrefcount(frame), sys.getrefcount(broken)) == before


def test_unknown_tags_and_defaults_stay_bytes(views: Any) -> None:
    assignment = views("SyncGroupRequest", 4, SYNC).assignments[0]
    assert (type(assignment.assignment), bytes(assignment.assignment)) == (memoryview, b"\1\2")
    assert assignment.unknown_tagged_fields == ((5, b"\7"),)
    assert type(assignment.unknown_tagged_fields[0][1]) is bytes
    assert type(kwire.messages.SyncGroupResponse().assignment) is bytes


def test_lenient_reading_and_its_walk(views: Any) -> None:
    """A name that is not UTF-8 is replaced, which the careful reader does; the values behind it are views all the same."""
    data = PRODUCE.replace(b"\0\1t", b"\0\1\xff")
    message = views("ProduceRequest", 0, data, True)
    assert message.topic_data[0].name == "\ufffd"
    assert [type(each) for each in produced(message)] == [memoryview, memoryview, type(None)]
    with pytest.raises(BadUtf8):
        views("ProduceRequest", 0, data)


@pytest.mark.parametrize("strict", [True, False])
def test_frames(twin: Any, strict: bool) -> None:
    """The first frame of an api takes the careful reader, later ones the twin's reader of frames that were met."""
    frames = FrameReader(CompiledCatalog(catalog(), twin))
    frame = bytearray(HEADER + PRODUCE)
    for _ in range(3):
        request = frames.decode_request(frame, strict=strict, memoryviews=True)
        assert produced(request.body)[0].obj is frame
        assert request == frames.decode_request(frame, strict=strict)
        assert type(produced(frames.decode_request(frame, strict=strict).body)[0]) is bytes
    # SyncGroup v0 response: error 0, assignment 0102
    response = bytes.fromhex("00000007 0000 00000002 0102")
    for given in (response, bytearray(response)):
        for _ in range(2):
            found = frames.decode_response(given, 14, 0, strict=strict, memoryviews=True).body.assignment
            assert (found.obj is given, bytes(found), found.readonly) == (True, b"\1\2", True)
    assert bytes(frames.decode_response(response, 14, 0, fields=["assignment"], memoryviews=True).body.assignment) == b"\1\2"


def test_opaque_bodies_are_views_too(codec: Any) -> None:
    frames = FrameReader(codec.compiled)
    unknown = bytearray(bytes.fromhex("03e7 0000 00000007 0001 63") + b"rest")
    request = frames.decode_request(unknown, strict=False, memoryviews=True)
    assert isinstance(request.body, Opaque)
    assert (request.body.data.obj is unknown, request.body.data.readonly, bytes(request.body.data)) == (True, True, b"rest")
    plain = frames.decode_request(unknown, strict=False)
    assert (plain == request, type(plain.body.data)) == (True, bytes)
    assert repr(plain.body) == repr(request.body)
    assert codec.writer.encode_request(request.header, request.body) == bytes(unknown)
    assert type(pickle.loads(pickle.dumps(request.body)).data) is bytes
    with pytest.raises(UnknownApi):
        frames.decode_request(unknown, memoryviews=True)
    decode = message_reader(codec.compiled)
    cut = decode("ProduceRequest", PRODUCE[:-1], 0, strict=False, memoryviews=True)
    assert (type(cut.data), bytes(cut.data)) == (memoryview, PRODUCE[:-1])
    later = decode("ProduceRequest", PRODUCE, 999, strict=False, memoryviews=True)
    assert (type(later.data), bytes(later.data)) == (memoryview, PRODUCE)
    assert produced(decode("ProduceRequest", PRODUCE, 0, fields=["topic_data"], memoryviews=True))[0] == b"\xaa\xbb\xcc"


def test_what_takes_messages_takes_views(codec: Any, views: Any) -> None:
    message, plain = views("ProduceRequest", 0, PRODUCE), codec.decode("ProduceRequest", PRODUCE, 0)
    assert codec.encode(message, 0) == PRODUCE
    assert codec.encode(message, 9) == codec.encode(plain, 9)
    assert to_json(message, 0) == to_json(plain, 0)
    assert to_json(message, 0)["topicData"][0]["partitionData"][0]["records"] == "qrvM"
    assert to_json(message, 0, records=False)["topicData"][0]["partitionData"][0]["recordsSizeInBytes"] == 3
    assert "records=memoryview(b'\\xaa\\xbb\\xcc')" in repr(message)
    assert kwire.asdict(message) == kwire.asdict(plain)


def test_a_released_view_is_shown_as_what_it_is(views: Any) -> None:
    message = views("ProduceRequest", 0, PRODUCE)
    produced(message)[0].release()
    assert "<released memory at" in repr(message)


def test_records_are_read_from_views(record_codec: RecordReader, views: Any) -> None:
    """One batch of magic 2 with the record k: v at offset 50, as in a FetchResponse v4's partition."""
    batch = bytes.fromhex(
        "0000000000000032 0000003a 00000007 02 423288da 0000 00000000 0000018bcfe5687b 0000018bcfe5687b"
        "ffffffffffffffff ffff ffffffff 00000001 10 00 00 00 026b 0276 00"
    )
    fetched = bytes.fromhex("00000000 00000001 0001 74 00000001 00000000 0000 0000000000000033 0000000000000033 ffffffff") + (
        len(batch).to_bytes(4, "big") + batch
    )
    records = views("FetchResponse", 4, bytearray(fetched)).responses[0].partitions[0].records
    assert records == batch
    [found] = record_codec.decode(records)
    assert [(each.offset, each.key, each.value) for each in found.records] == [(50, b"k", b"v")]
    assert [each.count for each in kwire.records.scan(records)] == [1]


@pytest.mark.parametrize("let_go", [copy.deepcopy, lambda message: pickle.loads(pickle.dumps(message))], ids=["deepcopy", "pickle"])
def test_pickled_and_deep_copies_have_bytes(let_go: Any) -> None:
    frame = bytearray(PRODUCE)
    message = kwire.decode("ProduceRequest", frame, 0, memoryviews=True)
    made = let_go(message)
    assert made == message
    assert produced(made) == [b"\xaa\xbb\xcc", b"", None]
    assert [type(each) for each in produced(made)] == [bytes, bytes, type(None)]
    shared = copy.copy(message).topic_data
    assert shared is message.topic_data
    del message, shared
    gc.collect()
    frame.clear()
    assert produced(made)[0] == b"\xaa\xbb\xcc"


def test_the_same_faults(codec: Any) -> None:
    """A message that is cut anywhere raises what it raises without views."""
    decoder = codec.compiled.decoder("SyncGroupRequest", 4)

    def fault(data: bytes, memoryviews: bool) -> Any:
        try:
            return decoder.decode_whole(data, 0, False, memoryviews)
        except WireError as error:
            return type(error), error.offset, error.path, str(error)

    for size in range(len(SYNC) + 1):
        assert fault(SYNC[:size], True) == fault(SYNC[:size], False)
    for at in range(len(SYNC)):
        for value in (0, 1, 0x7F, 0x80, 0xFF):
            data = SYNC[:at] + bytes((value,)) + SYNC[at + 1 :]
            assert fault(data, True) == fault(data, False)
