# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class StreamsGroupDescribeRequest(MessageObject):  # request 89, versions 0-1
    api_key: ClassVar[Literal[ApiKey.STREAMS_GROUP_DESCRIBE]]
    valid_versions: ClassVar[Versions]
    group_ids: tuple[str, ...] = ()
    include_authorized_operations: bool = False
    include_topology_description: bool = False  # 1+

class StreamsGroupDescribeResponse(MessageObject):  # response 89, versions 0-1
    api_key: ClassVar[Literal[ApiKey.STREAMS_GROUP_DESCRIBE]]
    valid_versions: ClassVar[Versions]
    class DescribedGroup(MessageObject):
        error_code: int = 0
        error_message: str | None = None
        group_id: str = ""
        group_state: str = ""
        group_epoch: int = 0
        assignment_epoch: int = 0
        topology: StreamsGroupDescribeResponse.Topology | None = None
        members: list[StreamsGroupDescribeResponse.Member] = ...
        authorized_operations: int = -2147483648
        topology_description: StreamsGroupDescribeResponse.TopologyDescription | None = None  # 1+
        topology_description_status: int = 0  # 1+
        assignor_name: str | None = None  # 1+

    class Topology(MessageObject):
        epoch: int = 0
        subtopologies: list[StreamsGroupDescribeResponse.Subtopology] | None = None

    class Subtopology(MessageObject):
        subtopology_id: str = ""
        source_topics: tuple[str, ...] = ()
        repartition_sink_topics: tuple[str, ...] = ()
        state_changelog_topics: list[StreamsGroupDescribeResponse.TopicInfo] = ...
        repartition_source_topics: list[StreamsGroupDescribeResponse.TopicInfo] = ...

    class TopicInfo(MessageObject):
        name: str = ""
        partitions: int = 0
        replication_factor: int = 0
        topic_configs: list[StreamsGroupDescribeResponse.KeyValue] = ...

    class KeyValue(MessageObject):
        key: str = ""
        value: str = ""

    class Member(MessageObject):
        member_id: str = ""
        member_epoch: int = 0
        instance_id: str | None = None
        rack_id: str | None = None
        client_id: str = ""
        client_host: str = ""
        topology_epoch: int = 0
        process_id: str = ""
        user_endpoint: StreamsGroupDescribeResponse.Endpoint | None = None
        client_tags: list[StreamsGroupDescribeResponse.KeyValue] = ...
        task_offsets: list[StreamsGroupDescribeResponse.TaskOffset] = ...
        task_end_offsets: list[StreamsGroupDescribeResponse.TaskOffset] = ...
        assignment: StreamsGroupDescribeResponse.Assignment = ...
        target_assignment: StreamsGroupDescribeResponse.Assignment = ...
        is_classic: bool = False

    class Endpoint(MessageObject):
        host: str = ""
        port: int = 0

    class TaskOffset(MessageObject):
        subtopology_id: str = ""
        partition: int = 0
        offset: int = 0

    class Assignment(MessageObject):
        active_tasks: list[StreamsGroupDescribeResponse.TaskIds] = ...
        standby_tasks: list[StreamsGroupDescribeResponse.TaskIds] = ...
        warmup_tasks: list[StreamsGroupDescribeResponse.TaskIds] = ...

    class TaskIds(MessageObject):
        subtopology_id: str = ""
        partitions: tuple[int, ...] = ()

    class TopologyDescription(MessageObject):
        subtopologies: list[StreamsGroupDescribeResponse.TopologyDescriptionSubtopology] = ...  # 1+
        global_stores: list[StreamsGroupDescribeResponse.TopologyDescriptionGlobalStore] = ...  # 1+

    class TopologyDescriptionSubtopology(MessageObject):
        subtopology_id: str = ""  # 1+
        nodes: list[StreamsGroupDescribeResponse.TopologyDescriptionNode] = ...  # 1+

    class TopologyDescriptionNode(MessageObject):
        name: str = ""  # 1+
        node_type: int = 0  # 1+
        source_topics: tuple[str, ...] = ()  # 1+
        sink_topic: str | None = None  # 1+
        stores: tuple[str, ...] = ()  # 1+
        successors: tuple[str, ...] = ()  # 1+

    class TopologyDescriptionGlobalStore(MessageObject):
        source: StreamsGroupDescribeResponse.TopologyDescriptionNode = ...  # 1+
        processor: StreamsGroupDescribeResponse.TopologyDescriptionNode = ...  # 1+

    throttle_time_ms: int = 0
    groups: list[StreamsGroupDescribeResponse.DescribedGroup] = ...
