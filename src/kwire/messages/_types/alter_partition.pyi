# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class AlterPartitionRequest(MessageObject):  # request 56, versions 0-3
    class TopicData(MessageObject):
        topic_id: Uuid  # 2+
        topic_name: str  # 0-1
        partitions: list[AlterPartitionRequest.PartitionData]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            topic_name: str = "",
            partitions: list[AlterPartitionRequest.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int
        leader_epoch: int
        new_isr_with_epochs: list[AlterPartitionRequest.BrokerState]  # 3+
        new_isr: tuple[int, ...]  # 0-2
        leader_recovery_state: int  # 1+
        partition_epoch: int

        def __init__(
            self,
            *,
            partition_index: int = 0,
            leader_epoch: int = 0,
            new_isr_with_epochs: list[AlterPartitionRequest.BrokerState] = ...,
            new_isr: list[int] | tuple[int, ...] = (),
            leader_recovery_state: int = 0,
            partition_epoch: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class BrokerState(MessageObject):
        broker_id: int  # 3+
        broker_epoch: int  # 3+

        def __init__(
            self, *, broker_id: int = 0, broker_epoch: int = -1, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    broker_id: int
    broker_epoch: int
    topics: list[AlterPartitionRequest.TopicData]

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: list[AlterPartitionRequest.TopicData] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class AlterPartitionResponse(MessageObject):  # response 56, versions 0-3
    class TopicData(MessageObject):
        topic_id: Uuid  # 2+
        topic_name: str  # 0-1
        partitions: list[AlterPartitionResponse.PartitionData]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            topic_name: str = "",
            partitions: list[AlterPartitionResponse.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int
        error_code: int
        leader_id: int
        leader_epoch: int
        isr: tuple[int, ...]
        leader_recovery_state: int  # 1+
        partition_epoch: int

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            leader_id: int = 0,
            leader_epoch: int = 0,
            isr: list[int] | tuple[int, ...] = (),
            leader_recovery_state: int = 0,
            partition_epoch: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    topics: list[AlterPartitionResponse.TopicData]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[AlterPartitionResponse.TopicData] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
