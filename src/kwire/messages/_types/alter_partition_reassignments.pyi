# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class AlterPartitionReassignmentsRequest(MessageObject):  # request 45, versions 0-1
    class ReassignableTopic(MessageObject):
        name: str
        partitions: list[AlterPartitionReassignmentsRequest.ReassignablePartition]

        def __init__(
            self,
            *,
            name: str = "",
            partitions: list[AlterPartitionReassignmentsRequest.ReassignablePartition] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class ReassignablePartition(MessageObject):
        partition_index: int
        replicas: tuple[int, ...] | None

        def __init__(
            self,
            *,
            partition_index: int = 0,
            replicas: list[int] | tuple[int, ...] | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    timeout_ms: int
    allow_replication_factor_change: bool  # 1+
    topics: list[AlterPartitionReassignmentsRequest.ReassignableTopic]

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: list[AlterPartitionReassignmentsRequest.ReassignableTopic] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class AlterPartitionReassignmentsResponse(MessageObject):  # response 45, versions 0-1
    class ReassignableTopicResponse(MessageObject):
        name: str
        partitions: list[AlterPartitionReassignmentsResponse.ReassignablePartitionResponse]

        def __init__(
            self,
            *,
            name: str = "",
            partitions: list[AlterPartitionReassignmentsResponse.ReassignablePartitionResponse] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class ReassignablePartitionResponse(MessageObject):
        partition_index: int
        error_code: int
        error_message: str | None

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            error_message: str | None = "",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    allow_replication_factor_change: bool  # 1+
    error_code: int
    error_message: str | None
    responses: list[AlterPartitionReassignmentsResponse.ReassignableTopicResponse]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: list[AlterPartitionReassignmentsResponse.ReassignableTopicResponse] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
