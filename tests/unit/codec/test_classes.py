"""Message objects: construction, equality, text, copies, pickles, the same in both twins."""

from __future__ import annotations

import copy
import gc
import pickle

import pytest

from kwire.codec import backend
from kwire.codec.classes import compiled
from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.errors import KwireError


@pytest.fixture
def response(codec):
    kind = codec.message_class("MetadataResponse")
    topic = kind.MetadataResponseTopic(name="orders", partitions=[kind.MetadataResponsePartition(leader_id=1, replica_nodes=[1, 2])])
    return kind(topics=[topic])


def test_defaults_are_those_of_the_definition(codec):
    request = codec.message_class("FetchRequest")()
    assert (request.cluster_id, request.replica_id, request.max_bytes, request.session_epoch) == (None, -1, 0x7FFFFFFF, -1)
    assert (request.topics, request.forgotten_topics_data, request.rack_id) == ([], [], "")
    assert request.replica_state == type(request).ReplicaState(replica_id=-1, replica_epoch=-1)
    assert request.unknown_tagged_fields == ()
    assert codec.message_class("MetadataResponse").MetadataResponseTopic().topic_id == ZERO_UUID
    assert codec.message_class("AlterPartitionRequest").PartitionData().new_isr == ()


def test_defaults_are_not_shared(codec):
    kind = codec.message_class("FetchRequest")
    one, other = kind(), kind()
    one.topics.append(kind.FetchTopic())
    assert other.topics == []
    assert one.replica_state is not other.replica_state


# FetchResponse v12: one topic "t", one partition of which the tagged structs are left out, but for `current_leader` where it is given
def fetch_response(codec, tags: str = "00"):
    partition = "00000000" + "0000" + "0000000000000007" * 3 + "00" + "ffffffff" + "00" + tags
    data = bytes.fromhex("00000000" + "0000" + "00000000" + "02" + "0274" + "02" + partition + "00" + "00")
    return codec.decode("FetchResponse", data, 12).responses[0].partitions[0]


def test_structs_that_the_wire_left_out_are_objects_of_defaults(codec):
    kind = codec.message_class("FetchResponse")
    found = fetch_response(codec)
    assert found.current_leader == kind.LeaderIdAndEpoch(leader_id=-1, leader_epoch=-1)
    assert found.current_leader is found.current_leader
    assert fetch_response(codec, "01" + "01" + "09" + "00000003" + "00000004" + "00").current_leader.leader_id == 3
    # each object has its own
    other = fetch_response(codec)
    found.current_leader.leader_id = 5
    assert (found.current_leader.leader_id, other.current_leader.leader_id) == (5, -1)
    assert found != other
    other.current_leader.leader_id = 5
    assert found == other
    # as one made by hand has, whoever of the two was looked at
    for looked_at in ((), (0,), (1,), (0, 1)):
        pair = [fetch_response(codec), kind.PartitionData(partition_index=0, high_watermark=7, last_stable_offset=7, log_start_offset=7)]
        pair[1].aborted_transactions = pair[0].aborted_transactions
        pair[1].preferred_read_replica = pair[0].preferred_read_replica
        pair[1].records = pair[0].records
        for index in looked_at:
            assert pair[index].snapshot_id.epoch == -1
        assert pair[0] == pair[1]
        assert repr(pair[0]) == repr(pair[1])
        pair[1].snapshot_id.epoch = 1
        assert pair[0] != pair[1]


def test_structs_that_the_wire_left_out_in_copies_and_pickles(codec):
    found = fetch_response(codec)
    shallow = copy.copy(found)
    assert shallow.diverging_epoch is found.diverging_epoch
    deep = copy.deepcopy(fetch_response(codec))
    assert deep == found
    deep.diverging_epoch.epoch = 1
    assert deep != found
    assert "diverging_epoch=EpochEndOffset(epoch=-1, end_offset=-1)" in repr(fetch_response(codec))
    if codec.twin == backend:
        kind = compiled().classes("FetchResponse")[0]
        assert pickle.loads(pickle.dumps(kind.PartitionData())) == kind.PartitionData()


def test_structs_that_the_wire_left_out_are_set_and_deleted(codec):
    kind = codec.message_class("FetchResponse")
    for look in (True, False):
        found = fetch_response(codec)
        if look:
            assert found.snapshot_id.epoch == -1
        found.snapshot_id = kind.SnapshotId(epoch=2)
        assert found.snapshot_id.epoch == 2
        found.snapshot_id = None
        assert found.snapshot_id is None
        del found.snapshot_id, found.current_leader
        assert not hasattr(found, "snapshot_id")
        with pytest.raises(AttributeError, match="current_leader"):
            found.current_leader  # noqa: B018
        with pytest.raises(AttributeError, match="current_leader"):
            del found.current_leader
        assert "current_leader" not in repr(found)
        assert found != fetch_response(codec)


def test_structs_outside_a_projection_stay_empty(codec):
    data = bytes.fromhex("00000000" + "0000" + "00000000" + "02" + "0274" + "02" + "00000000" + "0000" + "0000000000000007" * 3)
    data += bytes.fromhex("00" + "ffffffff" + "00" + "00" + "00" + "00")
    fields = ("responses.partitions.partition_index", "responses.partitions.current_leader")
    found = codec.decode("FetchResponse", data, 12, fields).responses[0].partitions[0]
    assert found.current_leader.leader_id == -1
    assert not hasattr(found, "snapshot_id")
    assert repr(found) == "PartitionData(partition_index=0, current_leader=LeaderIdAndEpoch(leader_id=-1, leader_epoch=-1))"


