"""What only the native twin can get wrong: who owns what, what the collector sees, and what is shared between values.

The tests run with both twins where the rule is one of values; those that look at memory ask the native twin alone.
"""

from __future__ import annotations

import copy
import gc
import os
import pickle
import struct
import subprocess
import sys
import threading
from typing import Any, ClassVar

import pytest

from kwire.codec.impl import Twin, load_twin
from kwire.codec.layout import layouts_of
from kwire.codec.plan import compile_plan
from kwire.errors import WireError
from kwire.schema import catalog

V12 = 12
STACK = 256 << 10  # bytes


def text(value: str) -> bytes:
    return bytes([len(value) + 1]) + value.encode()


def int_array(*values: int) -> bytes:
    return bytes([len(values) + 1]) + struct.pack(f">{len(values)}i", *values)


def partition(index: int, leader: int, replicas: tuple[int, ...], in_sync: tuple[int, ...], tags: bytes = b"\0") -> bytes:
    return struct.pack(">hiii", 0, index, leader, 5) + int_array(*replicas) + int_array(*in_sync) + b"\1" + tags


def metadata_response(*partitions: bytes) -> bytes:
    """MetadataResponse v12 with one topic "orders"."""
    topic = struct.pack(">h", 0) + text("orders") + bytes(16) + b"\0" + bytes([len(partitions) + 1]) + b"".join(partitions)
    return bytes(4) + b"\1" + b"\0" + struct.pack(">i", 1) + b"\2" + topic + struct.pack(">i", 0) + b"\0" + b"\0"


@pytest.fixture
def collected(twin):
    """Whether the collector knows objects of scalars: Python's own slotted classes always are, those of the native twin are not."""
    return twin == "pure"


def test_objects_of_scalars_are_not_tracked(codec, collected):
    response = codec.decode("MetadataResponse", metadata_response(partition(0, 1, (1, 2), (1, 2))), V12)
    topic = response.topics[0]
    assert gc.is_tracked(response)
    assert gc.is_tracked(response.topics)
    assert gc.is_tracked(topic)
    assert gc.is_tracked(topic.partitions[0]) is collected
    assert gc.is_tracked(codec.message_class("HeartbeatRequest")()) is collected


def test_arrays_of_scalars_are_not_tracked(codec, collected):
    response = codec.decode("MetadataResponse", metadata_response(partition(0, 1, (1, 2), (3,), b"\1\7\2ab")), V12)
    found = response.topics[0].partitions[0]
    assert found.unknown_tagged_fields == ((7, b"ab"),)
    if not collected:
        assert not gc.is_tracked(found.replica_nodes)
        assert not gc.is_tracked(found.isr_nodes)
        assert not gc.is_tracked(found.unknown_tagged_fields)


def test_arrays_with_the_same_bytes_are_equal_and_others_are_not(codec):
    data = metadata_response(
        partition(0, 1, (1, 2, 3), (1, 2, 3)),
        partition(1, 2, (1, 2, 3), (1, 2)),
        partition(2, 3, (1, 2), (1, 2, 4)),
        partition(3, 4, (), ()),
    )
    found = [
        (each.replica_nodes, each.isr_nodes, each.offline_replicas)
        for each in codec.decode("MetadataResponse", data, V12).topics[0].partitions
    ]
    assert found == [((1, 2, 3), (1, 2, 3), ()), ((1, 2, 3), (1, 2), ()), ((1, 2), (1, 2, 4), ()), ((), (), ())]


def test_many_different_ints_in_one_message(codec):
    # more values than a memo of one message has places, each twice, with the borders of int32
    leaders = [value * 7919 for value in range(-400, 400)] * 2 + [-(2**31), 2**31 - 1, -1, -5, -6, 256, 257]
    body = b"".join(partition(index, leader, (leader,), (leader, leader)) for index, leader in enumerate(leaders))
    topic = struct.pack(">h", 0) + text("t") + bytes(16) + b"\0" + bytes([(len(leaders) + 1) & 0x7F | 0x80, (len(leaders) + 1) >> 7]) + body
    data = bytes(4) + b"\1" + b"\0" + struct.pack(">i", 1) + b"\2" + topic + struct.pack(">i", 0) + b"\0" + b"\0"
    partitions = codec.decode("MetadataResponse", data, V12).topics[0].partitions
    assert [each.leader_id for each in partitions] == leaders
    assert [each.isr_nodes for each in partitions] == [(leader, leader) for leader in leaders]
    assert [each.partition_index for each in partitions] == list(range(len(leaders)))


