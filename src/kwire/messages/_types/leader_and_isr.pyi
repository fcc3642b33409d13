# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class LeaderAndIsrRequest(MessageObject):  # request 4, versions 0-7
    class LeaderAndIsrTopicState(MessageObject):
        topic_name: str  # 2+
        topic_id: Uuid  # 5+
        partition_states: list[LeaderAndIsrRequest.LeaderAndIsrPartitionState]  # 2+

        def __init__(
            self,
            *,
            topic_name: str = "",
            topic_id: Uuid = ...,
            partition_states: list[LeaderAndIsrRequest.LeaderAndIsrPartitionState] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class LeaderAndIsrPartitionState(MessageObject):
        topic_name: str  # 0-1
        partition_index: int
        controller_epoch: int
        leader: int
        leader_epoch: int
        isr: tuple[int, ...]
        partition_epoch: int
        replicas: tuple[int, ...]
        adding_replicas: tuple[int, ...]  # 3+
        removing_replicas: tuple[int, ...]  # 3+
        is_new: bool  # 1+
        leader_recovery_state: int  # 6+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partition_index: int = 0,
            controller_epoch: int = 0,
            leader: int = 0,
            leader_epoch: int = 0,
            isr: list[int] | tuple[int, ...] = (),
            partition_epoch: int = 0,
            replicas: list[int] | tuple[int, ...] = (),
            adding_replicas: list[int] | tuple[int, ...] = (),
            removing_replicas: list[int] | tuple[int, ...] = (),
            is_new: bool = False,
            leader_recovery_state: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class LeaderAndIsrLiveLeader(MessageObject):
        broker_id: int
        host_name: str
        port: int

        def __init__(
            self, *, broker_id: int = 0, host_name: str = "", port: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    controller_id: int
    is_k_raft_controller: bool  # 7+
    controller_epoch: int
    broker_epoch: int  # 2+
    type: int  # 5+
    topic_states: list[LeaderAndIsrRequest.LeaderAndIsrTopicState]  # 2+
    ungrouped_partition_states: list[LeaderAndIsrRequest.LeaderAndIsrPartitionState]  # 0-1
    live_leaders: list[LeaderAndIsrRequest.LeaderAndIsrLiveLeader]

    def __init__(
        self,
        *,
        controller_id: int = 0,
        is_k_raft_controller: bool = False,
        controller_epoch: int = 0,
        broker_epoch: int = -1,
        type: int = 0,
        topic_states: list[LeaderAndIsrRequest.LeaderAndIsrTopicState] = ...,
        ungrouped_partition_states: list[LeaderAndIsrRequest.LeaderAndIsrPartitionState] = ...,
        live_leaders: list[LeaderAndIsrRequest.LeaderAndIsrLiveLeader] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class LeaderAndIsrResponse(MessageObject):  # response 4, versions 0-7
    class LeaderAndIsrTopicError(MessageObject):
        topic_id: Uuid  # 5+
        partition_errors: list[LeaderAndIsrResponse.LeaderAndIsrPartitionError]  # 5+

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partition_errors: list[LeaderAndIsrResponse.LeaderAndIsrPartitionError] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class LeaderAndIsrPartitionError(MessageObject):
        topic_name: str  # 0-4
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
    topics: list[LeaderAndIsrResponse.LeaderAndIsrTopicError]  # 5+
    partition_errors: list[LeaderAndIsrResponse.LeaderAndIsrPartitionError]  # 0-4

    def __init__(
        self,
        *,
        error_code: int = 0,
        topics: list[LeaderAndIsrResponse.LeaderAndIsrTopicError] = ...,
        partition_errors: list[LeaderAndIsrResponse.LeaderAndIsrPartitionError] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
