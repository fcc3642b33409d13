# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class RemoteLogSegmentMetadataRecord(MessageObject):  # metadata 0, versions 0
    api_key: ClassVar[Literal[ApiKey.PRODUCE]]
    valid_versions: ClassVar[Versions]
    class RemoteLogSegmentIdEntry(MessageObject):
        topic_id_partition: RemoteLogSegmentMetadataRecord.TopicIdPartitionEntry = ...
        id: Uuid = ...

    class TopicIdPartitionEntry(MessageObject):
        name: str = ""
        id: Uuid = ...
        partition: int = 0

    class SegmentLeaderEpochEntry(MessageObject):
        leader_epoch: int = 0
        offset: int = 0

    remote_log_segment_id: RemoteLogSegmentMetadataRecord.RemoteLogSegmentIdEntry = ...
    start_offset: int = 0
    end_offset: int = 0
    broker_id: int = 0
    max_timestamp_ms: int = 0
    event_timestamp_ms: int = 0
    segment_leader_epochs: list[RemoteLogSegmentMetadataRecord.SegmentLeaderEpochEntry] = ...
    segment_size_in_bytes: int = 0
    custom_metadata: bytes | None = None
    remote_log_segment_state: int = 0
    txn_index_empty: bool = False  # tag 0

class RemoteLogSegmentMetadataSnapshotRecord(MessageObject):  # metadata 3, versions 0
    api_key: ClassVar[Literal[ApiKey.METADATA]]
    valid_versions: ClassVar[Versions]
    class SegmentLeaderEpochEntry(MessageObject):
        leader_epoch: int = 0
        offset: int = 0

    segment_id: Uuid = ...
    start_offset: int = 0
    end_offset: int = 0
    broker_id: int = 0
    max_timestamp_ms: int = 0
    event_timestamp_ms: int = 0
    segment_leader_epochs: list[RemoteLogSegmentMetadataSnapshotRecord.SegmentLeaderEpochEntry] = ...
    segment_size_in_bytes: int = 0
    custom_metadata: bytes | None = None
    remote_log_segment_state: int = 0
    txn_index_empty: bool = False  # tag 0

class RemoteLogSegmentMetadataUpdateRecord(MessageObject):  # metadata 1, versions 0
    api_key: ClassVar[Literal[ApiKey.FETCH]]
    valid_versions: ClassVar[Versions]
    class RemoteLogSegmentIdEntry(MessageObject):
        topic_id_partition: RemoteLogSegmentMetadataUpdateRecord.TopicIdPartitionEntry = ...
        id: Uuid = ...

    class TopicIdPartitionEntry(MessageObject):
        name: str = ""
        id: Uuid = ...
        partition: int = 0

    remote_log_segment_id: RemoteLogSegmentMetadataUpdateRecord.RemoteLogSegmentIdEntry = ...
    broker_id: int = 0
    event_timestamp_ms: int = 0
    custom_metadata: bytes | None = None
    remote_log_segment_state: int = 0

class RemotePartitionDeleteMetadataRecord(MessageObject):  # metadata 2, versions 0
    api_key: ClassVar[Literal[ApiKey.LIST_OFFSETS]]
    valid_versions: ClassVar[Versions]
    class TopicIdPartitionEntry(MessageObject):
        name: str = ""
        id: Uuid = ...
        partition: int = 0

    topic_id_partition: RemotePartitionDeleteMetadataRecord.TopicIdPartitionEntry = ...
    broker_id: int = 0
    event_timestamp_ms: int = 0
    remote_partition_delete_state: int = 0
