# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class ListPartitionReassignmentsRequest(MessageObject):  # request 46, versions 0
    class ListPartitionReassignmentsTopics(MessageObject):
        name: str
        partition_indexes: tuple[int, ...]

        def __init__(
            self,
            *,
            name: str = "",
            partition_indexes: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    timeout_ms: int
    topics: list[ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics] | None

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        topics: list[ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics] | None = None,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ListPartitionReassignmentsResponse(MessageObject):  # response 46, versions 0
    class OngoingTopicReassignment(MessageObject):
        name: str
        partitions: list[ListPartitionReassignmentsResponse.OngoingPartitionReassignment]

        def __init__(
            self,
            *,
            name: str = "",
            partitions: list[ListPartitionReassignmentsResponse.OngoingPartitionReassignment] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class OngoingPartitionReassignment(MessageObject):
        partition_index: int
        replicas: tuple[int, ...]
        adding_replicas: tuple[int, ...]
        removing_replicas: tuple[int, ...]

        def __init__(
            self,
            *,
            partition_index: int = 0,
            replicas: list[int] | tuple[int, ...] = (),
            adding_replicas: list[int] | tuple[int, ...] = (),
            removing_replicas: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    topics: list[ListPartitionReassignmentsResponse.OngoingTopicReassignment]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[ListPartitionReassignmentsResponse.OngoingTopicReassignment] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
