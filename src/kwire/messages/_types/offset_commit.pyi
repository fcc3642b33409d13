# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class OffsetCommitRequest(MessageObject):  # request 8, versions 0-10
    api_key: ClassVar[Literal[ApiKey.OFFSET_COMMIT]]
    valid_versions: ClassVar[Versions]
    class OffsetCommitRequestTopic(MessageObject):
        topic_id: Uuid = ...  # 10+
        name: str = ""  # 0-9
        partitions: list[OffsetCommitRequest.OffsetCommitRequestPartition] = ...

    class OffsetCommitRequestPartition(MessageObject):
        partition_index: int = 0
        committed_offset: int = 0
        committed_leader_epoch: int = -1  # 6+
        commit_timestamp: int = -1  # 1
        committed_metadata: str | None = ""

    group_id: str = ""
    generation_id_or_member_epoch: int = -1  # 1+
    generation_id: int = -1  # generation_id_or_member_epoch after Kafka 3.5
    member_id: str = ""  # 1+
    group_instance_id: str | None = None  # 7+
    retention_time_ms: int = -1  # 2-4
    topics: list[OffsetCommitRequest.OffsetCommitRequestTopic] = ...

class OffsetCommitResponse(MessageObject):  # response 8, versions 0-10
    api_key: ClassVar[Literal[ApiKey.OFFSET_COMMIT]]
    valid_versions: ClassVar[Versions]
    class OffsetCommitResponseTopic(MessageObject):
        topic_id: Uuid = ...  # 10+
        name: str = ""  # 0-9
        partitions: list[OffsetCommitResponse.OffsetCommitResponsePartition] = ...

    class OffsetCommitResponsePartition(MessageObject):
        partition_index: int = 0
        error_code: int = 0

    throttle_time_ms: int = 0  # 3+
    topics: list[OffsetCommitResponse.OffsetCommitResponseTopic] = ...
