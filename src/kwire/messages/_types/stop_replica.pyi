# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class StopReplicaRequest(MessageObject):  # request 5, versions 0-4
    class StopReplicaTopicState(MessageObject):
        topic_name: str  # 3+
        partition_states: list[StopReplicaRequest.StopReplicaPartitionState]  # 3+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partition_states: list[StopReplicaRequest.StopReplicaPartitionState] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class StopReplicaPartitionState(MessageObject):
        partition_index: int  # 3+
        leader_epoch: int  # 3+
        delete_partition: bool  # 3+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            leader_epoch: int = -1,
            delete_partition: bool = False,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class StopReplicaTopicV1(MessageObject):
        name: str  # 1-2
        partition_indexes: tuple[int, ...]  # 1-2

        def __init__(
            self,
            *,
            name: str = "",
            partition_indexes: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class StopReplicaPartitionV0(MessageObject):
        topic_name: str  # 0
        partition_index: int  # 0

        def __init__(
            self, *, topic_name: str = "", partition_index: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    controller_id: int
    is_k_raft_controller: bool  # 4+
    controller_epoch: int
    broker_epoch: int  # 1+
    topic_states: list[StopReplicaRequest.StopReplicaTopicState]  # 3+
    delete_partitions: bool  # 0-2
    topics: list[StopReplicaRequest.StopReplicaTopicV1]  # 1-2
    ungrouped_partitions: list[StopReplicaRequest.StopReplicaPartitionV0]  # 0

    def __init__(
        self,
        *,
        controller_id: int = 0,
        is_k_raft_controller: bool = False,
        controller_epoch: int = 0,
        broker_epoch: int = -1,
        topic_states: list[StopReplicaRequest.StopReplicaTopicState] = ...,
        delete_partitions: bool = False,
        topics: list[StopReplicaRequest.StopReplicaTopicV1] = ...,
        ungrouped_partitions: list[StopReplicaRequest.StopReplicaPartitionV0] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class StopReplicaResponse(MessageObject):  # response 5, versions 0-4
    class StopReplicaPartitionError(MessageObject):
        topic_name: str
        partition_index: int
        error_code: int

        def __init__(
            self,
            *,
            topic_name: str = "",
            partition_index: int = 0,
            error_code: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    error_code: int
    partition_errors: list[StopReplicaResponse.StopReplicaPartitionError]

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition_errors: list[StopReplicaResponse.StopReplicaPartitionError] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
