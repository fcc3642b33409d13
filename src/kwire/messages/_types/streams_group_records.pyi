# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class StreamsGroupCurrentMemberAssignmentKey(MessageObject):  # coordinator-key 22, versions 0
    group_id: str
    member_id: str

    def __init__(self, *, group_id: str = "", member_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class StreamsGroupCurrentMemberAssignmentValue(MessageObject):  # coordinator-value 22, versions 0
    class TaskIds(MessageObject):
        subtopology_id: str
        partitions: tuple[int, ...]
        assignment_epochs: tuple[int, ...] | None  # tag 0

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            partitions: list[int] | tuple[int, ...] = (),
            assignment_epochs: list[int] | tuple[int, ...] | None = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    member_epoch: int
    previous_member_epoch: int
    state: int
    active_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds]
    standby_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds]
    warmup_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds]
    active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds]
    standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds]
    warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds]

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        active_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...,
        standby_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...,
        warmup_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...,
        active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...,
        standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...,
        warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class StreamsGroupMemberMetadataKey(MessageObject):  # coordinator-key 19, versions 0
    group_id: str
    member_id: str

    def __init__(self, *, group_id: str = "", member_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class StreamsGroupMemberMetadataValue(MessageObject):  # coordinator-value 19, versions 0
    class Endpoint(MessageObject):
        host: str
        port: int

        def __init__(self, *, host: str = "", port: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    class KeyValue(MessageObject):
        key: str
        value: str

        def __init__(self, *, key: str = "", value: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    topology_epoch: int
    process_id: str
    user_endpoint: StreamsGroupMemberMetadataValue.Endpoint | None
    client_tags: list[StreamsGroupMemberMetadataValue.KeyValue]

    def __init__(
        self,
        *,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout_ms: int = -1,
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: StreamsGroupMemberMetadataValue.Endpoint | None = None,
        client_tags: list[StreamsGroupMemberMetadataValue.KeyValue] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class StreamsGroupMetadataKey(MessageObject):  # coordinator-key 17, versions 0
    group_id: str

    def __init__(self, *, group_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class StreamsGroupMetadataValue(MessageObject):  # coordinator-value 17, versions 0
    class LastAssignmentConfig(MessageObject):
        key: str
        value: str

        def __init__(self, *, key: str = "", value: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    epoch: int
    metadata_hash: int
    validated_topology_epoch: int  # tag 0
    last_assignment_configs: list[StreamsGroupMetadataValue.LastAssignmentConfig] | None  # tag 1
    stored_description_topology_epoch: int  # tag 2
    failed_description_topology_epoch: int  # tag 3

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
        validated_topology_epoch: int = -1,
        last_assignment_configs: list[StreamsGroupMetadataValue.LastAssignmentConfig] | None = ...,
        stored_description_topology_epoch: int = -1,
        failed_description_topology_epoch: int = -1,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class StreamsGroupTargetAssignmentMemberKey(MessageObject):  # coordinator-key 21, versions 0
    group_id: str
    member_id: str

    def __init__(self, *, group_id: str = "", member_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class StreamsGroupTargetAssignmentMemberValue(MessageObject):  # coordinator-value 21, versions 0
    class TaskIds(MessageObject):
        subtopology_id: str
        partitions: tuple[int, ...]

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            partitions: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    active_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds]
    standby_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds]
    warmup_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds]

    def __init__(
        self,
        *,
        active_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds] = ...,
        standby_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds] = ...,
        warmup_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class StreamsGroupTargetAssignmentMetadataKey(MessageObject):  # coordinator-key 20, versions 0
    group_id: str

    def __init__(self, *, group_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class StreamsGroupTargetAssignmentMetadataValue(MessageObject):  # coordinator-value 20, versions 0
    assignment_epoch: int
    assignment_timestamp: int  # tag 0

    def __init__(
        self, *, assignment_epoch: int = 0, assignment_timestamp: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class StreamsGroupTopologyKey(MessageObject):  # coordinator-key 23, versions 0
    group_id: str

    def __init__(self, *, group_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class StreamsGroupTopologyValue(MessageObject):  # coordinator-value 23, versions 0
    class Subtopology(MessageObject):
        subtopology_id: str
        source_topics: tuple[str, ...]
        source_topic_regex: tuple[str, ...]
        state_changelog_topics: list[StreamsGroupTopologyValue.TopicInfo]
        repartition_sink_topics: tuple[str, ...]
        repartition_source_topics: list[StreamsGroupTopologyValue.TopicInfo]
        copartition_groups: list[StreamsGroupTopologyValue.CopartitionGroup]

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            source_topics: list[str] | tuple[str, ...] = (),
            source_topic_regex: list[str] | tuple[str, ...] = (),
            state_changelog_topics: list[StreamsGroupTopologyValue.TopicInfo] = ...,
            repartition_sink_topics: list[str] | tuple[str, ...] = (),
            repartition_source_topics: list[StreamsGroupTopologyValue.TopicInfo] = ...,
            copartition_groups: list[StreamsGroupTopologyValue.CopartitionGroup] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TopicInfo(MessageObject):
        name: str
        partitions: int
        replication_factor: int
        topic_configs: list[StreamsGroupTopologyValue.TopicConfig]

        def __init__(
            self,
            *,
            name: str = "",
            partitions: int = 0,
            replication_factor: int = 0,
            topic_configs: list[StreamsGroupTopologyValue.TopicConfig] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TopicConfig(MessageObject):
        key: str
        value: str

        def __init__(self, *, key: str = "", value: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    class CopartitionGroup(MessageObject):
        source_topics: tuple[int, ...]
        source_topic_regex: tuple[int, ...]
        repartition_source_topics: tuple[int, ...]

        def __init__(
            self,
            *,
            source_topics: list[int] | tuple[int, ...] = (),
            source_topic_regex: list[int] | tuple[int, ...] = (),
            repartition_source_topics: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    epoch: int
    subtopologies: list[StreamsGroupTopologyValue.Subtopology]

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: list[StreamsGroupTopologyValue.Subtopology] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
