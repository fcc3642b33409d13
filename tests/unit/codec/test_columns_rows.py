"""Rows and columns of hand-worked messages: exploded arrays, lists, nulls, unknown tags, faults."""

from __future__ import annotations

import struct
import tracemalloc
from array import array
from concurrent.futures import ThreadPoolExecutor

import pytest

from kwire.codec.binary_chunks import BinaryChunk
from kwire.codec.classes import CompiledCatalog
from kwire.codec.column_layout import column_layout
from kwire.codec.columns import MEMORY_MULTIPLE, ROW_BYTES, Columns
from kwire.codec.impl import load_twin
from kwire.errors import BadUtf8, KwireError, TrailingBytes, Truncated, UnsupportedVersion
from kwire.schema import catalog

# MetadataResponse v1: brokers, controller, topics (error, name, internal, partitions (error, index, leader, replicas, in sync)).
BROKER = "0000000700016200002384ffff"


def partition(index: int, leader: int, *replicas: int) -> str:
    nodes = f"{len(replicas):08x}" + "".join(f"{node:08x}" for node in replicas)
    return f"0000{index:08x}{leader:08x}{nodes}{nodes}"


def topic(name: str, *partitions: str) -> str:
    return f"0000{len(name):04x}{name.encode().hex()}00{len(partitions):08x}" + "".join(partitions)


def response(*topics: str, brokers: str = "") -> bytes:
    head = "00000001" + brokers if brokers else "00000000"
    return bytes.fromhex(f"{head}00000007{len(topics):08x}" + "".join(topics))


TWO = response(topic("a", partition(0, 1, 1, 2), partition(1, 2, 2)), topic("b"), brokers=BROKER)
NONE = response()
ONE = response(topic("c", partition(5, 6)))


@pytest.fixture
def to_arrow(codec):
    return Columns(codec.compiled).to_arrow


def test_a_message_is_a_row(to_arrow):
    batch = to_arrow("MetadataResponse", [TWO, None, NONE], 1)
    broker = {"node_id": 7, "host": "b", "port": 9092, "rack": None}
    parts = [
        {"error_code": 0, "partition_index": index, "leader_id": leader, "replica_nodes": nodes, "isr_nodes": nodes}
        for index, leader, nodes in ((0, 1, [1, 2]), (1, 2, [2]))
    ]
    topics = [
        {"error_code": 0, "name": "a", "is_internal": False, "partitions": parts},
        {"error_code": 0, "name": "b", "is_internal": False, "partitions": []},
    ]
    assert batch.to_pylist() == [
        {"brokers": [broker], "controller_id": 7, "topics": topics},
        {"brokers": None, "controller_id": None, "topics": None},
        {"brokers": [], "controller_id": 7, "topics": []},
    ]


def test_a_path_into_arrays_explodes_them_and_loses_no_message(to_arrow):
    batch = to_arrow("MetadataResponse", [TWO, NONE, None, ONE], 1, ("topics.partitions.leader_id", "topics.name", "controller_id"))
    assert batch.schema.names == ["message_index", "topics.partitions.leader_id", "topics.name", "controller_id"]
    assert [tuple(row.values()) for row in batch.to_pylist()] == [
        (0, 1, "a", 7), (0, 2, "a", 7), (0, None, "b", 7), (1, None, None, 7), (2, None, None, None), (3, 6, "c", 7),
    ]  # fmt: skip


def test_without_an_empty_array_the_deepest_columns_are_not_copied(to_arrow):
    batch = to_arrow("MetadataResponse", [ONE, ONE], 1, ("topics.partitions.leader_id", "topics.name"))
    assert [tuple(row.values()) for row in batch.to_pylist()] == [(0, 6, "c"), (1, 6, "c")]


def test_arrays_side_by_side_stay_lists(to_arrow):
    batch = to_arrow("MetadataResponse", [TWO], 1, ("brokers.host", "topics.name", "topics.partitions.partition_index", "controller_id"))
    assert batch.to_pylist() == [
        {
            "message_index": 0,
            "brokers": [{"host": "b"}],
            "topics": [
                {"name": "a", "partitions": [{"partition_index": 0}, {"partition_index": 1}]},
                {"name": "b", "partitions": []},
            ],
            "controller_id": 7,
        }
    ]


def test_a_path_that_ends_at_an_array_keeps_the_list(to_arrow):
    assert to_arrow("MetadataResponse", [TWO], 1, ("topics.partitions.replica_nodes",)).to_pylist() == [
        {"message_index": 0, "topics.partitions.replica_nodes": [1, 2]},
        {"message_index": 0, "topics.partitions.replica_nodes": [2]},
        {"message_index": 0, "topics.partitions.replica_nodes": None},
    ]
    whole = to_arrow("MetadataResponse", [TWO], 1, ("brokers", "brokers.host"))
    assert whole.to_pylist() == [{"brokers": [{"node_id": 7, "host": "b", "port": 9092, "rack": None}]}]


