# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ProduceRequest(MessageObject):  # request 0, versions 0-13
    api_key: ClassVar[Literal[ApiKey.PRODUCE]]
    valid_versions: ClassVar[Versions]
    class TopicProduceData(MessageObject):
        topic_id: Uuid = ...  # 13+
        name: str = ""  # 0-12
        partition_data: list[ProduceRequest.PartitionProduceData] = ...
        partitions: list[ProduceRequest.PartitionProduceData] = ...  # partition_data after Kafka 2.7

    class PartitionProduceData(MessageObject):
        index: int = 0
        partition_index: int = 0  # index after Kafka 2.7
        records: bytes | None = None

    transactional_id: str | None = None  # 3+
    acks: int = 0
    timeout_ms: int = 0
    topic_data: list[ProduceRequest.TopicProduceData] = ...
    topics: list[ProduceRequest.TopicProduceData] = ...  # topic_data after Kafka 2.7

class ProduceResponse(MessageObject):  # response 0, versions 0-13
    api_key: ClassVar[Literal[ApiKey.PRODUCE]]
    valid_versions: ClassVar[Versions]
    class TopicProduceResponse(MessageObject):
        topic_id: Uuid = ...  # 13+
        name: str = ""  # 0-12
        partition_responses: list[ProduceResponse.PartitionProduceResponse] = ...
        partitions: list[ProduceResponse.PartitionProduceResponse] = ...  # partition_responses after Kafka 2.7

    class PartitionProduceResponse(MessageObject):
        index: int = 0
        partition_index: int = 0  # index after Kafka 2.7
        error_code: int = 0
        base_offset: int = 0
        log_append_time_ms: int = -1  # 2+
        log_start_offset: int = -1  # 5+
        record_errors: list[ProduceResponse.BatchIndexAndErrorMessage] = ...  # 8+
        error_message: str | None = None  # 8+
        current_leader: ProduceResponse.LeaderIdAndEpoch = ...  # 10+, tag 0

    class BatchIndexAndErrorMessage(MessageObject):
        batch_index: int = 0  # 8+
        batch_index_error_message: str | None = None  # 8+

    class LeaderIdAndEpoch(MessageObject):
        leader_id: int = -1  # 10+
        leader_epoch: int = -1  # 10+

    class NodeEndpoint(MessageObject):
        node_id: int = 0  # 10+
        host: str = ""  # 10+
        port: int = 0  # 10+
        rack: str | None = None  # 10+

    responses: list[ProduceResponse.TopicProduceResponse] = ...
    throttle_time_ms: int = 0  # 1+
    node_endpoints: list[ProduceResponse.NodeEndpoint] = ...  # 10+, tag 0
