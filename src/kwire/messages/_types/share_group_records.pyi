# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ShareGroupCurrentMemberAssignmentKey(MessageObject):  # coordinator-key 14, versions 0-14
    api_key: ClassVar[Literal[ApiKey.SYNC_GROUP]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    member_id: str = ""

class ShareGroupCurrentMemberAssignmentValue(MessageObject):  # coordinator-value 14, versions 0
    api_key: ClassVar[Literal[ApiKey.SYNC_GROUP]]
    valid_versions: ClassVar[Versions]
    class TopicPartitions(MessageObject):
        topic_id: Uuid = ...
        partitions: tuple[int, ...] = ()

    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: int = 0
    assigned_partitions: list[ShareGroupCurrentMemberAssignmentValue.TopicPartitions] = ...

class ShareGroupMemberMetadataKey(MessageObject):  # coordinator-key 10, versions 0-10
    api_key: ClassVar[Literal[ApiKey.FIND_COORDINATOR]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    member_id: str = ""

class ShareGroupMemberMetadataValue(MessageObject):  # coordinator-value 10, versions 0
    api_key: ClassVar[Literal[ApiKey.FIND_COORDINATOR]]
    valid_versions: ClassVar[Versions]
    rack_id: str | None = ""
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: tuple[str, ...] = ()

class ShareGroupMetadataKey(MessageObject):  # coordinator-key 11, versions 0-11
    api_key: ClassVar[Literal[ApiKey.JOIN_GROUP]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""

class ShareGroupMetadataValue(MessageObject):  # coordinator-value 11, versions 0
    api_key: ClassVar[Literal[ApiKey.JOIN_GROUP]]
    valid_versions: ClassVar[Versions]
    epoch: int = 0
    metadata_hash: int = 0

class ShareGroupPartitionMetadataKey(MessageObject):  # coordinator-key 9, versions 9
    api_key: ClassVar[Literal[ApiKey.OFFSET_FETCH]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""

class ShareGroupPartitionMetadataValue(MessageObject):  # coordinator-value 9, versions 0
    api_key: ClassVar[Literal[ApiKey.OFFSET_FETCH]]
    valid_versions: ClassVar[Versions]
    class TopicPartitionsInfo(MessageObject):
        topic_id: Uuid = ...
        topic_name: str = ""
        partitions: tuple[int, ...] = ()

    class TopicInfo(MessageObject):
        topic_id: Uuid = ...
        topic_name: str = ""

    initialized_topics: list[ShareGroupPartitionMetadataValue.TopicPartitionsInfo] = ...
    deleting_topics: list[ShareGroupPartitionMetadataValue.TopicInfo] = ...

class ShareGroupStatePartitionMetadataKey(MessageObject):  # coordinator-key 15, versions 0-15
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_GROUPS]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""

class ShareGroupStatePartitionMetadataValue(MessageObject):  # coordinator-value 15, versions 0
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_GROUPS]]
    valid_versions: ClassVar[Versions]
    class TopicPartitionsInfo(MessageObject):
        topic_id: Uuid = ...
        topic_name: str = ""
        partitions: tuple[int, ...] = ()

    class TopicInfo(MessageObject):
        topic_id: Uuid = ...
        topic_name: str = ""

    initializing_topics: list[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo] = ...
    initialized_topics: list[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo] = ...
    deleting_topics: list[ShareGroupStatePartitionMetadataValue.TopicInfo] = ...

class ShareGroupTargetAssignmentMemberKey(MessageObject):  # coordinator-key 13, versions 0-13
    api_key: ClassVar[Literal[ApiKey.LEAVE_GROUP]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    member_id: str = ""

class ShareGroupTargetAssignmentMemberValue(MessageObject):  # coordinator-value 13, versions 0
    api_key: ClassVar[Literal[ApiKey.LEAVE_GROUP]]
    valid_versions: ClassVar[Versions]
    class TopicPartition(MessageObject):
        topic_id: Uuid = ...
        partitions: tuple[int, ...] = ()

    topic_partitions: list[ShareGroupTargetAssignmentMemberValue.TopicPartition] = ...

class ShareGroupTargetAssignmentMetadataKey(MessageObject):  # coordinator-key 12, versions 0-12
    api_key: ClassVar[Literal[ApiKey.HEARTBEAT]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""

class ShareGroupTargetAssignmentMetadataValue(MessageObject):  # coordinator-value 12, versions 0
    api_key: ClassVar[Literal[ApiKey.HEARTBEAT]]
    valid_versions: ClassVar[Versions]
    assignment_epoch: int = 0
    assignment_timestamp: int = 0  # tag 0
