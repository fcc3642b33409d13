# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class EndQuorumEpochRequest(MessageObject):  # request 54, versions 0-1
    api_key: ClassVar[Literal[ApiKey.END_QUORUM_EPOCH]]
    valid_versions: ClassVar[Versions]
    class TopicData(MessageObject):
        topic_name: str = ""
        partitions: list[EndQuorumEpochRequest.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0
        leader_id: int = 0
        leader_epoch: int = 0
        preferred_candidates: list[EndQuorumEpochRequest.ReplicaInfo] = ...  # 1+
        preferred_successors: tuple[int, ...] = ()  # 0

    class ReplicaInfo(MessageObject):
        candidate_id: int = 0  # 1+
        candidate_directory_id: Uuid = ...  # 1+

    class LeaderEndpoint(MessageObject):
        name: str = ""  # 1+
        host: str = ""  # 1+
        port: int = 0  # 1+

    cluster_id: str | None = None
    topics: list[EndQuorumEpochRequest.TopicData] = ...
    leader_endpoints: list[EndQuorumEpochRequest.LeaderEndpoint] = ...  # 1+

class EndQuorumEpochResponse(MessageObject):  # response 54, versions 0-1
    api_key: ClassVar[Literal[ApiKey.END_QUORUM_EPOCH]]
    valid_versions: ClassVar[Versions]
    class TopicData(MessageObject):
        topic_name: str = ""
        partitions: list[EndQuorumEpochResponse.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0
        error_code: int = 0
        leader_id: int = 0
        leader_epoch: int = 0

    class NodeEndpoint(MessageObject):
        node_id: int = 0  # 1+
        host: str = ""  # 1+
        port: int = 0  # 1+

    error_code: int = 0
    topics: list[EndQuorumEpochResponse.TopicData] = ...
    node_endpoints: list[EndQuorumEpochResponse.NodeEndpoint] = ...  # 1+, tag 0
