# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class FetchRequest(MessageObject):  # request 1, versions 0-18
    class ReplicaState(MessageObject):
        replica_id: int  # 15+
        replica_epoch: int  # 15+

        def __init__(
            self, *, replica_id: int = -1, replica_epoch: int = -1, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    class FetchTopic(MessageObject):
        topic_id: Uuid  # 13+
        topic: str  # 0-12
        partitions: list[FetchRequest.FetchPartition]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            topic: str = "",
            partitions: list[FetchRequest.FetchPartition] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class FetchPartition(MessageObject):
        partition: int
        current_leader_epoch: int  # 9+
        fetch_offset: int
        last_fetched_epoch: int  # 12+
        log_start_offset: int  # 5+
        partition_max_bytes: int
        replica_directory_id: Uuid  # 17+, tag 0
        high_watermark: int  # 18+, tag 1

        def __init__(
            self,
            *,
            partition: int = 0,
            current_leader_epoch: int = -1,
            fetch_offset: int = 0,
            last_fetched_epoch: int = -1,
            log_start_offset: int = -1,
            partition_max_bytes: int = 0,
            replica_directory_id: Uuid = ...,
            high_watermark: int = 9223372036854775807,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class ForgottenTopic(MessageObject):
        topic_id: Uuid  # 13+
        topic: str  # 7-12
        partitions: tuple[int, ...]  # 7+

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            topic: str = "",
            partitions: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    cluster_id: str | None  # 12+, tag 0
    replica_state: FetchRequest.ReplicaState  # 15+, tag 1
    replica_id: int  # 0-14
    max_wait_ms: int
    min_bytes: int
    max_bytes: int  # 3+
    isolation_level: int  # 4+
    session_id: int  # 7+
    session_epoch: int  # 7+
    topics: list[FetchRequest.FetchTopic]
    forgotten_topics_data: list[FetchRequest.ForgottenTopic]  # 7+
    rack_id: str  # 11+

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        replica_state: FetchRequest.ReplicaState = ...,
        replica_id: int = -1,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: list[FetchRequest.FetchTopic] = ...,
        forgotten_topics_data: list[FetchRequest.ForgottenTopic] = ...,
        rack_id: str = "",
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class FetchResponse(MessageObject):  # response 1, versions 0-18
    class FetchableTopicResponse(MessageObject):
        topic_id: Uuid  # 13+
        topic: str  # 0-12
        partitions: list[FetchResponse.PartitionData]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            topic: str = "",
            partitions: list[FetchResponse.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int
        error_code: int
        high_watermark: int
        last_stable_offset: int  # 4+
        log_start_offset: int  # 5+
        diverging_epoch: FetchResponse.EpochEndOffset  # 12+, tag 0
        current_leader: FetchResponse.LeaderIdAndEpoch  # 12+, tag 1
        snapshot_id: FetchResponse.SnapshotId  # 12+, tag 2
        aborted_transactions: list[FetchResponse.AbortedTransaction] | None  # 4+
        preferred_read_replica: int  # 11+
        records: bytes | None

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            high_watermark: int = 0,
            last_stable_offset: int = -1,
            log_start_offset: int = -1,
            diverging_epoch: FetchResponse.EpochEndOffset = ...,
            current_leader: FetchResponse.LeaderIdAndEpoch = ...,
            snapshot_id: FetchResponse.SnapshotId = ...,
            aborted_transactions: list[FetchResponse.AbortedTransaction] | None = ...,
            preferred_read_replica: int = -1,
            records: bytes | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class EpochEndOffset(MessageObject):
        epoch: int  # 12+
        end_offset: int  # 12+

        def __init__(self, *, epoch: int = -1, end_offset: int = -1, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    class LeaderIdAndEpoch(MessageObject):
        leader_id: int  # 12+
        leader_epoch: int  # 12+

        def __init__(
            self, *, leader_id: int = -1, leader_epoch: int = -1, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    class SnapshotId(MessageObject):
        end_offset: int
        epoch: int

        def __init__(self, *, end_offset: int = -1, epoch: int = -1, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    class AbortedTransaction(MessageObject):
        producer_id: int  # 4+
        first_offset: int  # 4+

        def __init__(
            self, *, producer_id: int = 0, first_offset: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    class NodeEndpoint(MessageObject):
        node_id: int  # 16+
        host: str  # 16+
        port: int  # 16+
        rack: str | None  # 16+

        def __init__(
            self,
            *,
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            rack: str | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int  # 1+
    error_code: int  # 7+
    session_id: int  # 7+
    responses: list[FetchResponse.FetchableTopicResponse]
    node_endpoints: list[FetchResponse.NodeEndpoint]  # 16+, tag 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: list[FetchResponse.FetchableTopicResponse] = ...,
        node_endpoints: list[FetchResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