def test_client_ids_that_look_alike(codec):
    """Same length, same beginning, middle and end: what is kept of one header must not be given for another."""
    middles = [chr(97 + index % 26) + chr(97 + index // 26 % 26) for index in range(500)]
    names = [f"consumer-{middle}-consumer" for middle in middles] + ["ab", "ac", "a", "", "é" * 9, "e" * 18, "x" * 64, "x" * 65]
    for _ in range(2):
        for name in names:
            frame = struct.pack(">hhih", 12, 3, 1, len(name.encode())) + name.encode()
            assert codec.frames.peek_header(frame).client_id == name


def test_faults_leave_nothing_behind(codec):
    """Cut at every byte and with a fault in the middle of each array: neither objects nor references to their types remain."""
    tags = b"\2" + b"\7\2ab" + b"\x09\0"
    data = metadata_response(*(partition(index, 1000 + index, (1001, 1002), (1001, 1002), tags) for index in range(9)))
    kind = codec.message_class("MetadataResponse")
    nested = (kind, kind.MetadataResponseTopic, kind.MetadataResponsePartition, codec.message_class("RequestHeader"))
    codec.decode("MetadataResponse", data, V12)

    def everything() -> None:
        for end in range(len(data)):
            with pytest.raises(WireError):
                codec.decode("MetadataResponse", data[:end], V12)
        with pytest.raises(WireError):
            codec.decode("MetadataResponse", data + b"\0", V12)

    everything()
    gc.collect()
    before = [sys.getrefcount(each) for each in nested], sys.getallocatedblocks()
    everything()
    gc.collect()
    after = [sys.getrefcount(each) for each in nested], sys.getallocatedblocks()
    assert all(now <= once + 2 for once, now in zip(before[0], after[0], strict=True))
    assert after[1] - before[1] < len(data) // 4


def test_objects_give_their_type_back(codec):
    kind = codec.message_class("HeartbeatRequest")
    data = b"\2g" + bytes(4) + b"\2m" + b"\0" + b"\0"
    before = sys.getrefcount(kind)
    kept = [codec.decode("HeartbeatRequest", data, 4) for _ in range(1000)]
    assert sys.getrefcount(kind) >= before + 1000
    del kept
    assert sys.getrefcount(kind) <= before + 5  # CPython's own caches take and give a few


def test_a_buffer_is_let_go(codec):
    """A bytearray that is still exported cannot be resized."""
    good = bytearray(b"\2g" + bytes(4) + b"\2m" + b"\0" + b"\0")
    message = codec.decode("HeartbeatRequest", good, 4)
    good.append(0)
    with pytest.raises(WireError):
        codec.decode("HeartbeatRequest", good, 4)
    good.extend(bytes(100))
    assert (message.group_id, message.member_id) == ("g", "m")
    frame = bytearray(b"\0\x0c\0\3\0\0\0\1\0\1c")
    assert codec.frames.peek_header(frame).client_id == "c"
    frame.clear()
    with pytest.raises(WireError):
        codec.frames.peek_header(frame)
    gc.collect()  # the pure twin's view goes with the traceback
    frame.extend(b"x")


def test_values_outlive_the_buffer(codec):
    data = bytearray(b"\2g" + bytes(4) + b"\7member" + b"\0" + b"\1\5\3xyz")
    message = codec.decode("HeartbeatRequest", data, 4)
    data[:] = b"\xff" * len(data)
    assert (message.member_id, message.unknown_tagged_fields) == ("member", ((5, b"xyz"),))


@pytest.mark.parametrize(("name", "attribute"), [("HeartbeatRequest", "group_id"), ("FetchRequest", "replica_state")])
def test_a_chain_of_objects_needs_no_stack(codec, name, attribute):
    """Neither of objects that the collector knows nor of those that it does not."""
    kind = codec.message_class(name)
    before = sys.getrefcount(kind)

    def chain() -> None:
        top = kind()
        # the smallest frame of a C function has 32 bytes: of these there would be more than the stack has
        for _ in range(STACK // 32 * 2 if codec.twin == "native" else 1_000):
            outer = kind()
            setattr(outer, attribute, top)
            top = outer

    usual = threading.stack_size(STACK)
    try:
        thread = threading.Thread(target=chain)
        thread.start()
    finally:
        threading.stack_size(usual)
    thread.join()
    assert sys.getrefcount(kind) <= before + 5


def test_objects_released_by_objects_that_are_released(codec):
    """Releasing a message may run code that makes and releases others."""
    kind = codec.message_class("HeartbeatRequest")

    class Last:
        made: ClassVar[list[Any]] = []

        def __del__(self) -> None:
            chain = kind(member_id="inner")
            for _ in range(300):
                chain = kind(group_id=chain)
            Last.made.append(kind(member_id="kept"))

    for _ in range(3):
        top = kind(group_id=Last(), member_id=Last())
        for _ in range(300):
            top = kind(group_id=top, member_id=Last())
        del top
    assert len(Last.made) == 3 * 302
    assert {each.member_id for each in Last.made} == {"kept"}


# Catalogs come and go, their messages live on in all sorts of places, and the process ends: with a collector that runs all the time and an
# allocator that finds what is used after its release.
ENDING = """
import builtins, atexit, copy, gc, sys, types
from kwire.codec.classes import CompiledCatalog
from kwire.codec.decoding import FrameReader
from kwire.errors import WireError
from kwire.schema import catalog

gc.set_threshold(1, 1, 1)
FRAME = bytes.fromhex("0001000c" "00000007" "0001" "63" "00" "ffffffff" "000001f4" "00000001" "03200000" "00" "00000000" "00000000"
    "02" "0274" "02" "00000000" "00000001" "0000000000000007" "ffffffff" "0000000000000000" "00100000" "00" "00" "01" "01" "00")
PARTITION = "00000000" "0000" + "0000000000000007" * 3 + "00" "ffffffff" "00"
RESPONSE = bytes.fromhex("00000000" "0000" "00000000" "02" "0274" "03" + (PARTITION + "00") * 2 + "00" "00")


class Late:
    def __init__(self, held):
        self.held = held

    def __del__(self):
        repr(self.held), copy.copy(self.held), self.held == self.held


kept = []
for turn in range(4):
    source = CompiledCatalog(catalog(), "native")
    frames = FrameReader(source)
    decoder = source.decoder("FetchResponse", 12)
    for _ in range(3):
        request = frames.decode_request(FRAME)
        assert request.body.topics[0].partitions[0].partition_max_bytes == 1048576
        response = decoder.decode_whole(RESPONSE)
        for end in range(0, len(RESPONSE), 5):
            try:
                decoder.decode_whole(RESPONSE[:end])
            except WireError:
                pass
    response.responses[0].partitions[0].current_leader.leader_id = 3
    response.responses.append(response)
    request.violation = request
    kept += [request, response, Late(response.responses[0]), type(request.body), decoder.decode_whole, copy.deepcopy(request.body)]
    kept.append(source if turn == 1 else frames if turn == 2 else None)
    del source, frames, decoder, request, response
    gc.collect()
    repr(kept[0].body)
way = sys.argv[1]
if way == "module":
    sys.modules["late"] = late = types.ModuleType("late")
    late.kept, late.itself = kept, late
elif way == "builtins":
    builtins.kept = kept
elif way == "atexit":
    atexit.register(kept.clear)
elif way == "generator":
    def hold():
        try:
            yield kept
        finally:
            [repr(each) for each in kept]
            kept.clear()
            gc.collect()
    holder = hold()
    next(holder)
else:
    kept.append(kept)
    kept.append(Late(kept[0]))
"""


@pytest.mark.parametrize("way", ["module", "builtins", "atexit", "generator", "cycle"])
def test_a_process_ends_whatever_still_lives(way):
    environment = {**os.environ, "PYTHONMALLOC": "debug", "PYTHONFAULTHANDLER": "1"}
    done = subprocess.run([sys.executable, "-c", ENDING, way], env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def decoder_of(twin: Twin, plan: Any, classes: Any) -> Any:
    return load_twin("codec", "objects", twin).Decoder(plan, classes)


def test_classes_of_another_message_are_refused(twin, codec):
    """The native decoder stores values at fixed offsets: a class with other slots must not get that far."""
    plan = compile_plan(catalog()["HeartbeatRequest"], 4)
    strangers = (codec.compiled.classes("MetadataRequest"), (int,), ("HeartbeatRequest",), ())
    for classes in strangers:
        if twin == "native":
            with pytest.raises((TypeError, IndexError)):
                decoder_of(twin, plan, classes)
    assert decoder_of(twin, plan, codec.compiled.classes("HeartbeatRequest")).plan == plan


def test_a_class_that_was_tampered_with_raises(twin):
    kind: Any = load_twin("codec", "objects", twin).make_classes(layouts_of(catalog()["HeartbeatRequest"]))[0]
    message, other = kind(group_id="g"), kind()
    if twin == "native":
        longer: Any = load_twin("codec", "objects", twin).make_classes(layouts_of(catalog()["MetadataResponse"]))[0]
        for class_info in (longer.class_info, None, "class_info"):
            kind.class_info = class_info
            for touch in (repr, copy.copy, lambda each: each == other, pickle.dumps, lambda each: each.__init__()):
                with pytest.raises(TypeError, match="make_classes"):
                    touch(message)
    assert message.group_id == "g"


def test_the_class_of_an_object_cannot_be_swapped(codec):
    message = codec.message_class("HeartbeatRequest")()
    if codec.twin == "native":
        with pytest.raises(TypeError):
            message.__class__ = codec.message_class("LeaveGroupRequest")
    assert type(message) is codec.message_class("HeartbeatRequest")
