# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class StreamsGroupCurrentMemberAssignmentKey(MessageObject):  # coordinator-key 22, versions 0
    api_key: ClassVar[Literal[ApiKey.INIT_PRODUCER_ID]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    member_id: str = ""

class StreamsGroupCurrentMemberAssignmentValue(MessageObject):  # coordinator-value 22, versions 0
    api_key: ClassVar[Literal[ApiKey.INIT_PRODUCER_ID]]
    valid_versions: ClassVar[Versions]
    class TaskIds(MessageObject):
        subtopology_id: str = ""
        partitions: tuple[int, ...] = ()
        assignment_epochs: tuple[int, ...] | None = ()  # tag 0

    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: int = 0
    active_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...
    standby_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...
    warmup_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...
    active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...
    standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...
    warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...

class StreamsGroupMemberMetadataKey(MessageObject):  # coordinator-key 19, versions 0
    api_key: ClassVar[Literal[ApiKey.CREATE_TOPICS]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    member_id: str = ""

class StreamsGroupMemberMetadataValue(MessageObject):  # coordinator-value 19, versions 0
    api_key: ClassVar[Literal[ApiKey.CREATE_TOPICS]]
    valid_versions: ClassVar[Versions]
    class Endpoint(MessageObject):
        host: str = ""
        port: int = 0

    class KeyValue(MessageObject):
        key: str = ""
        value: str = ""

    instance_id: str | None = ""
    rack_id: str | None = ""
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topology_epoch: int = 0
    process_id: str = ""
    user_endpoint: StreamsGroupMemberMetadataValue.Endpoint | None = None
    client_tags: list[StreamsGroupMemberMetadataValue.KeyValue] = ...

class StreamsGroupMetadataKey(MessageObject):  # coordinator-key 17, versions 0
    api_key: ClassVar[Literal[ApiKey.SASL_HANDSHAKE]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""

class StreamsGroupMetadataValue(MessageObject):  # coordinator-value 17, versions 0
    api_key: ClassVar[Literal[ApiKey.SASL_HANDSHAKE]]
    valid_versions: ClassVar[Versions]
    class LastAssignmentConfig(MessageObject):
        key: str = ""
        value: str = ""

    epoch: int = 0
    metadata_hash: int = 0
    validated_topology_epoch: int = -1  # tag 0
    last_assignment_configs: list[StreamsGroupMetadataValue.LastAssignmentConfig] | None = ...  # tag 1
    stored_description_topology_epoch: int = -1  # tag 2
    failed_description_topology_epoch: int = -1  # tag 3

class StreamsGroupTargetAssignmentMemberKey(MessageObject):  # coordinator-key 21, versions 0
    api_key: ClassVar[Literal[ApiKey.DELETE_RECORDS]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    member_id: str = ""

class StreamsGroupTargetAssignmentMemberValue(MessageObject):  # coordinator-value 21, versions 0
    api_key: ClassVar[Literal[ApiKey.DELETE_RECORDS]]
    valid_versions: ClassVar[Versions]
    class TaskIds(MessageObject):
        subtopology_id: str = ""
        partitions: tuple[int, ...] = ()

    active_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds] = ...
    standby_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds] = ...
    warmup_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds] = ...

class StreamsGroupTargetAssignmentMetadataKey(MessageObject):  # coordinator-key 20, versions 0
    api_key: ClassVar[Literal[ApiKey.DELETE_TOPICS]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""

class StreamsGroupTargetAssignmentMetadataValue(MessageObject):  # coordinator-value 20, versions 0
    api_key: ClassVar[Literal[ApiKey.DELETE_TOPICS]]
    valid_versions: ClassVar[Versions]
    assignment_epoch: int = 0
    assignment_timestamp: int = 0  # tag 0

class StreamsGroupTopologyKey(MessageObject):  # coordinator-key 23, versions 0
    api_key: ClassVar[Literal[ApiKey.OFFSET_FOR_LEADER_EPOCH]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""

class StreamsGroupTopologyValue(MessageObject):  # coordinator-value 23, versions 0
    api_key: ClassVar[Literal[ApiKey.OFFSET_FOR_LEADER_EPOCH]]
    valid_versions: ClassVar[Versions]
    class Subtopology(MessageObject):
        subtopology_id: str = ""
        source_topics: tuple[str, ...] = ()
        source_topic_regex: tuple[str, ...] = ()
        state_changelog_topics: list[StreamsGroupTopologyValue.TopicInfo] = ...
        repartition_sink_topics: tuple[str, ...] = ()
        repartition_source_topics: list[StreamsGroupTopologyValue.TopicInfo] = ...
        copartition_groups: list[StreamsGroupTopologyValue.CopartitionGroup] = ...

    class TopicInfo(MessageObject):
        name: str = ""
        partitions: int = 0
        replication_factor: int = 0
        topic_configs: list[StreamsGroupTopologyValue.TopicConfig] = ...

    class TopicConfig(MessageObject):
        key: str = ""
        value: str = ""

    class CopartitionGroup(MessageObject):
        source_topics: tuple[int, ...] = ()
        source_topic_regex: tuple[int, ...] = ()
        repartition_source_topics: tuple[int, ...] = ()

    epoch: int = 0
    subtopologies: list[StreamsGroupTopologyValue.Subtopology] = ...
