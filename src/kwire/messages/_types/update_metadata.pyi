# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class UpdateMetadataRequest(MessageObject):  # request 6, versions 0-8
    class UpdateMetadataTopicState(MessageObject):
        topic_name: str  # 5+
        topic_id: Uuid  # 7+
        partition_states: list[UpdateMetadataRequest.UpdateMetadataPartitionState]  # 5+

        def __init__(
            self,
            *,
            topic_name: str = "",
            topic_id: Uuid = ...,
            partition_states: list[UpdateMetadataRequest.UpdateMetadataPartitionState] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class UpdateMetadataPartitionState(MessageObject):
        topic_name: str  # 0-4
        partition_index: int
        controller_epoch: int
        leader: int
        leader_epoch: int
        isr: tuple[int, ...]
        zk_version: int
        replicas: tuple[int, ...]
        offline_replicas: tuple[int, ...]  # 4+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partition_index: int = 0,
            controller_epoch: int = 0,
            leader: int = 0,
            leader_epoch: int = 0,
            isr: list[int] | tuple[int, ...] = (),
            zk_version: int = 0,
            replicas: list[int] | tuple[int, ...] = (),
            offline_replicas: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class UpdateMetadataBroker(MessageObject):
        id: int
        endpoints: list[UpdateMetadataRequest.UpdateMetadataEndpoint]  # 1+
        rack: str | None  # 2+
        v0_host: str  # 0
        v0_port: int  # 0

        def __init__(
            self,
            *,
            id: int = 0,
            endpoints: list[UpdateMetadataRequest.UpdateMetadataEndpoint] = ...,
            rack: str | None = "",
            v0_host: str = "",
            v0_port: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class UpdateMetadataEndpoint(MessageObject):
        port: int  # 1+
        host: str  # 1+
        listener: str  # 3+
        security_protocol: int  # 1+

        def __init__(
            self,
            *,
            port: int = 0,
            host: str = "",
            listener: str = "",
            security_protocol: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    controller_id: int
    is_k_raft_controller: bool  # 8+
    type: int  # 8+, tag 0
    controller_epoch: int
    broker_epoch: int  # 5+
    topic_states: list[UpdateMetadataRequest.UpdateMetadataTopicState]  # 5+
    ungrouped_partition_states: list[UpdateMetadataRequest.UpdateMetadataPartitionState]  # 0-4
    live_brokers: list[UpdateMetadataRequest.UpdateMetadataBroker]

    def __init__(
        self,
        *,
        controller_id: int = 0,
        is_k_raft_controller: bool = False,
        type: int = 0,
        controller_epoch: int = 0,
        broker_epoch: int = -1,
        topic_states: list[UpdateMetadataRequest.UpdateMetadataTopicState] = ...,
        ungrouped_partition_states: list[UpdateMetadataRequest.UpdateMetadataPartitionState] = ...,
        live_brokers: list[UpdateMetadataRequest.UpdateMetadataBroker] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class UpdateMetadataResponse(MessageObject):  # response 6, versions 0-8
    error_code: int

    def __init__(self, *, error_code: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...
