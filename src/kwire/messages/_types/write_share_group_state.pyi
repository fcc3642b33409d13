# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class WriteShareGroupStateRequest(MessageObject):  # request 85, versions 0-1
    class WriteStateData(MessageObject):
        topic_id: Uuid
        partitions: list[WriteShareGroupStateRequest.PartitionData]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[WriteShareGroupStateRequest.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition: int
        state_epoch: int
        leader_epoch: int
        start_offset: int
        delivery_complete_count: int  # 1+
        state_batches: list[WriteShareGroupStateRequest.StateBatch]

        def __init__(
            self,
            *,
            partition: int = 0,
            state_epoch: int = 0,
            leader_epoch: int = 0,
            start_offset: int = 0,
            delivery_complete_count: int = -1,
            state_batches: list[WriteShareGroupStateRequest.StateBatch] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class StateBatch(MessageObject):
        first_offset: int
        last_offset: int
        delivery_state: int
        delivery_count: int

        def __init__(
            self,
            *,
            first_offset: int = 0,
            last_offset: int = 0,
            delivery_state: int = 0,
            delivery_count: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    group_id: str
    topics: list[WriteShareGroupStateRequest.WriteStateData]

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[WriteShareGroupStateRequest.WriteStateData] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class WriteShareGroupStateResponse(MessageObject):  # response 85, versions 0-1
    class WriteStateResult(MessageObject):
        topic_id: Uuid
        partitions: list[WriteShareGroupStateResponse.PartitionResult]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[WriteShareGroupStateResponse.PartitionResult] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionResult(MessageObject):
        partition: int
        error_code: int
        error_message: str | None

        def __init__(
            self,
            *,
            partition: int = 0,
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    results: list[WriteShareGroupStateResponse.WriteStateResult]

    def __init__(
        self, *, results: list[WriteShareGroupStateResponse.WriteStateResult] = ..., unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...
