# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class BeginQuorumEpochRequest(MessageObject):  # request 53, versions 0-1
    class TopicData(MessageObject):
        topic_name: str
        partitions: list[BeginQuorumEpochRequest.PartitionData]

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: list[BeginQuorumEpochRequest.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int
        voter_directory_id: Uuid  # 1+
        leader_id: int
        leader_epoch: int

        def __init__(
            self,
            *,
            partition_index: int = 0,
            voter_directory_id: Uuid = ...,
            leader_id: int = 0,
            leader_epoch: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class LeaderEndpoint(MessageObject):
        name: str  # 1+
        host: str  # 1+
        port: int  # 1+

        def __init__(
            self, *, name: str = "", host: str = "", port: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    cluster_id: str | None
    voter_id: int  # 1+
    topics: list[BeginQuorumEpochRequest.TopicData]
    leader_endpoints: list[BeginQuorumEpochRequest.LeaderEndpoint]  # 1+

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: list[BeginQuorumEpochRequest.TopicData] = ...,
        leader_endpoints: list[BeginQuorumEpochRequest.LeaderEndpoint] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class BeginQuorumEpochResponse(MessageObject):  # response 53, versions 0-1
    class TopicData(MessageObject):
        topic_name: str
        partitions: list[BeginQuorumEpochResponse.PartitionData]

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: list[BeginQuorumEpochResponse.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int
        error_code: int
        leader_id: int
        leader_epoch: int

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            leader_id: int = 0,
            leader_epoch: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class NodeEndpoint(MessageObject):
        node_id: int  # 1+
        host: str  # 1+
        port: int  # 1+

        def __init__(
            self, *, node_id: int = 0, host: str = "", port: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    error_code: int
    topics: list[BeginQuorumEpochResponse.TopicData]
    node_endpoints: list[BeginQuorumEpochResponse.NodeEndpoint]  # 1+, tag 0

    def __init__(
        self,
        *,
        error_code: int = 0,
        topics: list[BeginQuorumEpochResponse.TopicData] = ...,
        node_endpoints: list[BeginQuorumEpochResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
