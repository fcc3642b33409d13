# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ShareAcknowledgeRequest(MessageObject):  # request 79, versions 0-2
    api_key: ClassVar[Literal[ApiKey.SHARE_ACKNOWLEDGE]]
    valid_versions: ClassVar[Versions]
    class AcknowledgeTopic(MessageObject):
        topic_id: Uuid = ...
        partitions: list[ShareAcknowledgeRequest.AcknowledgePartition] = ...

    class AcknowledgePartition(MessageObject):
        partition_index: int = 0
        acknowledgement_batches: list[ShareAcknowledgeRequest.AcknowledgementBatch] = ...

    class AcknowledgementBatch(MessageObject):
        first_offset: int = 0
        last_offset: int = 0
        acknowledge_types: tuple[int, ...] = ()

    group_id: str | None = None
    member_id: str | None = ""
    share_session_epoch: int = 0
    is_renew_ack: bool = False  # 2+
    topics: list[ShareAcknowledgeRequest.AcknowledgeTopic] = ...

class ShareAcknowledgeResponse(MessageObject):  # response 79, versions 0-2
    api_key: ClassVar[Literal[ApiKey.SHARE_ACKNOWLEDGE]]
    valid_versions: ClassVar[Versions]
    class ShareAcknowledgeTopicResponse(MessageObject):
        topic_id: Uuid = ...
        partitions: list[ShareAcknowledgeResponse.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0
        error_code: int = 0
        error_message: str | None = None
        current_leader: ShareAcknowledgeResponse.LeaderIdAndEpoch = ...

    class LeaderIdAndEpoch(MessageObject):
        leader_id: int = 0
        leader_epoch: int = 0

    class NodeEndpoint(MessageObject):
        node_id: int = 0
        host: str = ""
        port: int = 0
        rack: str | None = None

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    acquisition_lock_timeout_ms: int = 0  # 2+
    responses: list[ShareAcknowledgeResponse.ShareAcknowledgeTopicResponse] = ...
    node_endpoints: list[ShareAcknowledgeResponse.NodeEndpoint] = ...
