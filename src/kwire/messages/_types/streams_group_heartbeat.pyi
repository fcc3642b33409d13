# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class StreamsGroupHeartbeatRequest(MessageObject):  # request 88, versions 0-1
    api_key: ClassVar[Literal[ApiKey.STREAMS_GROUP_HEARTBEAT]]
    valid_versions: ClassVar[Versions]
    class Topology(MessageObject):
        epoch: int = 0
        subtopologies: list[StreamsGroupHeartbeatRequest.Subtopology] = ...

    class Subtopology(MessageObject):
        subtopology_id: str = ""
        source_topics: tuple[str, ...] = ()
        source_topic_regex: tuple[str, ...] = ()
        state_changelog_topics: list[StreamsGroupHeartbeatRequest.TopicInfo] = ...
        repartition_sink_topics: tuple[str, ...] = ()
        repartition_source_topics: list[StreamsGroupHeartbeatRequest.TopicInfo] = ...
        copartition_groups: list[StreamsGroupHeartbeatRequest.CopartitionGroup] = ...

    class TopicInfo(MessageObject):
        name: str = ""
        partitions: int = 0
        replication_factor: int = 0
        topic_configs: list[StreamsGroupHeartbeatRequest.KeyValue] = ...

    class KeyValue(MessageObject):
        key: str = ""
        value: str = ""

    class CopartitionGroup(MessageObject):
        source_topics: tuple[int, ...] = ()
        source_topic_regex: tuple[int, ...] = ()
        repartition_source_topics: tuple[int, ...] = ()

    class TaskIds(MessageObject):
        subtopology_id: str = ""
        partitions: tuple[int, ...] = ()

    class Endpoint(MessageObject):
        host: str = ""
        port: int = 0

    class TaskOffset(MessageObject):
        subtopology_id: str = ""
        partition: int = 0
        offset: int = 0

    group_id: str = ""
    member_id: str = ""
    member_epoch: int = 0
    endpoint_information_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topology: StreamsGroupHeartbeatRequest.Topology | None = None
    active_tasks: list[StreamsGroupHeartbeatRequest.TaskIds] | None = None
    standby_tasks: list[StreamsGroupHeartbeatRequest.TaskIds] | None = None
    warmup_tasks: list[StreamsGroupHeartbeatRequest.TaskIds] | None = None
    process_id: str | None = None
    user_endpoint: StreamsGroupHeartbeatRequest.Endpoint | None = None
    client_tags: list[StreamsGroupHeartbeatRequest.KeyValue] | None = None
    task_offsets: list[StreamsGroupHeartbeatRequest.TaskOffset] | None = None
    task_end_offsets: list[StreamsGroupHeartbeatRequest.TaskOffset] | None = None
    shutdown_application: bool = False

class StreamsGroupHeartbeatResponse(MessageObject):  # response 88, versions 0-1
    api_key: ClassVar[Literal[ApiKey.STREAMS_GROUP_HEARTBEAT]]
    valid_versions: ClassVar[Versions]
    class Status(MessageObject):
        status_code: int = 0
        status_detail: str = ""

    class TaskIds(MessageObject):
        subtopology_id: str = ""
        partitions: tuple[int, ...] = ()

    class EndpointToPartitions(MessageObject):
        user_endpoint: StreamsGroupHeartbeatResponse.Endpoint = ...
        active_partitions: list[StreamsGroupHeartbeatResponse.TopicPartition] = ...
        standby_partitions: list[StreamsGroupHeartbeatResponse.TopicPartition] = ...

    class Endpoint(MessageObject):
        host: str = ""
        port: int = 0

    class TopicPartition(MessageObject):
        topic: str = ""
        partitions: tuple[int, ...] = ()

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    member_id: str = ""
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    acceptable_recovery_lag_legacy: int = 0  # 0
    task_offset_interval_ms: int = 0
    acceptable_recovery_lag: int = -1  # 1+
    status: list[StreamsGroupHeartbeatResponse.Status] | None = ...
    active_tasks: list[StreamsGroupHeartbeatResponse.TaskIds] | None = None
    standby_tasks: list[StreamsGroupHeartbeatResponse.TaskIds] | None = None
    warmup_tasks: list[StreamsGroupHeartbeatResponse.TaskIds] | None = None
    topology_description_required: bool = False  # 1+
    endpoint_information_epoch: int = 0
    partitions_by_user_endpoint: list[StreamsGroupHeartbeatResponse.EndpointToPartitions] | None = None
