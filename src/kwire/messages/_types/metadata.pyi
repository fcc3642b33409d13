# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class MetadataRequest(MessageObject):  # request 3, versions 0-13
    class MetadataRequestTopic(MessageObject):
        topic_id: Uuid  # 10+
        name: str | None  # null in 10+

        def __init__(
            self, *, topic_id: Uuid = ..., name: str | None = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    topics: list[MetadataRequest.MetadataRequestTopic] | None  # null in 1+
    allow_auto_topic_creation: bool  # 4+
    include_cluster_authorized_operations: bool  # 8-10
    include_topic_authorized_operations: bool  # 8+

    def __init__(
        self,
        *,
        topics: list[MetadataRequest.MetadataRequestTopic] | None = ...,
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class MetadataResponse(MessageObject):  # response 3, versions 0-13
    class MetadataResponseBroker(MessageObject):
        node_id: int
        host: str
        port: int
        rack: str | None  # 1+

        def __init__(
            self,
            *,
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            rack: str | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class MetadataResponseTopic(MessageObject):
        error_code: int
        name: str | None  # null in 12+
        topic_id: Uuid  # 10+
        is_internal: bool  # 1+
        partitions: list[MetadataResponse.MetadataResponsePartition]
        topic_authorized_operations: int  # 8+

        def __init__(
            self,
            *,
            error_code: int = 0,
            name: str | None = "",
            topic_id: Uuid = ...,
            is_internal: bool = False,
            partitions: list[MetadataResponse.MetadataResponsePartition] = ...,
            topic_authorized_operations: int = -2147483648,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class MetadataResponsePartition(MessageObject):
        error_code: int
        partition_index: int
        leader_id: int
        leader_epoch: int  # 7+
        replica_nodes: tuple[int, ...]
        isr_nodes: tuple[int, ...]
        offline_replicas: tuple[int, ...]  # 5+

        def __init__(
            self,
            *,
            error_code: int = 0,
            partition_index: int = 0,
            leader_id: int = 0,
            leader_epoch: int = -1,
            replica_nodes: list[int] | tuple[int, ...] = (),
            isr_nodes: list[int] | tuple[int, ...] = (),
            offline_replicas: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int  # 3+
    brokers: list[MetadataResponse.MetadataResponseBroker]
    cluster_id: str | None  # 2+
    controller_id: int  # 1+
    topics: list[MetadataResponse.MetadataResponseTopic]
    error_code: int  # 13+
    cluster_authorized_operations: int  # 8-10

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        brokers: list[MetadataResponse.MetadataResponseBroker] = ...,
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: list[MetadataResponse.MetadataResponseTopic] = ...,
        error_code: int = 0,
        cluster_authorized_operations: int = -2147483648,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
