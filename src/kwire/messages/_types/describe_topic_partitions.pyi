# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class DescribeTopicPartitionsRequest(MessageObject):  # request 75, versions 0
    class TopicRequest(MessageObject):
        name: str

        def __init__(self, *, name: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    class Cursor(MessageObject):
        topic_name: str
        partition_index: int

        def __init__(
            self, *, topic_name: str = "", partition_index: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    topics: list[DescribeTopicPartitionsRequest.TopicRequest]
    response_partition_limit: int
    cursor: DescribeTopicPartitionsRequest.Cursor | None

    def __init__(
        self,
        *,
        topics: list[DescribeTopicPartitionsRequest.TopicRequest] = ...,
        response_partition_limit: int = 2000,
        cursor: DescribeTopicPartitionsRequest.Cursor | None = None,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class DescribeTopicPartitionsResponse(MessageObject):  # response 75, versions 0
    class DescribeTopicPartitionsResponseTopic(MessageObject):
        error_code: int
        name: str | None
        topic_id: Uuid
        is_internal: bool
        partitions: list[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition]
        topic_authorized_operations: int

        def __init__(
            self,
            *,
            error_code: int = 0,
            name: str | None = "",
            topic_id: Uuid = ...,
            is_internal: bool = False,
            partitions: list[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition] = ...,
            topic_authorized_operations: int = -2147483648,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class DescribeTopicPartitionsResponsePartition(MessageObject):
        error_code: int
        partition_index: int
        leader_id: int
        leader_epoch: int
        replica_nodes: tuple[int, ...]
        isr_nodes: tuple[int, ...]
        eligible_leader_replicas: tuple[int, ...] | None
        last_known_elr: tuple[int, ...] | None
        offline_replicas: tuple[int, ...]

        def __init__(
            self,
            *,
            error_code: int = 0,
            partition_index: int = 0,
            leader_id: int = 0,
            leader_epoch: int = -1,
            replica_nodes: list[int] | tuple[int, ...] = (),
            isr_nodes: list[int] | tuple[int, ...] = (),
            eligible_leader_replicas: list[int] | tuple[int, ...] | None = None,
            last_known_elr: list[int] | tuple[int, ...] | None = None,
            offline_replicas: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class Cursor(MessageObject):
        topic_name: str
        partition_index: int

        def __init__(
            self, *, topic_name: str = "", partition_index: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    throttle_time_ms: int
    topics: list[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic]
    next_cursor: DescribeTopicPartitionsResponse.Cursor | None

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic] = ...,
        next_cursor: DescribeTopicPartitionsResponse.Cursor | None = None,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
