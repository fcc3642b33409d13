# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class TxnOffsetCommitRequest(MessageObject):  # request 28, versions 0-6
    class TxnOffsetCommitRequestTopic(MessageObject):
        topic_id: Uuid  # 6+
        name: str  # 0-5
        partitions: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            name: str = "",
            partitions: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TxnOffsetCommitRequestPartition(MessageObject):
        partition_index: int
        committed_offset: int
        committed_leader_epoch: int  # 2+
        committed_metadata: str | None

        def __init__(
            self,
            *,
            partition_index: int = 0,
            committed_offset: int = 0,
            committed_leader_epoch: int = -1,
            committed_metadata: str | None = "",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    transactional_id: str
    group_id: str
    producer_id: int
    producer_epoch: int
    generation_id_or_member_epoch: int  # 3+
    member_id: str  # 3+
    group_instance_id: str | None  # 3+
    topics: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic]

    def __init__(
        self,
        *,
        transactional_id: str = "",
        group_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        topics: list[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class TxnOffsetCommitResponse(MessageObject):  # response 28, versions 0-6
    class TxnOffsetCommitResponseTopic(MessageObject):
        topic_id: Uuid  # 6+
        name: str  # 0-5
        partitions: list[TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            name: str = "",
            partitions: list[TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TxnOffsetCommitResponsePartition(MessageObject):
        partition_index: int
        error_code: int

        def __init__(
            self, *, partition_index: int = 0, error_code: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    throttle_time_ms: int
    topics: list[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
