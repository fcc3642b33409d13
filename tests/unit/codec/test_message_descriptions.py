"""What a message class says of itself, how its objects are taken apart, and the plain errors of calls that mean something else."""

from __future__ import annotations

import copy
import gc
import inspect
import sys
import weakref

import pytest
import rich.pretty

import kwire
from kwire import messages
from kwire.codec.classes import CompiledCatalog
from kwire.schema import catalog


@pytest.fixture(params=["pure", "native"])
def codec(request):
    return CompiledCatalog(catalog(), request.param)


def test_docstring_says_api_versions_and_fields(codec):
    # Kafka's MetadataRequest.json: topics are nullable from 1 on, auto creation came with 4, 8 to 10 have cluster operations
    lines = codec.classes("MetadataRequest")[0].__doc__.splitlines()
    assert lines[0] == "Request of api 3, versions 0-13."
    assert "    topics: []MetadataRequestTopic, versions null in 1+" not in lines
    assert "    topics: []MetadataRequestTopic, null in 1+" in lines
    assert "    allow_auto_topic_creation: bool, versions 4+, default True" in lines
    assert "    include_cluster_authorized_operations: bool, versions 8-10" in lines
    topic = codec.classes("MetadataRequest")[0].MetadataRequestTopic.__doc__.splitlines()
    assert topic[0] == "Part of MetadataRequest, versions 0-13."
    assert "    name: string (topicName), null in 10+" in topic


def test_docstring_of_tagged_fields(codec):
    # FetchRequest: ClusterId is tag 0 of versions 12 and later, ReplicaState tag 1 of 15 and later
    text = codec.classes("FetchRequest")[0].__doc__
    assert "    cluster_id: string, versions 12+, tag 0, may be null, default None" in text
    assert "    replica_state: ReplicaState, versions 15+, tag 1" in text


def test_every_class_can_be_described(codec):
    for name in catalog():
        for kind in codec.classes(name):
            assert kind.__doc__
            assert list(inspect.signature(kind).parameters) == list(kind.slot_names)


def test_signature_has_keywords_with_defaults_and_types(codec):
    parameters = inspect.signature(codec.classes("MetadataRequest")[0]).parameters
    topics, creation = parameters["topics"], parameters["allow_auto_topic_creation"]
    assert topics.kind is inspect.Parameter.KEYWORD_ONLY
    assert (topics.default, topics.annotation) == ([], "list[MetadataRequest.MetadataRequestTopic] | None")
    assert (creation.default, creation.annotation) == (True, "bool")


def test_api_key_and_versions_of_a_class(codec):
    kind = codec.classes("MetadataRequest")[0]
    assert kind.api_key is kwire.ApiKey.METADATA
    assert (kind.valid_versions.lowest, kind.valid_versions.highest) == (0, 13)
    assert 13 in kind.valid_versions
    assert 14 not in kind.valid_versions
    assert codec.classes("LeaderChangeMessage")[0].api_key is None
    # a header has a field of this name
    assert codec.classes("RequestHeader")[0](api_key=18).api_key == 18


def test_classes_of_a_dialect_say_what_the_dialect_has():
    draft = kwire.Codec(kwire.schema.dialect("kip-1313")).messages.RequestHeader
    assert "client_instance_id: uuid, versions 3+" in draft.__doc__
    assert draft.valid_versions.highest == 3


def test_api_keys_and_error_codes_are_enums():
    # org.apache.kafka.common.protocol.ApiKeys and Errors
    assert (kwire.ApiKey.PRODUCE, kwire.ApiKey.API_VERSIONS, kwire.ApiKey.PUSH_TELEMETRY) == (0, 18, 72)
    assert kwire.ApiKey(10).name == "FIND_COORDINATOR"
    assert kwire.ApiKey(56).name == "ALTER_PARTITION"  # AlterIsr until 3.1
    assert kwire.ApiKey.ALTER_ISR is kwire.ApiKey.ALTER_PARTITION
    assert (kwire.ErrorCode.UNSUPPORTED_VERSION, kwire.ErrorCode.NONE, kwire.ErrorCode.UNKNOWN_SERVER_ERROR) == (35, 0, -1)
    assert kwire.ErrorCode(87).name == "INVALID_RECORD"


def test_enum_members_stand_for_their_numbers():
    frame = kwire.encode_response(
        7, messages.HeartbeatResponse(error_code=kwire.ErrorCode.REBALANCE_IN_PROGRESS), kwire.ApiKey.HEARTBEAT, 0
    )
    assert frame == bytes.fromhex("00000007001b")
    assert kwire.decode_response(frame, kwire.ApiKey.HEARTBEAT, 0).body.error_code == 27


def test_match_statement_finds_fields_by_place_and_name(codec):
    kind = codec.classes("HeartbeatRequest")[0]
    match kind(group_id="orders", generation_id=3):
        case kind(group, generation, member_id=""):
            assert (group, generation) == ("orders", 3)
        case _:
            pytest.fail("no match")


def test_asdict_takes_nested_structs_apart(codec):
    kind = codec.classes("OffsetDeleteRequest")[0]
    partition = kind.OffsetDeleteRequestPartition(partition_index=3, unknown_tagged_fields=((9, b"x"),))
    request = kind(group_id="g", topics=[kind.OffsetDeleteRequestTopic(name="t", partitions=[partition])])
    assert kwire.asdict(request) == {
        "group_id": "g",
        "topics": [{"name": "t", "partitions": [{"partition_index": 3, "unknown_tagged_fields": ((9, b"x"),)}]}],
    }