def test_a_field_that_the_version_lacks_is_null(to_arrow, codec):
    fields = ("cluster_id", "topics.topic_id", "topics.name", "topics.partitions.offline_replicas")
    batch = to_arrow("MetadataResponse", [ONE], 1, fields)
    assert batch.to_pylist() == [
        {"message_index": 0, "cluster_id": None, "topics.topic_id": None, "topics.name": "c", "topics.partitions.offline_replicas": None}
    ]
    schema = Columns(codec.compiled).arrow_schema
    assert all(schema("MetadataResponse", version, fields) == batch.schema for version in range(14))


def test_fields_of_a_null_struct_are_null(to_arrow):
    # ConsumerGroupHeartbeatResponse v0: throttle, error, message, member, epoch, interval, assignment (nullable), tags
    head = "00000000000000026d0000000100001388"
    given = head + "01" + "02" + "00112233445566778899aabbccddeeff" + "030000000000000001" + "00" + "00" + "00"
    messages = [bytes.fromhex(given), bytes.fromhex(head + "ff" + "00")]
    assert to_arrow("ConsumerGroupHeartbeatResponse", messages, 0, ("member_epoch", "assignment.topic_partitions")).to_pylist() == [
        {"member_epoch": 1, "assignment.topic_partitions": [{"topic_id": "ABEiM0RVZneImaq7zN3u_w", "partitions": [0, 1]}]},
        {"member_epoch": 1, "assignment.topic_partitions": None},
    ]
    exploded = to_arrow("ConsumerGroupHeartbeatResponse", messages, 0, ("assignment.topic_partitions.partitions",))
    assert [tuple(row.values()) for row in exploded.to_pylist()] == [(0, [0, 1]), (1, None)]


def test_unknown_tags(to_arrow):
    # MetadataRequest v9: topics, two flags... then tags; the topic has one too
    request = bytes.fromhex("02026101070141010000022a00ffffffff0f0263ff")
    batch = to_arrow("MetadataRequest", [request], 9, unknown_tags=True)
    row = batch.to_pylist()[0]
    assert row["unknown_tagged_fields"] == [{"tag": 42, "value": b""}, {"tag": 2**32 - 1, "value": b"c\xff"}]
    assert row["topics"] == [{"name": "a", "unknown_tagged_fields": [{"tag": 7, "value": b"A"}]}]
    flat = to_arrow("MetadataRequest", [request], 9, ("topics.name",), unknown_tags=True).to_pylist()[0]
    assert flat["topics.unknown_tagged_fields"] == [{"tag": 7, "value": b"A"}]
    assert "unknown_tagged_fields" not in to_arrow("MetadataRequest", [request], 9).schema.names


def test_bad_messages_raise(to_arrow):
    for bad, kind, offset, path in (
        (TWO[:-1], Truncated, len(TWO) - 4, "topics[1].partitions"),
        (TWO + b"\0", TrailingBytes, len(TWO), ""),
        (TWO.replace(b"\0\1b\0", b"\0\1\xff\0"), BadUtf8, 10, "brokers[0].host"),
    ):
        with pytest.raises(kind) as caught:
            to_arrow("MetadataResponse", [ONE, None, bad, b""], 1)
        assert (caught.value.index, caught.value.offset, caught.value.path) == (2, offset, path)


def test_bad_messages_as_rows(to_arrow):
    batch = to_arrow("MetadataResponse", [TWO[:-1], ONE, None, b"", ONE + b"\0", TWO], 1, ("topics.name",), errors="column")
    assert [tuple(row.values()) for row in batch.to_pylist()] == [
        (0, None, "TRUNCATED", len(TWO) - 4, "topics[1].partitions"),
        (1, "c", None, None, None),
        (2, None, None, None, None),
        (3, None, "TRUNCATED", 0, "brokers"),
        (4, None, "TRAILING_BYTES", len(ONE), ""),
        (5, "a", None, None, None),
        (5, "b", None, None, None),
    ]


def test_what_cannot_be_asked_for(to_arrow):
    with pytest.raises(KwireError, match=r"no field 'topics\.nme'"):
        to_arrow("MetadataResponse", [], 1, ("topics.nme",))
    with pytest.raises(UnsupportedVersion):
        to_arrow("MetadataResponse", [], 99)
    with pytest.raises(TypeError, match="not the text"):
        to_arrow("MetadataResponse", [], 1, "topics")
    with pytest.raises(ValueError, match="'raise' or 'column'"):
        to_arrow("MetadataResponse", [], 1, errors="ignore")
    with pytest.raises(TypeError):
        to_arrow("MetadataResponse", ["text"], 1)
    with pytest.raises(BufferError):
        to_arrow("MetadataResponse", [memoryview(bytes(8))[::2]], 1)


