# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ShareFetchRequest(MessageObject):  # request 78, versions 0-2
    api_key: ClassVar[Literal[ApiKey.SHARE_FETCH]]
    valid_versions: ClassVar[Versions]
    class FetchTopic(MessageObject):
        topic_id: Uuid = ...
        partitions: list[ShareFetchRequest.FetchPartition] = ...

    class FetchPartition(MessageObject):
        partition_index: int = 0
        partition_max_bytes: int = 0  # 0
        acknowledgement_batches: list[ShareFetchRequest.AcknowledgementBatch] = ...

    class AcknowledgementBatch(MessageObject):
        first_offset: int = 0
        last_offset: int = 0
        acknowledge_types: tuple[int, ...] = ()

    class ForgottenTopic(MessageObject):
        topic_id: Uuid = ...
        partitions: tuple[int, ...] = ()

    group_id: str | None = None
    member_id: str | None = ""
    share_session_epoch: int = 0
    max_wait_ms: int = 0
    min_bytes: int = 0
    max_bytes: int = 2147483647
    max_records: int = 0  # 1+
    batch_size: int = 0  # 1+
    share_acquire_mode: int = 0  # 2+
    is_renew_ack: bool = False  # 2+
    topics: list[ShareFetchRequest.FetchTopic] = ...
    forgotten_topics_data: list[ShareFetchRequest.ForgottenTopic] = ...

class ShareFetchResponse(MessageObject):  # response 78, versions 0-2
    api_key: ClassVar[Literal[ApiKey.SHARE_FETCH]]
    valid_versions: ClassVar[Versions]
    class ShareFetchableTopicResponse(MessageObject):
        topic_id: Uuid = ...
        partitions: list[ShareFetchResponse.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0
        error_code: int = 0
        error_message: str | None = None
        acknowledge_error_code: int = 0
        acknowledge_error_message: str | None = None
        current_leader: ShareFetchResponse.LeaderIdAndEpoch = ...
        records: bytes | None = None  # null in 0
        acquired_records: list[ShareFetchResponse.AcquiredRecords] = ...

    class LeaderIdAndEpoch(MessageObject):
        leader_id: int = 0
        leader_epoch: int = 0

    class AcquiredRecords(MessageObject):
        first_offset: int = 0
        last_offset: int = 0
        delivery_count: int = 0

    class NodeEndpoint(MessageObject):
        node_id: int = 0
        host: str = ""
        port: int = 0
        rack: str | None = None

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    acquisition_lock_timeout_ms: int = 0  # 1+
    responses: list[ShareFetchResponse.ShareFetchableTopicResponse] = ...
    node_endpoints: list[ShareFetchResponse.NodeEndpoint] = ...
