# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class AlterIsrRequest(MessageObject):  # request 56, versions 0
    class TopicData(MessageObject):
        name: str
        partitions: list[AlterIsrRequest.PartitionData]

        def __init__(
            self,
            *,
            name: str = "",
            partitions: list[AlterIsrRequest.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int
        leader_epoch: int
        new_isr: tuple[int, ...]
        current_isr_version: int

        def __init__(
            self,
            *,
            partition_index: int = 0,
            leader_epoch: int = 0,
            new_isr: list[int] | tuple[int, ...] = (),
            current_isr_version: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    broker_id: int
    broker_epoch: int
    topics: list[AlterIsrRequest.TopicData]

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: list[AlterIsrRequest.TopicData] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class AlterIsrResponse(MessageObject):  # response 56, versions 0
    class TopicData(MessageObject):
        name: str
        partitions: list[AlterIsrResponse.PartitionData]

        def __init__(
            self,
            *,
            name: str = "",
            partitions: list[AlterIsrResponse.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int
        error_code: int
        leader_id: int
        leader_epoch: int
        isr: tuple[int, ...]
        current_isr_version: int

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            leader_id: int = 0,
            leader_epoch: int = 0,
            isr: list[int] | tuple[int, ...] = (),
            current_isr_version: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    topics: list[AlterIsrResponse.TopicData]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[AlterIsrResponse.TopicData] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
