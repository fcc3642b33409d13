# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class OffsetCommitRequest(MessageObject):  # request 8, versions 0-10
    class OffsetCommitRequestTopic(MessageObject):
        topic_id: Uuid  # 10+
        name: str  # 0-9
        partitions: list[OffsetCommitRequest.OffsetCommitRequestPartition]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            name: str = "",
            partitions: list[OffsetCommitRequest.OffsetCommitRequestPartition] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class OffsetCommitRequestPartition(MessageObject):
        partition_index: int
        committed_offset: int
        committed_leader_epoch: int  # 6+
        commit_timestamp: int  # 1
        committed_metadata: str | None

        def __init__(
            self,
            *,
            partition_index: int = 0,
            committed_offset: int = 0,
            committed_leader_epoch: int = -1,
            commit_timestamp: int = -1,
            committed_metadata: str | None = "",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    group_id: str
    generation_id_or_member_epoch: int  # 1+
    member_id: str  # 1+
    group_instance_id: str | None  # 7+
    retention_time_ms: int  # 2-4
    topics: list[OffsetCommitRequest.OffsetCommitRequestTopic]

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: list[OffsetCommitRequest.OffsetCommitRequestTopic] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class OffsetCommitResponse(MessageObject):  # response 8, versions 0-10
    class OffsetCommitResponseTopic(MessageObject):
        topic_id: Uuid  # 10+
        name: str  # 0-9
        partitions: list[OffsetCommitResponse.OffsetCommitResponsePartition]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            name: str = "",
            partitions: list[OffsetCommitResponse.OffsetCommitResponsePartition] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class OffsetCommitResponsePartition(MessageObject):
        partition_index: int
        error_code: int

        def __init__(
            self, *, partition_index: int = 0, error_code: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    throttle_time_ms: int  # 3+
    topics: list[OffsetCommitResponse.OffsetCommitResponseTopic]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[OffsetCommitResponse.OffsetCommitResponseTopic] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
