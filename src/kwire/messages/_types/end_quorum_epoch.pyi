# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class EndQuorumEpochRequest(MessageObject):  # request 54, versions 0-1
    class TopicData(MessageObject):
        topic_name: str
        partitions: list[EndQuorumEpochRequest.PartitionData]

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: list[EndQuorumEpochRequest.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int
        leader_id: int
        leader_epoch: int
        preferred_candidates: list[EndQuorumEpochRequest.ReplicaInfo]  # 1+
        preferred_successors: tuple[int, ...]  # 0

        def __init__(
            self,
            *,
            partition_index: int = 0,
            leader_id: int = 0,
            leader_epoch: int = 0,
            preferred_candidates: list[EndQuorumEpochRequest.ReplicaInfo] = ...,
            preferred_successors: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class ReplicaInfo(MessageObject):
        candidate_id: int  # 1+
        candidate_directory_id: Uuid  # 1+

        def __init__(
            self, *, candidate_id: int = 0, candidate_directory_id: Uuid = ..., unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    class LeaderEndpoint(MessageObject):
        name: str  # 1+
        host: str  # 1+
        port: int  # 1+

        def __init__(
            self, *, name: str = "", host: str = "", port: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    cluster_id: str | None
    topics: list[EndQuorumEpochRequest.TopicData]
    leader_endpoints: list[EndQuorumEpochRequest.LeaderEndpoint]  # 1+

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        topics: list[EndQuorumEpochRequest.TopicData] = ...,
        leader_endpoints: list[EndQuorumEpochRequest.LeaderEndpoint] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class EndQuorumEpochResponse(MessageObject):  # response 54, versions 0-1
    class TopicData(MessageObject):
        topic_name: str
        partitions: list[EndQuorumEpochResponse.PartitionData]

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: list[EndQuorumEpochResponse.PartitionData] = ...,
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
    topics: list[EndQuorumEpochResponse.TopicData]
    node_endpoints: list[EndQuorumEpochResponse.NodeEndpoint]  # 1+, tag 0

    def __init__(
        self,
        *,
        error_code: int = 0,
        topics: list[EndQuorumEpochResponse.TopicData] = ...,
        node_endpoints: list[EndQuorumEpochResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
