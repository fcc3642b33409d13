# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class InitializeShareGroupStateRequest(MessageObject):  # request 83, versions 0
    class InitializeStateData(MessageObject):
        topic_id: Uuid
        partitions: list[InitializeShareGroupStateRequest.PartitionData]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[InitializeShareGroupStateRequest.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition: int
        state_epoch: int
        start_offset: int

        def __init__(
            self,
            *,
            partition: int = 0,
            state_epoch: int = 0,
            start_offset: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    group_id: str
    topics: list[InitializeShareGroupStateRequest.InitializeStateData]

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[InitializeShareGroupStateRequest.InitializeStateData] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class InitializeShareGroupStateResponse(MessageObject):  # response 83, versions 0
    class InitializeStateResult(MessageObject):
        topic_id: Uuid
        partitions: list[InitializeShareGroupStateResponse.PartitionResult]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[InitializeShareGroupStateResponse.PartitionResult] = ...,
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

    results: list[InitializeShareGroupStateResponse.InitializeStateResult]

    def __init__(
        self,
        *,
        results: list[InitializeShareGroupStateResponse.InitializeStateResult] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
