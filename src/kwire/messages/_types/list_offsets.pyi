# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class ListOffsetsRequest(MessageObject):  # request 2, versions 0-11
    class ListOffsetsTopic(MessageObject):
        name: str
        partitions: list[ListOffsetsRequest.ListOffsetsPartition]

        def __init__(
            self,
            *,
            name: str = "",
            partitions: list[ListOffsetsRequest.ListOffsetsPartition] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class ListOffsetsPartition(MessageObject):
        partition_index: int
        current_leader_epoch: int  # 4+
        timestamp: int
        max_num_offsets: int  # 0

        def __init__(
            self,
            *,
            partition_index: int = 0,
            current_leader_epoch: int = -1,
            timestamp: int = 0,
            max_num_offsets: int = 1,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    replica_id: int
    isolation_level: int  # 2+
    topics: list[ListOffsetsRequest.ListOffsetsTopic]
    timeout_ms: int  # 10+

    def __init__(
        self,
        *,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: list[ListOffsetsRequest.ListOffsetsTopic] = ...,
        timeout_ms: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ListOffsetsResponse(MessageObject):  # response 2, versions 0-11
    class ListOffsetsTopicResponse(MessageObject):
        name: str
        partitions: list[ListOffsetsResponse.ListOffsetsPartitionResponse]

        def __init__(
            self,
            *,
            name: str = "",
            partitions: list[ListOffsetsResponse.ListOffsetsPartitionResponse] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class ListOffsetsPartitionResponse(MessageObject):
        partition_index: int
        error_code: int
        timestamp: int  # 1+
        offset: int  # 1+
        leader_epoch: int  # 4+
        old_style_offsets: tuple[int, ...]  # 0

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            timestamp: int = -1,
            offset: int = -1,
            leader_epoch: int = -1,
            old_style_offsets: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int  # 2+
    topics: list[ListOffsetsResponse.ListOffsetsTopicResponse]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[ListOffsetsResponse.ListOffsetsTopicResponse] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