def test_arrow_arrays_that_lie_are_refused(codec):
    reader = load_twin("codec", "columns", codec.twin).ColumnReader(column_layout(codec.compiled.message("HeartbeatResponse"), 0))
    good = BinaryChunk(array("i", [0, 2, 4]), bytes(4), None, 0, 2, False)
    assert reader.read_chunks([good, good._replace(offsets=array("q", [0, 2, 4]), wide=True)], True)[1] == []
    for offsets in ([0, 9, 4], [0, 2, 99], [-1, 2, 4]):
        with pytest.raises(ValueError, match="leave its bytes at element"):
            reader.read_chunks([good._replace(offsets=array("i", offsets))], True)
    for change in ({"length": 3}, {"first": 1}, {"first": -1}, {"length": -1}, {"wide": True}):
        with pytest.raises(ValueError, match="shorter than the array"):
            reader.read_chunks([good, good._replace(**change)], True)
    with pytest.raises(ValueError, match="validity bits"):
        reader.read_chunks([good._replace(validity=b"")], True)


def test_a_message_without_fields_is_a_row_without_columns(to_arrow):
    batch = to_arrow("ListGroupsRequest", [b"", b""], 0)
    assert (batch.num_rows, batch.num_columns) == (2, 0)


def test_columns_of_messages_do_not_hide_their_faults():
    """`error`, `error_offset` and `error_path` are names of no field."""
    for name, message in catalog().messages.items():
        assert not {"error", "error_offset", "error_path", "message_index"} & {field.attribute for field in message.fields}, name


def test_a_reader_may_be_used_by_several_threads(codec):
    columns = Columns(codec.compiled)
    expected = columns.to_arrow("MetadataResponse", [TWO, ONE] * 200, 1)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: columns.to_arrow("MetadataResponse", [TWO, ONE] * 200, 1), range(20)))
    assert all(each.equals(expected) for each in results)


def test_a_batch_stays_as_it_is_while_others_are_made(to_arrow):
    """Buffers serve again, but only those that nobody holds."""
    fields = ("topics.name", "topics.partitions.replica_nodes")
    for options in ({}, {"fields": fields}):
        first = to_arrow("MetadataResponse", [TWO, ONE] * 50, 1, **options)
        column, shown = first.column(1), first.to_pylist()
        second = to_arrow("MetadataResponse", [ONE] * 100, 1, **options)
        assert first.to_pylist() == shown
        held = column.to_pylist()
        del first, second
        for messages in ([ONE, None] * 50, [TWO] * 400, [], [NONE]):
            again = to_arrow("MetadataResponse", messages, 1, **options)
            again.validate(full=True)
            alone = [to_arrow("MetadataResponse", [each], 1, **options) for each in messages]
            assert again.drop_columns(again.schema.names[:1]).to_pylist() == [
                row for each in alone for row in each.drop_columns(each.schema.names[:1]).to_pylist()
            ]
        assert column.to_pylist() == held


@pytest.mark.parametrize("fill", [0x00, 0x01, 0x02, 0x7F, 0xFF])
def test_memory_is_bounded(fill):
    """A hundred kilobytes of one byte, as many messages and as one, in the messages that nest deepest."""
    columns = Columns(CompiledCatalog(catalog()))
    size = 100_000
    for name in (
        "StreamsGroupDescribeResponse",
        "StreamsGroupHeartbeatRequest",
        "MetadataResponse",
        "FetchResponse",
        "DescribeLogDirsResponse",
    ):
        version = catalog()[name].valid_versions.highest
        for messages in ([bytes([fill]) * size], [bytes([fill]) * 100] * (size // 100)):
            columns.to_arrow(name, messages[:1], version, errors="column")  # what is made once
            load_twin("codec", "columns", "native").free_kept()  # or what the pool has would not be counted
            tracemalloc.start()
            try:
                columns.to_arrow(name, messages, version, errors="column", unknown_tags=True)
                peak = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
            assert peak < MEMORY_MULTIPLE * size + 2 * ROW_BYTES * len(messages) + 1_000_000, (name, len(messages))


def test_arrays_in_arrays_that_each_claim_all_bytes_left():
    """Room is made for each count before its elements are read: three levels of it, in one message and in a hundred."""
    columns = Columns(CompiledCatalog(catalog()))
    size = 100_000

    def claim(so_far: bytes, least: int) -> bytes:
        return so_far + struct.pack(">i", (size - len(so_far) - 4) // least)

    topics = claim(bytes(4) + struct.pack(">i", 1), 9)  # no brokers; a topic has 9 bytes at least: error, name, internal, partitions
    partitions = claim(topics + struct.pack(">hh?", 0, 0, False), 18)  # and a partition 18: error, id, leader, replicas, in-sync replicas
    replicas = claim(partitions + struct.pack(">hii", 0, 0, 0), 4)
    hostile = replicas + bytes(size - len(replicas))
    for messages in ([hostile], [hostile] * 100):
        columns.to_arrow("MetadataResponse", [hostile[:100]], 1, errors="column")  # what is made once
        load_twin("codec", "columns", "native").free_kept()
        tracemalloc.start()
        try:
            result = columns.to_arrow("MetadataResponse", messages, 1, errors="column", unknown_tags=True)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert set(result["error"].to_pylist()) == {"TRUNCATED"}
        # what a bad message took is taken again by the next one
        assert peak < MEMORY_MULTIPLE * size + 2 * ROW_BYTES * len(messages) + 1_000_000
