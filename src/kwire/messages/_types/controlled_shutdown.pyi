# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class ControlledShutdownRequest(MessageObject):  # request 7, versions 0-3
    broker_id: int
    broker_epoch: int  # 2+

    def __init__(self, *, broker_id: int = 0, broker_epoch: int = -1, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ControlledShutdownResponse(MessageObject):  # response 7, versions 0-3
    class RemainingPartition(MessageObject):
        topic_name: str
        partition_index: int

        def __init__(
            self, *, topic_name: str = "", partition_index: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    error_code: int
    remaining_partitions: list[ControlledShutdownResponse.RemainingPartition]

    def __init__(
        self,
        *,
        error_code: int = 0,
        remaining_partitions: list[ControlledShutdownResponse.RemainingPartition] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
