# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class TxnOffsetCommitRequest(MessageObject):  # request 28, versions 0-6
    api_key: ClassVar[Literal[ApiKey.TXN_OFFSET_COMMIT]]
    valid_versions: ClassVar[Versions]
    class TxnOffsetCommitRequestTopic(MessageObject):
        topic_id: Uuid = ...  # 6+
        name: str = ""  # 0-5
        partitions: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition] = ...

    class TxnOffsetCommitRequestPartition(MessageObject):
        partition_index: int = 0
        committed_offset: int = 0
        committed_leader_epoch: int = -1  # 2+
        committed_metadata: str | None = ""

    transactional_id: str = ""
    group_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    generation_id_or_member_epoch: int = -1  # 3+
    generation_id: int = -1  # generation_id_or_member_epoch after Kafka 4.3
    member_id: str = ""  # 3+
    group_instance_id: str | None = None  # 3+
    topics: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic] = ...

class TxnOffsetCommitResponse(MessageObject):  # response 28, versions 0-6
    api_key: ClassVar[Literal[ApiKey.TXN_OFFSET_COMMIT]]
    valid_versions: ClassVar[Versions]
    class TxnOffsetCommitResponseTopic(MessageObject):
        topic_id: Uuid = ...  # 6+
        name: str = ""  # 0-5
        partitions: list[TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition] = ...

    class TxnOffsetCommitResponsePartition(MessageObject):
        partition_index: int = 0
        error_code: int = 0

    throttle_time_ms: int = 0
    topics: list[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic] = ...
