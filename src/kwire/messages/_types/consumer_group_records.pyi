# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ConsumerGroupCurrentMemberAssignmentKey(MessageObject):  # coordinator-key 8, versions 0-8
    api_key: ClassVar[Literal[ApiKey.OFFSET_COMMIT]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    member_id: str = ""

class ConsumerGroupCurrentMemberAssignmentValue(MessageObject):  # coordinator-value 8, versions 0
    api_key: ClassVar[Literal[ApiKey.OFFSET_COMMIT]]
    valid_versions: ClassVar[Versions]
    class TopicPartitions(MessageObject):
        topic_id: Uuid = ...
        partitions: tuple[int, ...] = ()
        assignment_epochs: tuple[int, ...] | None = ()  # tag 0

    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: int = 0
    assigned_partitions: list[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions] = ...
    partitions_pending_revocation: list[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions] = ...

class ConsumerGroupMemberMetadataKey(MessageObject):  # coordinator-key 5, versions 0-5
    api_key: ClassVar[Literal[ApiKey.STOP_REPLICA]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    member_id: str = ""

class ConsumerGroupMemberMetadataValue(MessageObject):  # coordinator-value 5, versions 0
    api_key: ClassVar[Literal[ApiKey.STOP_REPLICA]]
    valid_versions: ClassVar[Versions]
    class ClassicMemberMetadata(MessageObject):
        session_timeout_ms: int = 0
        supported_protocols: list[ConsumerGroupMemberMetadataValue.ClassicProtocol] = ...

    class ClassicProtocol(MessageObject):
        name: str = ""
        metadata: bytes = b""

    instance_id: str | None = ""
    rack_id: str | None = ""
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: tuple[str, ...] = ()
    subscribed_topic_regex: str | None = ""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = ""
    classic_member_metadata: ConsumerGroupMemberMetadataValue.ClassicMemberMetadata | None = ...  # tag 0

class ConsumerGroupMetadataKey(MessageObject):  # coordinator-key 3, versions 0-3
    api_key: ClassVar[Literal[ApiKey.METADATA]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""

class ConsumerGroupMetadataValue(MessageObject):  # coordinator-value 3, versions 0
    api_key: ClassVar[Literal[ApiKey.METADATA]]
    valid_versions: ClassVar[Versions]
    epoch: int = 0
    metadata_hash: int = 0  # tag 0

class ConsumerGroupPartitionMetadataKey(MessageObject):  # coordinator-key 4, versions 0-4
    api_key: ClassVar[Literal[ApiKey.LEADER_AND_ISR]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""

class ConsumerGroupPartitionMetadataValue(MessageObject):  # coordinator-value 4, versions 0
    api_key: ClassVar[Literal[ApiKey.LEADER_AND_ISR]]
    valid_versions: ClassVar[Versions]
    class TopicMetadata(MessageObject):
        topic_id: Uuid = ...
        topic_name: str = ""
        num_partitions: int = 0
        partition_metadata: list[ConsumerGroupPartitionMetadataValue.PartitionMetadata] = ...

    class PartitionMetadata(MessageObject):
        partition: int = 0
        racks: tuple[str, ...] = ()

    topics: list[ConsumerGroupPartitionMetadataValue.TopicMetadata] = ...

class ConsumerGroupRegularExpressionKey(MessageObject):  # coordinator-key 16, versions 0-16
    api_key: ClassVar[Literal[ApiKey.LIST_GROUPS]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    regular_expression: str = ""

class ConsumerGroupRegularExpressionValue(MessageObject):  # coordinator-value 16, versions 0
    api_key: ClassVar[Literal[ApiKey.LIST_GROUPS]]
    valid_versions: ClassVar[Versions]
    topics: tuple[str, ...] = ()
    version: int = 0
    timestamp: int = 0

class ConsumerGroupTargetAssignmentMemberKey(MessageObject):  # coordinator-key 7, versions 0-7
    api_key: ClassVar[Literal[ApiKey.CONTROLLED_SHUTDOWN]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    member_id: str = ""

class ConsumerGroupTargetAssignmentMemberValue(MessageObject):  # coordinator-value 7, versions 0
    api_key: ClassVar[Literal[ApiKey.CONTROLLED_SHUTDOWN]]
    valid_versions: ClassVar[Versions]
    class TopicPartition(MessageObject):
        topic_id: Uuid = ...
        partitions: tuple[int, ...] = ()

    topic_partitions: list[ConsumerGroupTargetAssignmentMemberValue.TopicPartition] = ...

class ConsumerGroupTargetAssignmentMetadataKey(MessageObject):  # coordinator-key 6, versions 0-6
    api_key: ClassVar[Literal[ApiKey.UPDATE_METADATA]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""

class ConsumerGroupTargetAssignmentMetadataValue(MessageObject):  # coordinator-value 6, versions 0
    api_key: ClassVar[Literal[ApiKey.UPDATE_METADATA]]
    valid_versions: ClassVar[Versions]
    assignment_epoch: int = 0
    assignment_timestamp: int = 0  # tag 0
