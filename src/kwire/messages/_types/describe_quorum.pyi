# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class DescribeQuorumRequest(MessageObject):  # request 55, versions 0-2
    class TopicData(MessageObject):
        topic_name: str
        partitions: list[DescribeQuorumRequest.PartitionData]

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: list[DescribeQuorumRequest.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int

        def __init__(self, *, partition_index: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    topics: list[DescribeQuorumRequest.TopicData]

    def __init__(
        self, *, topics: list[DescribeQuorumRequest.TopicData] = ..., unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class DescribeQuorumResponse(MessageObject):  # response 55, versions 0-2
    class TopicData(MessageObject):
        topic_name: str
        partitions: list[DescribeQuorumResponse.PartitionData]

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: list[DescribeQuorumResponse.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int
        error_code: int
        error_message: str | None  # 2+
        leader_id: int
        leader_epoch: int
        high_watermark: int
        current_voters: list[DescribeQuorumResponse.ReplicaState]
        observers: list[DescribeQuorumResponse.ReplicaState]

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            error_message: str | None = "",
            leader_id: int = 0,
            leader_epoch: int = 0,
            high_watermark: int = 0,
            current_voters: list[DescribeQuorumResponse.ReplicaState] = ...,
            observers: list[DescribeQuorumResponse.ReplicaState] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class ReplicaState(MessageObject):
        replica_id: int
        replica_directory_id: Uuid  # 2+
        log_end_offset: int
        last_fetch_timestamp: int  # 1+
        last_caught_up_timestamp: int  # 1+

        def __init__(
            self,
            *,
            replica_id: int = 0,
            replica_directory_id: Uuid = ...,
            log_end_offset: int = 0,
            last_fetch_timestamp: int = -1,
            last_caught_up_timestamp: int = -1,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class Node(MessageObject):
        node_id: int  # 2+
        listeners: list[DescribeQuorumResponse.Listener]  # 2+

        def __init__(
            self,
            *,
            node_id: int = 0,
            listeners: list[DescribeQuorumResponse.Listener] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class Listener(MessageObject):
        name: str  # 2+
        host: str  # 2+
        port: int  # 2+

        def __init__(
            self, *, name: str = "", host: str = "", port: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    error_code: int
    error_message: str | None  # 2+
    topics: list[DescribeQuorumResponse.TopicData]
    nodes: list[DescribeQuorumResponse.Node]  # 2+

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[DescribeQuorumResponse.TopicData] = ...,
        nodes: list[DescribeQuorumResponse.Node] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
