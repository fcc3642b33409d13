# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class StreamsGroupDescribeRequest(MessageObject):  # request 89, versions 0-1
    group_ids: tuple[str, ...]
    include_authorized_operations: bool
    include_topology_description: bool  # 1+

    def __init__(
        self,
        *,
        group_ids: list[str] | tuple[str, ...] = (),
        include_authorized_operations: bool = False,
        include_topology_description: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class StreamsGroupDescribeResponse(MessageObject):  # response 89, versions 0-1
    class DescribedGroup(MessageObject):
        error_code: int
        error_message: str | None
        group_id: str
        group_state: str
        group_epoch: int
        assignment_epoch: int
        topology: StreamsGroupDescribeResponse.Topology | None
        members: list[StreamsGroupDescribeResponse.Member]
        authorized_operations: int
        topology_description: StreamsGroupDescribeResponse.TopologyDescription | None  # 1+
        topology_description_status: int  # 1+
        assignor_name: str | None  # 1+

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = None,
            group_id: str = "",
            group_state: str = "",
            group_epoch: int = 0,
            assignment_epoch: int = 0,
            topology: StreamsGroupDescribeResponse.Topology | None = None,
            members: list[StreamsGroupDescribeResponse.Member] = ...,
            authorized_operations: int = -2147483648,
            topology_description: StreamsGroupDescribeResponse.TopologyDescription | None = None,
            topology_description_status: int = 0,
            assignor_name: str | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class Topology(MessageObject):
        epoch: int
        subtopologies: list[StreamsGroupDescribeResponse.Subtopology] | None

        def __init__(
            self,
            *,
            epoch: int = 0,
            subtopologies: list[StreamsGroupDescribeResponse.Subtopology] | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class Subtopology(MessageObject):
        subtopology_id: str
        source_topics: tuple[str, ...]
        repartition_sink_topics: tuple[str, ...]
        state_changelog_topics: list[StreamsGroupDescribeResponse.TopicInfo]
        repartition_source_topics: list[StreamsGroupDescribeResponse.TopicInfo]

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            source_topics: list[str] | tuple[str, ...] = (),
            repartition_sink_topics: list[str] | tuple[str, ...] = (),
            state_changelog_topics: list[StreamsGroupDescribeResponse.TopicInfo] = ...,
            repartition_source_topics: list[StreamsGroupDescribeResponse.TopicInfo] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TopicInfo(MessageObject):
        name: str
        partitions: int
        replication_factor: int
        topic_configs: list[StreamsGroupDescribeResponse.KeyValue]

        def __init__(
            self,
            *,
            name: str = "",
            partitions: int = 0,
            replication_factor: int = 0,
            topic_configs: list[StreamsGroupDescribeResponse.KeyValue] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class KeyValue(MessageObject):
        key: str
        value: str

        def __init__(self, *, key: str = "", value: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    class Member(MessageObject):
        member_id: str
        member_epoch: int
        instance_id: str | None
        rack_id: str | None
        client_id: str
        client_host: str
        topology_epoch: int
        process_id: str
        user_endpoint: StreamsGroupDescribeResponse.Endpoint | None
        client_tags: list[StreamsGroupDescribeResponse.KeyValue]
        task_offsets: list[StreamsGroupDescribeResponse.TaskOffset]
        task_end_offsets: list[StreamsGroupDescribeResponse.TaskOffset]
        assignment: StreamsGroupDescribeResponse.Assignment
        target_assignment: StreamsGroupDescribeResponse.Assignment
        is_classic: bool

        def __init__(
            self,
            *,
            member_id: str = "",
            member_epoch: int = 0,
            instance_id: str | None = None,
            rack_id: str | None = None,
            client_id: str = "",
            client_host: str = "",
            topology_epoch: int = 0,
            process_id: str = "",
            user_endpoint: StreamsGroupDescribeResponse.Endpoint | None = None,
            client_tags: list[StreamsGroupDescribeResponse.KeyValue] = ...,
            task_offsets: list[StreamsGroupDescribeResponse.TaskOffset] = ...,
            task_end_offsets: list[StreamsGroupDescribeResponse.TaskOffset] = ...,
            assignment: StreamsGroupDescribeResponse.Assignment = ...,
            target_assignment: StreamsGroupDescribeResponse.Assignment = ...,
            is_classic: bool = False,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class Endpoint(MessageObject):
        host: str
        port: int

        def __init__(self, *, host: str = "", port: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    class TaskOffset(MessageObject):
        subtopology_id: str
        partition: int
        offset: int

        def __init__(
            self, *, subtopology_id: str = "", partition: int = 0, offset: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    class Assignment(MessageObject):
        active_tasks: list[StreamsGroupDescribeResponse.TaskIds]
        standby_tasks: list[StreamsGroupDescribeResponse.TaskIds]
        warmup_tasks: list[StreamsGroupDescribeResponse.TaskIds]

        def __init__(
            self,
            *,
            active_tasks: list[StreamsGroupDescribeResponse.TaskIds] = ...,
            standby_tasks: list[StreamsGroupDescribeResponse.TaskIds] = ...,
            warmup_tasks: list[StreamsGroupDescribeResponse.TaskIds] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

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

    class TopologyDescription(MessageObject):
        subtopologies: list[StreamsGroupDescribeResponse.TopologyDescriptionSubtopology]  # 1+
        global_stores: list[StreamsGroupDescribeResponse.TopologyDescriptionGlobalStore]  # 1+

        def __init__(
            self,
            *,
            subtopologies: list[StreamsGroupDescribeResponse.TopologyDescriptionSubtopology] = ...,
            global_stores: list[StreamsGroupDescribeResponse.TopologyDescriptionGlobalStore] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TopologyDescriptionSubtopology(MessageObject):
        subtopology_id: str  # 1+
        nodes: list[StreamsGroupDescribeResponse.TopologyDescriptionNode]  # 1+

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            nodes: list[StreamsGroupDescribeResponse.TopologyDescriptionNode] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TopologyDescriptionNode(MessageObject):
        name: str  # 1+
        node_type: int  # 1+
        source_topics: tuple[str, ...]  # 1+
        sink_topic: str | None  # 1+
        stores: tuple[str, ...]  # 1+
        successors: tuple[str, ...]  # 1+

        def __init__(
            self,
            *,
            name: str = "",
            node_type: int = 0,
            source_topics: list[str] | tuple[str, ...] = (),
            sink_topic: str | None = None,
            stores: list[str] | tuple[str, ...] = (),
            successors: list[str] | tuple[str, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TopologyDescriptionGlobalStore(MessageObject):
        source: StreamsGroupDescribeResponse.TopologyDescriptionNode  # 1+
        processor: StreamsGroupDescribeResponse.TopologyDescriptionNode  # 1+

        def __init__(
            self,
            *,
            source: StreamsGroupDescribeResponse.TopologyDescriptionNode = ...,
            processor: StreamsGroupDescribeResponse.TopologyDescriptionNode = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    groups: list[StreamsGroupDescribeResponse.DescribedGroup]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[StreamsGroupDescribeResponse.DescribedGroup] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
