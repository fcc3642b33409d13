# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class FetchSnapshotRequest(MessageObject):  # request 59, versions 0-1
    api_key: ClassVar[Literal[ApiKey.FETCH_SNAPSHOT]]
    valid_versions: ClassVar[Versions]
    class TopicSnapshot(MessageObject):
        name: str = ""
        partitions: list[FetchSnapshotRequest.PartitionSnapshot] = ...

    class PartitionSnapshot(MessageObject):
        partition: int = 0
        current_leader_epoch: int = 0
        snapshot_id: FetchSnapshotRequest.SnapshotId = ...
        position: int = 0
        replica_directory_id: Uuid = ...  # 1+, tag 0

    class SnapshotId(MessageObject):
        end_offset: int = 0
        epoch: int = 0

    cluster_id: str | None = None  # tag 0
    replica_id: int = -1
    max_bytes: int = 2147483647
    topics: list[FetchSnapshotRequest.TopicSnapshot] = ...

class FetchSnapshotResponse(MessageObject):  # response 59, versions 0-1
    api_key: ClassVar[Literal[ApiKey.FETCH_SNAPSHOT]]
    valid_versions: ClassVar[Versions]
    class TopicSnapshot(MessageObject):
        name: str = ""
        partitions: list[FetchSnapshotResponse.PartitionSnapshot] = ...

    class PartitionSnapshot(MessageObject):
        index: int = 0
        error_code: int = 0
        snapshot_id: FetchSnapshotResponse.SnapshotId = ...
        current_leader: FetchSnapshotResponse.LeaderIdAndEpoch = ...  # tag 0
        size: int = 0
        position: int = 0
        unaligned_records: bytes | None = None

    class SnapshotId(MessageObject):
        end_offset: int = 0
        epoch: int = 0

    class LeaderIdAndEpoch(MessageObject):
        leader_id: int = 0
        leader_epoch: int = 0

    class NodeEndpoint(MessageObject):
        node_id: int = 0  # 1+
        host: str = ""  # 1+
        port: int = 0  # 1+

    throttle_time_ms: int = 0
    error_code: int = 0
    topics: list[FetchSnapshotResponse.TopicSnapshot] = ...
    node_endpoints: list[FetchSnapshotResponse.NodeEndpoint] = ...  # 1+, tag 0
