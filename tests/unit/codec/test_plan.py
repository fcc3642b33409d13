"""Plans and what is made of them: values without pointers, minimum sizes, projections, other catalogs than the built-in one."""

from __future__ import annotations

import json
import pickle

import pytest

from kwire import schema
from kwire.codec import to_json
from kwire.codec.classes import MAX_PROJECTIONS, CompiledCatalog
from kwire.codec.decoding import FrameReader
from kwire.codec.impl import load_twin
from kwire.codec.layout import layouts_of
from kwire.codec.plan import DEEPEST, Flag, Op, compile_plan
from kwire.codec.uuids import Uuid
from kwire.errors import KwireError
from kwire.schema.definitions import definition_of, parse_definition


def operations(plan, block=0):
    its = plan.blocks[block]
    return {plan.attribute(block, number): plan.operation(number) for number in range(its.first, its.first + its.untagged + its.tagged)}


def test_plans_are_values():
    message = schema.catalog()["MetadataResponse"]
    plan = compile_plan(message, 12)
    assert pickle.loads(pickle.dumps(plan)) == plan == compile_plan(message, 12)
    assert plan != compile_plan(message, 11)
    assert all(type(each) is int for each in plan.ops)


@pytest.mark.parametrize(
    ("name", "version", "minimum"),
    [
        ("MetadataRequest", 0, 4),  # count
        ("MetadataRequest", 9, 1 + 1 + 1 + 1 + 1),  # compact count, three flags, tags
        ("HeartbeatRequest", 0, 2 + 4 + 2),
        ("HeartbeatRequest", 4, 1 + 4 + 1 + 1 + 1),
        ("RequestHeader", 0, 8),
        ("RequestHeader", 2, 8 + 2 + 1),  # the client id is never compact
        ("RequestHeader", 3, 8 + 2 + 16 + 1),
        ("DescribeTopicPartitionsRequest", 0, 1 + 4 + 1 + 1),  # a nullable struct takes its marker
        ("ApiVersionsResponse", 3, 2 + 1 + 4 + 1),  # tagged fields take nothing
    ],
)
def test_minimum_sizes(name, version, minimum):
    assert compile_plan(schema.catalog()[name], version).blocks[0].minimum == minimum


def test_no_message_is_shorter_than_its_minimum(codec, vectors):
    for case in vectors("messages-sample"):
        plan = codec.compiled.plan(case["message"], case["version"])
        assert plan.blocks[0].minimum <= len(case["hex"]) // 2, (case["message"], case["version"])


def test_minimum_of_an_element():
    plan = compile_plan(schema.catalog()["MetadataRequest"], 0)
    assert operations(plan)["topics"].minimum == 2  # a name's length
    plan = compile_plan(schema.catalog()["MetadataResponse"], 12)
    partitions = operations(plan, operations(plan)["topics"].block)["partitions"]
    # error, index, leader, epoch, three compact counts, tags
    assert (partitions.minimum, partitions.code, partitions.element) == (2 + 4 + 4 + 4 + 1 + 1 + 1 + 1, Op.ARRAY, Op.STRUCT)


def test_flags():
    produce = operations(compile_plan(schema.catalog()["ProduceRequest"], 9))
    assert produce["transactional_id"].flags == Flag.NULLABLE | Flag.COMPACT
    assert produce["acks"].flags == 0
    header = operations(compile_plan(schema.catalog()["RequestHeader"], 2))
    assert header["client_id"].flags == Flag.NULLABLE
    fetch = operations(compile_plan(schema.catalog()["FetchRequest"], 12))
    assert (fetch["cluster_id"].tag, fetch["cluster_id"].flags) == (0, Flag.NULLABLE | Flag.COMPACT | Flag.TAGGED)


def test_projection_marks_what_is_skipped():
    plan = compile_plan(schema.catalog()["MetadataResponse"], 12, ["topics.partitions.leader_id", "cluster_id"])
    top = operations(plan)
    assert {name for name, each in top.items() if not each.flags & Flag.SKIP} == {"topics", "cluster_id"}
    topics = operations(plan, top["topics"].block)
    assert {name for name, each in topics.items() if not each.flags & Flag.SKIP} == {"partitions"}
    assert plan.fields == ("cluster_id", "topics.partitions.leader_id")


def test_decoders_are_kept_and_projections_bounded(codec):
    assert codec.compiled.decoder("MetadataRequest", 1) is codec.compiled.decoder("MetadataRequest", 1)
    first = codec.compiled.decoder("MetadataRequest", 1, ("topics",))
    assert codec.compiled.decoder("MetadataRequest", 1, ["topics"]) is first
    compiled = CompiledCatalog(schema.catalog(), codec.twin)
    for number in range(MAX_PROJECTIONS + 10):
        compiled.decoder("MetadataRequest", 1, ("topics",) * (number + 1))
    assert len(compiled._projected) == MAX_PROJECTIONS


