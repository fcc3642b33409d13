# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class OffsetForLeaderEpochRequest(MessageObject):  # request 23, versions 0-4
    class OffsetForLeaderTopic(MessageObject):
        topic: str
        partitions: list[OffsetForLeaderEpochRequest.OffsetForLeaderPartition]

        def __init__(
            self,
            *,
            topic: str = "",
            partitions: list[OffsetForLeaderEpochRequest.OffsetForLeaderPartition] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class OffsetForLeaderPartition(MessageObject):
        partition: int
        current_leader_epoch: int  # 2+
        leader_epoch: int

        def __init__(
            self,
            *,
            partition: int = 0,
            current_leader_epoch: int = -1,
            leader_epoch: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    replica_id: int  # 3+
    topics: list[OffsetForLeaderEpochRequest.OffsetForLeaderTopic]

    def __init__(
        self,
        *,
        replica_id: int = -2,
        topics: list[OffsetForLeaderEpochRequest.OffsetForLeaderTopic] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class OffsetForLeaderEpochResponse(MessageObject):  # response 23, versions 0-4
    class OffsetForLeaderTopicResult(MessageObject):
        topic: str
        partitions: list[OffsetForLeaderEpochResponse.EpochEndOffset]

        def __init__(
            self,
            *,
            topic: str = "",
            partitions: list[OffsetForLeaderEpochResponse.EpochEndOffset] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class EpochEndOffset(MessageObject):
        error_code: int
        partition: int
        leader_epoch: int  # 1+
        end_offset: int

        def __init__(
            self,
            *,
            error_code: int = 0,
            partition: int = 0,
            leader_epoch: int = -1,
            end_offset: int = -1,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int  # 2+
    topics: list[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