def test_keywords(codec, response):
    kind = codec.message_class("MetadataRequest")
    assert kind(allow_auto_topic_creation=False).allow_auto_topic_creation is False
    assert kind(unknown_tagged_fields=[(7, b"x")]).unknown_tagged_fields == ((7, b"x"),)
    with pytest.raises(TypeError, match="no_such_field"):
        kind(no_such_field=1)
    with pytest.raises(TypeError):
        kind("positional")
    # Arrays of scalars are tuples, however they were given; arrays of structs are lists.
    assert response.topics[0].partitions[0].replica_nodes == (1, 2)
    assert type(response.topics) is list


def test_equality(codec, response):
    same = copy.deepcopy(response)
    assert same == response
    same.topics[0].partitions[0].leader_id = 2
    assert same != response
    assert response != codec.message_class("MetadataRequest")()
    assert response != "a text"
    with pytest.raises(TypeError, match="unhashable"):
        hash(response)


def test_unknown_tags_count_for_equality(codec):
    kind = codec.message_class("MetadataRequest")
    assert kind(unknown_tagged_fields=((1, b"a"),)) != kind(unknown_tagged_fields=((1, b"b"),))


def test_text(codec):
    kind = codec.message_class("OffsetDeleteRequest")
    partition = kind.OffsetDeleteRequestPartition(partition_index=3)
    topic = kind.OffsetDeleteRequestTopic(name="t", partitions=[partition], unknown_tagged_fields=((9, b"\x00"),))
    assert repr(kind(group_id="g", topics=[topic])) == (
        "OffsetDeleteRequest(group_id='g', topics=[OffsetDeleteRequestTopic(name='t', partitions=["
        "OffsetDeleteRequestPartition(partition_index=3)], unknown_tagged_fields=((9, b'\\x00'),))])"
    )


def test_names(codec):
    kind = codec.message_class("MetadataResponse")
    nested = kind.MetadataResponsePartition
    assert (kind.__module__, kind.__name__, kind.__qualname__) == ("kwire.messages", "MetadataResponse", "MetadataResponse")
    assert (nested.__module__, nested.__qualname__) == ("kwire.messages", "MetadataResponse.MetadataResponsePartition")
    assert nested.layout.name == "MetadataResponsePartition"
    assert [slot.attribute for slot in nested.layout.slots][:3] == ["error_code", "partition_index", "leader_id"]


def test_attributes_are_fixed(codec):
    request = codec.message_class("MetadataRequest")()
    with pytest.raises(AttributeError):
        request.no_such_field = 1


def test_copies(response):
    shallow = copy.copy(response)
    assert shallow == response
    assert shallow.topics is response.topics
    deep = copy.deepcopy(response)
    assert deep == response
    assert deep.topics[0] is not response.topics[0]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_travel(protocol):
    # The classes that are found under their names are those of this process's twin.
    from kwire.messages import FetchRequest

    request = FetchRequest(topics=[FetchRequest.FetchTopic(topic_id=Uuid(range(16)))], unknown_tagged_fields=((3, b"x"),))
    again = pickle.loads(pickle.dumps(request, protocol))
    assert again == request
    assert type(again.topics[0]) is FetchRequest.FetchTopic


def test_empty_slots_survive_copies(codec):
    data = bytes.fromhex("00000001" + "00016f" + "00")  # one topic "o"; auto creation false (version 4)
    part = codec.decode("MetadataRequest", data, 4, fields=("allow_auto_topic_creation",))
    assert part.allow_auto_topic_creation is False
    for each in (copy.copy(part), copy.deepcopy(part)):
        assert each == part
        with pytest.raises(AttributeError):
            each.topics  # noqa: B018 - reading it is the test
    assert repr(part) == "MetadataRequest(allow_auto_topic_creation=False)"
    assert part != codec.decode("MetadataRequest", data, 4)


def test_cycles_of_structs_are_collected(codec):
    kind = codec.message_class("MetadataResponse")
    gc.collect()
    before = sum(type(each) is kind for each in gc.get_objects())
    response = kind()
    response.topics.append(response)
    del response
    gc.collect()
    assert sum(type(each) is kind for each in gc.get_objects()) == before


def test_messages_by_name():
    from kwire import messages

    assert messages.MetadataResponse.__name__ == "MetadataResponse"
    assert "ProduceRequest" in dir(messages)
    with pytest.raises(AttributeError, match="NoSuchMessage"):
        messages.NoSuchMessage  # noqa: B018
    assert backend in ("pure", "native")


def test_unknown_names_get_a_hint(codec):
    with pytest.raises(KwireError, match="MetadataResponse"):
        codec.message_class("MetadataRespons")


def test_uuids():
    value = Uuid(bytes.fromhex("00112233445566778899aabbccddeeff"))
    assert str(value) == "ABEiM0RVZneImaq7zN3u_w"
    for text in (str(value), "ABEiM0RVZneImaq7zN3u/w==", "00112233-4455-6677-8899-aabbccddeeff", value.hex()):
        assert Uuid.parse(text) == value
    with pytest.raises(ValueError):
        Uuid.parse("too short")
