"""Names that Kafka's releases gave to fields, and later changed, still lead to them. The names are those of the definitions in the jars."""

from __future__ import annotations

import pickle

import pytest

import kwire
from kwire.codec.catalog_codec import Codec
from kwire.codec.classes import CompiledCatalog
from kwire.schema import catalog, release_catalog, snake_name
from kwire.schema.catalog_diff import compare

# Message, newest version with the names, and paths in the names of kafka-clients 2.2.2 to 4.3.1 with today's last step behind them.
FORMER = """
AddPartitionsToTxnRequest 3 transactional_id=v3_and_below_transactional_id producer_id=v3_and_below_producer_id
AddPartitionsToTxnRequest 3 producer_epoch=v3_and_below_producer_epoch topics=v3_and_below_topics
AddPartitionsToTxnResponse 3 results=results_by_topic_v3_and_below results.results=results_by_partition
AddPartitionsToTxnResponse 3 results.results.error_code=partition_error_code
AlterConfigsResponse 1 resources=responses
AlterPartitionRequest 1 topics.name=topic_name
AlterPartitionResponse 1 topics.name=topic_name
ApiVersionsResponse 2 api_keys.index=api_key
DescribeAclsRequest 1 resource_type=resource_type_filter resource_pattern_type=pattern_type_filter
DescribeAclsResponse 1 resources.type=resource_type resources.name=resource_name
DescribeConfigsRequest 2 include_synoyms=include_synonyms
DescribeLogDirsRequest 2 topics.partition_index=partitions
ElectLeadersRequest 2 topic_partitions.partition_id=partitions
FetchRequest 11 max_wait=max_wait_ms epoch=session_epoch topics.name=topic topics.fetch_partitions=partitions
FetchRequest 11 topics.fetch_partitions.partition_index=partition topics.fetch_partitions.max_bytes=partition_max_bytes
FetchRequest 11 forgotten=forgotten_topics_data forgotten.name=topic forgotten.forgotten_partition_indexes=partitions
FetchResponse 11 topics=responses topics.name=topic topics.partition_responses=partitions
FetchResponse 12 responses.partition_responses.partition=partition_index responses.partition_responses.record_set=records
FetchResponse 11 topics.partition_responses.aborted=aborted_transactions
HeartbeatRequest 2 generationid=generation_id
LeaderAndIsrRequest 1 partition_states_v0=ungrouped_partition_states partition_states_v0.leader_key=leader
LeaderAndIsrRequest 1 partition_states_v0.isr_replicas=isr partition_states_v0.zk_version=partition_epoch
LeaderAndIsrRequest 6 topic_states.partition_states.zk_version=partition_epoch topic_states.name=topic_name
LeaderAndIsrResponse 2 partitions=partition_errors
OffsetCommitRequest 8 generation_id=generation_id_or_member_epoch
OffsetForLeaderEpochRequest 3 topics.name=topic topics.partitions.partition_index=partition
OffsetForLeaderEpochResponse 3 topics.name=topic topics.partitions.partition_index=partition
ProduceRequest 8 topics=topic_data topics.partitions=partition_data topics.partitions.partition_index=index
ProduceResponse 8 responses.partitions=partition_responses responses.partitions.partition_index=index
ProducerIdsRecord 0 producer_ids_end=next_producer_id
StopReplicaRequest 0 partitions_v0=ungrouped_partitions
StopReplicaResponse 1 partitions=partition_errors
StreamsGroupHeartbeatResponse 0 acceptable_recovery_lag=acceptable_recovery_lag_legacy
TxnOffsetCommitRequest 5 generation_id=generation_id_or_member_epoch
UpdateMetadataRequest 5 partition_states_v0=ungrouped_partition_states brokers=live_brokers
VoteRequest 1 topics.partitions.candidate_epoch=replica_epoch topics.partitions.candidate_id=replica_id
VoteRequest 1 topics.partitions.candidate_directory_id=replica_directory_id
"""
PATHS = [(name, int(version), *pair.split("=")) for name, version, *pairs in map(str.split, FORMER.strip().splitlines()) for pair in pairs]

# StreamsGroupHeartbeatResponse v0 of Kafka 4.1 to 4.3: acceptable recovery lag 10000, task offset interval 60000
LAG = bytes.fromhex("00000000 0000 00 01 00000000 00000000 00002710 0000ea60 00 00 00 00 00000000 00 00")


@pytest.fixture
def codec(twin) -> Codec:
    return Codec(catalog(), twin)


@pytest.fixture
def source(twin) -> CompiledCatalog:
    return CompiledCatalog(catalog(), twin)


@pytest.mark.parametrize(("name", "version", "path", "today"), PATHS)
def test_every_public_name_is_reachable(source: CompiledCatalog, name: str, version: int, path: str, today: str) -> None:
    plan = source.plan(name, version, (path,))
    (current,) = plan.fields
    *around, former = path.split(".")
    assert current.split(".")[-1] == today
    assert len(current.split(".")) == len(around) + 1
    kind = source.classes(name)[0]
    for step in current.split(".")[:-1]:
        struct = next(slot.type for slot in kind.layout.slots if slot.attribute == step).removeprefix("[]")
        kind = next(each for each in source.classes(name) if each.layout.name == struct)
    default = getattr(kind(), today)
    if former not in kind.slot_names:  # a constructor cannot tell which version it is for
        marked = kind(**{former: 1 if isinstance(default, int) else default})
        assert getattr(marked, today) == getattr(marked, former) == (1 if isinstance(default, int) else default)
        assert kwire.replace(marked, **{former: default}) == kind()


