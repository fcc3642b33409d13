# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class OffsetFetchRequest(MessageObject):  # request 9, versions 0-10
    class OffsetFetchRequestGroup(MessageObject):
        group_id: str  # 8+
        member_id: str | None  # 9+
        member_epoch: int  # 9+
        topics: list[OffsetFetchRequest.OffsetFetchRequestTopics] | None  # 8+

        def __init__(
            self,
            *,
            group_id: str = "",
            member_id: str | None = None,
            member_epoch: int = -1,
            topics: list[OffsetFetchRequest.OffsetFetchRequestTopics] | None = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class OffsetFetchRequestTopics(MessageObject):
        topic_id: Uuid  # 10+
        name: str  # 8-9
        partition_indexes: tuple[int, ...]  # 8+

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            name: str = "",
            partition_indexes: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class OffsetFetchRequestTopic(MessageObject):
        name: str  # 0-7
        partition_indexes: tuple[int, ...]  # 0-7

        def __init__(
            self,
            *,
            name: str = "",
            partition_indexes: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    groups: list[OffsetFetchRequest.OffsetFetchRequestGroup]  # 8+
    group_id: str  # 0-7
    topics: list[OffsetFetchRequest.OffsetFetchRequestTopic] | None  # 0-7, null in 2+
    require_stable: bool  # 7+

    def __init__(
        self,
        *,
        groups: list[OffsetFetchRequest.OffsetFetchRequestGroup] = ...,
        group_id: str = "",
        topics: list[OffsetFetchRequest.OffsetFetchRequestTopic] | None = ...,
        require_stable: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class OffsetFetchResponse(MessageObject):  # response 9, versions 0-10
    class OffsetFetchResponseGroup(MessageObject):
        group_id: str  # 8+
        topics: list[OffsetFetchResponse.OffsetFetchResponseTopics]  # 8+
        error_code: int  # 8+

        def __init__(
            self,
            *,
            group_id: str = "",
            topics: list[OffsetFetchResponse.OffsetFetchResponseTopics] = ...,
            error_code: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class OffsetFetchResponseTopics(MessageObject):
        topic_id: Uuid  # 10+
        name: str  # 8-9
        partitions: list[OffsetFetchResponse.OffsetFetchResponsePartitions]  # 8+

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            name: str = "",
            partitions: list[OffsetFetchResponse.OffsetFetchResponsePartitions] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class OffsetFetchResponsePartitions(MessageObject):
        partition_index: int  # 8+
        committed_offset: int  # 8+
        committed_leader_epoch: int  # 8+
        metadata: str | None  # 8+
        error_code: int  # 8+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            committed_offset: int = 0,
            committed_leader_epoch: int = -1,
            metadata: str | None = "",
            error_code: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class OffsetFetchResponseTopic(MessageObject):
        name: str  # 0-7
        partitions: list[OffsetFetchResponse.OffsetFetchResponsePartition]  # 0-7

        def __init__(
            self,
            *,
            name: str = "",
            partitions: list[OffsetFetchResponse.OffsetFetchResponsePartition] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class OffsetFetchResponsePartition(MessageObject):
        partition_index: int  # 0-7
        committed_offset: int  # 0-7
        committed_leader_epoch: int  # 5-7
        metadata: str | None  # 0-7
        error_code: int  # 0-7

        def __init__(
            self,
            *,
            partition_index: int = 0,
            committed_offset: int = 0,
            committed_leader_epoch: int = -1,
            metadata: str | None = "",
            error_code: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int  # 3+
    groups: list[OffsetFetchResponse.OffsetFetchResponseGroup]  # 8+
    topics: list[OffsetFetchResponse.OffsetFetchResponseTopic]  # 0-7
    error_code: int  # 2-7

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[OffsetFetchResponse.OffsetFetchResponseGroup] = ...,
        topics: list[OffsetFetchResponse.OffsetFetchResponseTopic] = ...,
        error_code: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
