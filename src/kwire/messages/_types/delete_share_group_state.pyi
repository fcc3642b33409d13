# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class DeleteShareGroupStateRequest(MessageObject):  # request 86, versions 0
    class DeleteStateData(MessageObject):
        topic_id: Uuid
        partitions: list[DeleteShareGroupStateRequest.PartitionData]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[DeleteShareGroupStateRequest.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition: int

        def __init__(self, *, partition: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    group_id: str
    topics: list[DeleteShareGroupStateRequest.DeleteStateData]

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DeleteShareGroupStateRequest.DeleteStateData] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class DeleteShareGroupStateResponse(MessageObject):  # response 86, versions 0
    class DeleteStateResult(MessageObject):
        topic_id: Uuid
        partitions: list[DeleteShareGroupStateResponse.PartitionResult]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[DeleteShareGroupStateResponse.PartitionResult] = ...,
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

    results: list[DeleteShareGroupStateResponse.DeleteStateResult]

    def __init__(
        self,
        *,
        results: list[DeleteShareGroupStateResponse.DeleteStateResult] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
