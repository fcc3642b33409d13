# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class ReadShareGroupStateRequest(MessageObject):  # request 84, versions 0
    class ReadStateData(MessageObject):
        topic_id: Uuid
        partitions: list[ReadShareGroupStateRequest.PartitionData]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[ReadShareGroupStateRequest.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition: int
        leader_epoch: int

        def __init__(
            self, *, partition: int = 0, leader_epoch: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    group_id: str
    topics: list[ReadShareGroupStateRequest.ReadStateData]

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[ReadShareGroupStateRequest.ReadStateData] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ReadShareGroupStateResponse(MessageObject):  # response 84, versions 0
    class ReadStateResult(MessageObject):
        topic_id: Uuid
        partitions: list[ReadShareGroupStateResponse.PartitionResult]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[ReadShareGroupStateResponse.PartitionResult] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionResult(MessageObject):
        partition: int
        error_code: int
        error_message: str | None
        state_epoch: int
        start_offset: int
        state_batches: list[ReadShareGroupStateResponse.StateBatch]

        def __init__(
            self,
            *,
            partition: int = 0,
            error_code: int = 0,
            error_message: str | None = None,
            state_epoch: int = 0,
            start_offset: int = 0,
            state_batches: list[ReadShareGroupStateResponse.StateBatch] = ...,
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

    results: list[ReadShareGroupStateResponse.ReadStateResult]

    def __init__(
        self, *, results: list[ReadShareGroupStateResponse.ReadStateResult] = ..., unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...
