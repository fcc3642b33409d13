# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class ConsumerGroupHeartbeatRequest(MessageObject):  # request 68, versions 0-1
    class TopicPartitions(MessageObject):
        topic_id: Uuid
        partitions: tuple[int, ...]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    subscribed_topic_names: tuple[str, ...] | None
    subscribed_topic_regex: str | None  # 1+
    server_assignor: str | None
    topic_partitions: list[ConsumerGroupHeartbeatRequest.TopicPartitions] | None

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        subscribed_topic_names: list[str] | tuple[str, ...] | None = None,
        subscribed_topic_regex: str | None = None,
        server_assignor: str | None = None,
        topic_partitions: list[ConsumerGroupHeartbeatRequest.TopicPartitions] | None = None,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ConsumerGroupHeartbeatResponse(MessageObject):  # response 68, versions 0-1
    class Assignment(MessageObject):
        topic_partitions: list[ConsumerGroupHeartbeatResponse.TopicPartitions]

        def __init__(
            self,
            *,
            topic_partitions: list[ConsumerGroupHeartbeatResponse.TopicPartitions] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TopicPartitions(MessageObject):
        topic_id: Uuid
        partitions: tuple[int, ...]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    member_id: str | None
    member_epoch: int
    heartbeat_interval_ms: int
    assignment: ConsumerGroupHeartbeatResponse.Assignment | None

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: ConsumerGroupHeartbeatResponse.Assignment | None = None,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