def test_asdict_leaves_out_what_was_not_decoded():
    data = bytes.fromhex("00000001" + "00016f" + "00")  # one topic "o"; auto creation false (version 4)
    part = kwire.decode("MetadataRequest", data, 4, fields=("allow_auto_topic_creation",))
    assert kwire.asdict(part) == {"allow_auto_topic_creation": False}
    with pytest.raises(TypeError, match="asdict takes a message object, not dict"):
        kwire.asdict({})


def test_replace_gives_a_copy(codec):
    kind = codec.classes("MetadataRequest")[0]
    request = kind(topics=[kind.MetadataRequestTopic(name="a")])
    other = kwire.replace(request, allow_auto_topic_creation=False)
    assert (request.allow_auto_topic_creation, other.allow_auto_topic_creation) == (True, False)
    assert other.topics is request.topics
    partition = codec.classes("MetadataResponse")[0].MetadataResponsePartition(isr_nodes=(1,))
    assert kwire.replace(partition, isr_nodes=[1, 2]).isr_nodes == (1, 2)
    with pytest.raises(TypeError, match="no_such_field"):
        kwire.replace(request, no_such_field=1)
    if sys.version_info >= (3, 13):
        assert copy.replace(request, topics=None).topics is None


def test_rich_prints_field_by_field(codec):
    request = codec.classes("HeartbeatRequest")[0](group_id="orders")
    assert rich.pretty.pretty_repr(request, max_width=20).splitlines()[1] == "    group_id='orders',"


@pytest.mark.parametrize("name", ["HeartbeatRequest", "MetadataResponse"])  # objects that the garbage collector does not know, and does
def test_weak_references(codec, name):
    kind = codec.classes(name)[0]
    for make in (kind, lambda: codec.decoder(name, 0).decode_whole(codec.encoder(name, 0).encode(kind()))):
        made, gone = make(), []
        reference = weakref.ref(made, gone.append)
        assert reference() is made
        assert weakref.ref(made) is not reference  # one with a callback is its own
        del made
        assert reference() is None
        assert gone == [reference]


def test_weak_references_to_a_cycle(codec):
    response = codec.classes("MetadataResponse")[0]()
    response.topics.append(response)
    reference = weakref.ref(response)
    del response
    gc.collect()
    assert reference() is None


def test_memory_is_used_again_behind_a_weak_reference(codec):
    # released objects are kept for the next ones of their size: a stale list of references must not come along
    kind = codec.classes("HeartbeatRequest")[0]
    for _ in range(1000):
        made = kind(group_id="g")
        reference = weakref.ref(made)
        del made
        assert reference() is None
        assert weakref.getweakrefcount(kind()) == 0


def test_a_message_is_named_by_its_class_too(codec):
    kind = codec.classes("HeartbeatRequest")[0]
    data = bytes.fromhex("0001" + "67" + "00000005" + "0001" + "6d")
    assert codec.decoder(kind, 0).decode_whole(data) == kind(group_id="g", generation_id=5, member_id="m")
    assert kwire.decode(messages.HeartbeatRequest, data, 0) == kwire.decode("HeartbeatRequest", data, 0)
    assert kwire.from_json(messages.HeartbeatRequest, kwire.to_json(messages.HeartbeatRequest(), 0), 0) == messages.HeartbeatRequest()


def test_a_class_of_another_catalog_is_refused():
    other = CompiledCatalog(catalog(), "pure" if kwire.backend == "native" else "native").classes("HeartbeatRequest")[0]
    with pytest.raises(TypeError, match="by its name or its class"):
        kwire.decode(other, b"", 0)


def test_an_api_key_names_no_message():
    with pytest.raises(TypeError, match=r"the messages of api 3 are 'MetadataRequest' and 'MetadataResponse'"):
        kwire.decode(3, b"", 0)


def test_version_as_text():
    with pytest.raises(TypeError, match="version is an integer such as 13, not '12'"):
        kwire.decode("MetadataRequest", b"", "12")


def test_misspelt_class():
    with pytest.raises(AttributeError, match="no message 'MetadataReqest'; did you mean MetadataRequest"):
        messages.MetadataReqest  # noqa: B018


def test_frame_with_its_length_left_on():
    frame = kwire.encode_request(messages.RequestHeader(api_key=12, api_version=1, client_id="c"), messages.HeartbeatRequest(group_id="g"))
    with_length = len(frame).to_bytes(4, "big") + frame
    with pytest.raises(kwire.WireError, match="first 4 bytes look like a length prefix"):
        kwire.decode_request(with_length)
    with pytest.raises(kwire.WireError) as caught:
        kwire.decode_request(frame + b"\0")
    assert "length prefix" not in str(caught.value)
    answer = kwire.encode_response(1, messages.HeartbeatResponse(), 12, 1)
    with pytest.raises(kwire.WireError, match="first 4 bytes look like a length prefix"):
        kwire.decode_response(len(answer).to_bytes(4, "big") + answer, 12, 1)


def test_one_message_where_a_list_is_wanted():
    with pytest.raises(TypeError, match="buffers takes a list of messages"):
        kwire.to_arrow("HeartbeatRequest", b"abc", 0)


def test_api_of_a_request_is_found_by_the_class_of_its_body():
    header = messages.RequestHeader(api_version=1, correlation_id=7, client_id="c")
    frame = kwire.encode_request(header, messages.HeartbeatRequest(group_id="g", generation_id=5, member_id="m"))
    assert frame == bytes.fromhex("000c" + "0001" + "00000007" + "000163" + "000167" + "00000005" + "00016d")
    assert header.api_key == 0  # the caller's header is not changed
    with pytest.raises(kwire.EncodeError, match="api key 3 cannot be a HeartbeatRequest"):
        kwire.encode_request(kwire.replace(header, api_key=3), messages.HeartbeatRequest())
