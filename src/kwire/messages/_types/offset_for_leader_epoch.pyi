# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class OffsetForLeaderEpochRequest(MessageObject):  # request 23, versions 0-4
    api_key: ClassVar[Literal[ApiKey.OFFSET_FOR_LEADER_EPOCH]]
    valid_versions: ClassVar[Versions]
    class OffsetForLeaderTopic(MessageObject):
        topic: str = ""
        name: str = ""  # topic after Kafka 2.7
        partitions: list[OffsetForLeaderEpochRequest.OffsetForLeaderPartition] = ...

    class OffsetForLeaderPartition(MessageObject):
        partition: int = 0
        partition_index: int = 0  # partition after Kafka 2.7
        current_leader_epoch: int = -1  # 2+
        leader_epoch: int = 0

    replica_id: int = -2  # 3+
    topics: list[OffsetForLeaderEpochRequest.OffsetForLeaderTopic] = ...

class OffsetForLeaderEpochResponse(MessageObject):  # response 23, versions 0-4
    api_key: ClassVar[Literal[ApiKey.OFFSET_FOR_LEADER_EPOCH]]
    valid_versions: ClassVar[Versions]
    class OffsetForLeaderTopicResult(MessageObject):
        topic: str = ""
        name: str = ""  # topic after Kafka 2.7
        partitions: list[OffsetForLeaderEpochResponse.EpochEndOffset] = ...

    class EpochEndOffset(MessageObject):
        error_code: int = 0
        partition: int = 0
        partition_index: int = 0  # partition after Kafka 2.7
        leader_epoch: int = -1  # 1+
        end_offset: int = -1

    throttle_time_ms: int = 0  # 2+
    topics: list[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult] = ...
