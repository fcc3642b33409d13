# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class FetchRequest(MessageObject):  # request 1, versions 0-18
    api_key: ClassVar[Literal[ApiKey.FETCH]]
    valid_versions: ClassVar[Versions]
    class ReplicaState(MessageObject):
        replica_id: int = -1  # 15+
        replica_epoch: int = -1  # 15+

    class FetchTopic(MessageObject):
        topic_id: Uuid = ...  # 13+
        topic: str = ""  # 0-12
        name: str = ""  # topic after Kafka 2.6
        partitions: list[FetchRequest.FetchPartition] = ...
        fetch_partitions: list[FetchRequest.FetchPartition] = ...  # partitions after Kafka 2.6

    class FetchPartition(MessageObject):
        partition: int = 0
        partition_index: int = 0  # partition after Kafka 2.6
        current_leader_epoch: int = -1  # 9+
        fetch_offset: int = 0
        last_fetched_epoch: int = -1  # 12+
        log_start_offset: int = -1  # 5+
        partition_max_bytes: int = 0
        max_bytes: int = 0  # partition_max_bytes after Kafka 2.6
        replica_directory_id: Uuid = ...  # 17+, tag 0
        high_watermark: int = 9223372036854775807  # 18+, tag 1

    class ForgottenTopic(MessageObject):
        topic_id: Uuid = ...  # 13+
        topic: str = ""  # 7-12
        name: str = ""  # topic after Kafka 2.6
        partitions: tuple[int, ...] = ()  # 7+
        forgotten_partition_indexes: tuple[int, ...] = ()  # partitions after Kafka 2.6

    cluster_id: str | None = None  # 12+, tag 0
    replica_state: FetchRequest.ReplicaState = ...  # 15+, tag 1
    replica_id: int = -1  # 0-14
    max_wait_ms: int = 0
    max_wait: int = 0  # max_wait_ms after Kafka 2.6
    min_bytes: int = 0
    max_bytes: int = 2147483647  # 3+
    isolation_level: int = 0  # 4+
    session_id: int = 0  # 7+
    session_epoch: int = -1  # 7+
    epoch: int = -1  # session_epoch after Kafka 2.6
    topics: list[FetchRequest.FetchTopic] = ...
    forgotten_topics_data: list[FetchRequest.ForgottenTopic] = ...  # 7+
    forgotten: list[FetchRequest.ForgottenTopic] = ...  # forgotten_topics_data after Kafka 2.6
    rack_id: str = ""  # 11+

class FetchResponse(MessageObject):  # response 1, versions 0-18
    api_key: ClassVar[Literal[ApiKey.FETCH]]
    valid_versions: ClassVar[Versions]
    class FetchableTopicResponse(MessageObject):
        topic_id: Uuid = ...  # 13+
        topic: str = ""  # 0-12
        name: str = ""  # topic after Kafka 2.6
        partitions: list[FetchResponse.PartitionData] = ...
        partition_responses: list[FetchResponse.PartitionData] = ...  # partitions after Kafka 2.8

    class PartitionData(MessageObject):
        partition_index: int = 0
        partition: int = 0  # partition_index after Kafka 2.8
        error_code: int = 0
        high_watermark: int = 0
        last_stable_offset: int = -1  # 4+
        log_start_offset: int = -1  # 5+
        diverging_epoch: FetchResponse.EpochEndOffset = ...  # 12+, tag 0
        current_leader: FetchResponse.LeaderIdAndEpoch = ...  # 12+, tag 1
        snapshot_id: FetchResponse.SnapshotId = ...  # 12+, tag 2
        aborted_transactions: list[FetchResponse.AbortedTransaction] | None = ...  # 4+
        aborted: list[FetchResponse.AbortedTransaction] | None = ...  # aborted_transactions after Kafka 2.6
        preferred_read_replica: int = -1  # 11+
        records: bytes | None = None
        record_set: bytes | None = None  # records after Kafka 2.8

    class EpochEndOffset(MessageObject):
        epoch: int = -1  # 12+
        end_offset: int = -1  # 12+

    class LeaderIdAndEpoch(MessageObject):
        leader_id: int = -1  # 12+
        leader_epoch: int = -1  # 12+

    class SnapshotId(MessageObject):
        end_offset: int = -1
        epoch: int = -1

    class AbortedTransaction(MessageObject):
        producer_id: int = 0  # 4+
        first_offset: int = 0  # 4+

    class NodeEndpoint(MessageObject):
        node_id: int = 0  # 16+
        host: str = ""  # 16+
        port: int = 0  # 16+
        rack: str | None = None  # 16+

    throttle_time_ms: int = 0  # 1+
    error_code: int = 0  # 7+
    session_id: int = 0  # 7+
    responses: list[FetchResponse.FetchableTopicResponse] = ...
    topics: list[FetchResponse.FetchableTopicResponse] = ...  # responses after Kafka 2.6
    node_endpoints: list[FetchResponse.NodeEndpoint] = ...  # 16+, tag 0
