# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class VoteRequest(MessageObject):  # request 52, versions 0-2
    class TopicData(MessageObject):
        topic_name: str
        partitions: list[VoteRequest.PartitionData]

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: list[VoteRequest.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int
        replica_epoch: int
        replica_id: int
        replica_directory_id: Uuid  # 1+
        voter_directory_id: Uuid  # 1+
        last_offset_epoch: int
        last_offset: int
        pre_vote: bool  # 2+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            replica_epoch: int = 0,
            replica_id: int = 0,
            replica_directory_id: Uuid = ...,
            voter_directory_id: Uuid = ...,
            last_offset_epoch: int = 0,
            last_offset: int = 0,
            pre_vote: bool = False,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    cluster_id: str | None
    voter_id: int  # 1+
    topics: list[VoteRequest.TopicData]

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: list[VoteRequest.TopicData] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class VoteResponse(MessageObject):  # response 52, versions 0-2
    class TopicData(MessageObject):
        topic_name: str
        partitions: list[VoteResponse.PartitionData]

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: list[VoteResponse.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int
        error_code: int
        leader_id: int
        leader_epoch: int
        vote_granted: bool

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            leader_id: int = 0,
            leader_epoch: int = 0,
            vote_granted: bool = False,
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
    topics: list[VoteResponse.TopicData]
    node_endpoints: list[VoteResponse.NodeEndpoint]  # 1+, tag 0

    def __init__(
        self,
        *,
        error_code: int = 0,
        topics: list[VoteResponse.TopicData] = ...,
        node_endpoints: list[VoteResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