def test_all_former_names_of_the_catalog_are_attributes(source: CompiledCatalog) -> None:
    checked = 0
    for name in source.catalog:
        for kind, struct in zip(source.classes(name), source.catalog[name].structs.values(), strict=True):
            for field in struct.fields:
                for former, _ in field.former_names:
                    assert hasattr(kind(), snake_name(former)), (name, struct.name, former)
                    checked += 1
    assert checked > 55


def test_code_and_json_for_kafka_43_work(codec: Codec) -> None:
    request = codec.messages.TxnOffsetCommitRequest(transactional_id="t", group_id="g", producer_id=7, producer_epoch=1, generation_id=5)
    assert (request.generation_id, request.generation_id_or_member_epoch) == (5, 5)
    written = codec.encode(request, 3)
    assert written == bytes.fromhex("0274 0267 0000000000000007 0001 00000005 01 00 01 00")
    text = {
        "transactionalId": "t", "groupId": "g", "producerId": 7, "producerEpoch": 1, "generationId": 5, "memberId": "",
        "groupInstanceId": None, "topics": [],
    }  # fmt: skip
    assert codec.from_json("TxnOffsetCommitRequest", text, 3) == request
    assert codec.to_json(request, 3)["generationIdOrMemberEpoch"] == 5
    request.generation_id = 6
    assert codec.encode(request, 3) == codec.splice(written, {"generation_id": 6}, name="TxnOffsetCommitRequest", version=3)
    partial = codec.decode("TxnOffsetCommitRequest", written, 3, fields=["generation_id"])
    assert partial.generation_id == 5
    assert not hasattr(partial, "group_id")
    with pytest.raises(TypeError, match="multiple values for argument 'generation_id_or_member_epoch'"):
        codec.messages.TxnOffsetCommitRequest(generation_id=5, generation_id_or_member_epoch=5)
    assert codec.messages.TxnOffsetCommitRequest.__match_args__[4] == "generation_id_or_member_epoch"


def test_a_name_that_went_to_another_field_is_read_from_the_field_that_has_a_value(codec: Codec) -> None:
    name = "StreamsGroupHeartbeatResponse"
    answer = codec.decode(name, LAG, 0)
    assert (answer.acceptable_recovery_lag, answer.acceptable_recovery_lag_legacy) == (10000, 10000)
    assert codec.encode(answer, 0) == LAG
    assert "acceptable_recovery_lag=-1" in repr(answer)  # as Kafka's own class has it
    assert codec.decode(name, LAG, 0, fields=["acceptable_recovery_lag"]).acceptable_recovery_lag == 10000
    assert codec.messages.StreamsGroupHeartbeatResponse(acceptable_recovery_lag=7).acceptable_recovery_lag == 7
    text = codec.to_json(answer, 0)
    text["acceptableRecoveryLag"] = text.pop("acceptableRecoveryLagLegacy")
    assert codec.from_json(name, text, 0) == answer
    spliced = codec.splice(LAG, {"acceptable_recovery_lag": 5}, name=name, version=0)
    assert codec.decode(name, spliced, 0).acceptable_recovery_lag_legacy == 5


def test_former_names_in_columns_and_pickles() -> None:
    table = kwire.to_arrow("StreamsGroupHeartbeatResponse", [LAG], 0, ["task_offset_interval_ms", "acceptable_recovery_lag"])
    assert table.to_pylist() == [{"task_offset_interval_ms": 60000, "acceptable_recovery_lag": 10000}]
    commit = kwire.encode(kwire.messages.OffsetCommitRequest(group_id="g", generation_id=4, member_id="m"), 8)
    assert kwire.to_arrow("OffsetCommitRequest", [commit], 8, ["generation_id"]).to_pylist() == [{"generation_id": 4}]
    request = kwire.messages.OffsetCommitRequest(generation_id=4)
    assert pickle.loads(pickle.dumps(request)).generation_id == 4
    assert release_catalog("4.3")["OffsetCommitRequest"].fields[1].former_names[0] == ("GenerationId", "3.5")


def test_the_difference_of_two_releases_has_renames() -> None:
    renamed = [
        (each.message, each.path, each.version, each.detail)
        for api in compare("4.3", "4.4").apis
        for each in api.fields
        if each.change == "renamed"
    ]
    assert renamed == [
        ("TxnOffsetCommitRequest", "GenerationIdOrMemberEpoch", 3, "renamed from GenerationId"),
        ("StreamsGroupHeartbeatResponse", "AcceptableRecoveryLagLegacy", 0, "renamed from AcceptableRecoveryLag"),
    ]
    back = [each.detail for api in compare("4.0", "3.9").apis for each in api.fields if each.change == "renamed"]
    assert back == ["renamed from ReplicaEpoch", "renamed from ReplicaId", "renamed from ReplicaDirectoryId"]
