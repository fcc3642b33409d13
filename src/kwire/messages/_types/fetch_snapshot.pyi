# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class FetchSnapshotRequest(MessageObject):  # request 59, versions 0-1
    class TopicSnapshot(MessageObject):
        name: str
        partitions: list[FetchSnapshotRequest.PartitionSnapshot]

        def __init__(
            self,
            *,
            name: str = "",
            partitions: list[FetchSnapshotRequest.PartitionSnapshot] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionSnapshot(MessageObject):
        partition: int
        current_leader_epoch: int
        snapshot_id: FetchSnapshotRequest.SnapshotId
        position: int
        replica_directory_id: Uuid  # 1+, tag 0

        def __init__(
            self,
            *,
            partition: int = 0,
            current_leader_epoch: int = 0,
            snapshot_id: FetchSnapshotRequest.SnapshotId = ...,
            position: int = 0,
            replica_directory_id: Uuid = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class SnapshotId(MessageObject):
        end_offset: int
        epoch: int

        def __init__(self, *, end_offset: int = 0, epoch: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    cluster_id: str | None  # tag 0
    replica_id: int
    max_bytes: int
    topics: list[FetchSnapshotRequest.TopicSnapshot]

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        replica_id: int = -1,
        max_bytes: int = 2147483647,
        topics: list[FetchSnapshotRequest.TopicSnapshot] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class FetchSnapshotResponse(MessageObject):  # response 59, versions 0-1
    class TopicSnapshot(MessageObject):
        name: str
        partitions: list[FetchSnapshotResponse.PartitionSnapshot]

        def __init__(
            self,
            *,
            name: str = "",
            partitions: list[FetchSnapshotResponse.PartitionSnapshot] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionSnapshot(MessageObject):
        index: int
        error_code: int
        snapshot_id: FetchSnapshotResponse.SnapshotId
        current_leader: FetchSnapshotResponse.LeaderIdAndEpoch  # tag 0
        size: int
        position: int
        unaligned_records: bytes | None

        def __init__(
            self,
            *,
            index: int = 0,
            error_code: int = 0,
            snapshot_id: FetchSnapshotResponse.SnapshotId = ...,
            current_leader: FetchSnapshotResponse.LeaderIdAndEpoch = ...,
            size: int = 0,
            position: int = 0,
            unaligned_records: bytes | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class SnapshotId(MessageObject):
        end_offset: int
        epoch: int

        def __init__(self, *, end_offset: int = 0, epoch: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    class LeaderIdAndEpoch(MessageObject):
        leader_id: int
        leader_epoch: int

        def __init__(
            self, *, leader_id: int = 0, leader_epoch: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    class NodeEndpoint(MessageObject):
        node_id: int  # 1+
        host: str  # 1+
        port: int  # 1+

        def __init__(
            self, *, node_id: int = 0, host: str = "", port: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    topics: list[FetchSnapshotResponse.TopicSnapshot]
    node_endpoints: list[FetchSnapshotResponse.NodeEndpoint]  # 1+, tag 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[FetchSnapshotResponse.TopicSnapshot] = ...,
        node_endpoints: list[FetchSnapshotResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