def test_decoders_travel(twin):
    # The classes that are found under their names are those of the process's own twin.
    from kwire.codec.classes import compiled

    decoder = compiled().decoder("MetadataRequest", 1, ("topics",))
    assert pickle.loads(pickle.dumps(decoder)).decode_whole(bytes(4)) == decoder.decode_whole(bytes(4))


def test_unknown_messages(codec):
    with pytest.raises(KwireError, match="did you mean MetadataRequest"):
        codec.compiled.decoder("MetadataReqest", 1)
    with pytest.raises(KwireError, match=r"^Kafka has no message 'Qqqq'$"):
        codec.compiled.decoder("Qqqq", 1)


@pytest.fixture
def announced(tmp_path, twin):
    """A catalog with OffsetDelete v1 as KIP-1313 has it: flexible, under request header 3."""
    stored = schema.catalog()
    topics = {
        "name": "Topics", "type": "[]Topic", "versions": "0+",
        "fields": [
            {"name": "Name", "type": "string", "versions": "0+"},
            {
                "name": "Partitions", "type": "[]Partition", "versions": "0+",
                "fields": [{"name": "PartitionIndex", "type": "int32", "versions": "0+"}],
            },
        ],
    }  # fmt: skip
    request = {
        "name": "OffsetDeleteRequest", "type": "request", "apiKey": 47, "validVersions": "0-1", "flexibleVersions": "1+",
        "headerVersions": {"0": "1", "1+": "3"}, "fields": [{"name": "GroupId", "type": "string", "versions": "0+"}, topics],
    }  # fmt: skip
    for definition in (request, definition_of(stored["RequestHeader"]), definition_of(stored["ResponseHeader"])):
        (tmp_path / f"{definition['name']}.json").write_text(json.dumps(definition), "utf-8")
    return CompiledCatalog(schema.load(tmp_path), twin)


def test_another_catalog(announced):
    header = "002f" + "0001" + "00000007" + "ffff" + "00112233445566778899aabbccddeeff" + "00"
    body = "0267" + "02" + "0274" + "02" + "00000003" + "00" + "00" + "00"
    request = FrameReader(announced).decode_request(bytes.fromhex(header + body))
    assert (request.header.client_id, str(request.header.client_instance_id)) == (None, str(Uuid.parse("00112233445566778899aabbccddeeff")))
    assert (request.body.group_id, request.body.topics[0].partitions[0].partition_index) == ("g", 3)
    expected = {"groupId": "g", "topics": [{"name": "t", "partitions": [{"partitionIndex": 3}]}]}
    assert to_json(request.body, 1, source=announced) == expected
    old = FrameReader(announced).decode_request(bytes.fromhex("002f" + "0000" + "00000007" + "ffff" + "0001" + "67" + "00000000"))
    assert (old.header.client_instance_id, old.body.topics) == (Uuid(16), [])


def nested(depth, inner=()):
    """Fields that nest structs so many deep."""
    fields = list(inner) or [{"name": "Leaf", "type": "int8", "versions": "0+"}]
    for level in range(depth):
        fields = [{"name": "Inside", "type": f"[]Level{level}", "versions": "0+", "fields": fields}]
    return fields


def test_structs_nest_as_deep_as_a_definition_may_say(twin):
    message = parse_definition({"type": "data", "name": "Deep", "validVersions": "0", "fields": nested(DEEPEST - 1)}, "deep.json")
    objects = load_twin("codec", "objects", twin)
    decoder = objects.Decoder(compile_plan(message, 0), objects.make_classes(layouts_of(message)))
    decoded = decoder.decode_whole(b"\0\0\0\1" * (DEEPEST - 1) + b"\7")
    for _ in range(DEEPEST - 1):
        (decoded,) = decoded.inside
    assert decoded.leaf == 7
    message = parse_definition({"type": "data", "name": "Deep", "validVersions": "0", "fields": nested(DEEPEST)}, "deep.json")
    with pytest.raises(ValueError, match="Deep nests its structs more than 32 deep"):
        compile_plan(message, 0)


def test_structs_in_themselves_are_refused():
    common = [{"name": "Inner", "versions": "0+", "fields": [{"name": "Inside", "type": "[]Inner", "versions": "0+"}]}]
    fields = [{"name": "Inside", "type": "[]Inner", "versions": "0+"}]
    message = parse_definition(
        {"type": "data", "name": "Loop", "validVersions": "0", "commonStructs": common, "fields": fields}, "loop.json"
    )
    with pytest.raises(ValueError, match="Loop nests its structs more than 32 deep"):
        compile_plan(message, 0)
