# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class BeginQuorumEpochRequest(MessageObject):  # request 53, versions 0-1
    api_key: ClassVar[Literal[ApiKey.BEGIN_QUORUM_EPOCH]]
    valid_versions: ClassVar[Versions]
    class TopicData(MessageObject):
        topic_name: str = ""
        partitions: list[BeginQuorumEpochRequest.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0
        voter_directory_id: Uuid = ...  # 1+
        leader_id: int = 0
        leader_epoch: int = 0

    class LeaderEndpoint(MessageObject):
        name: str = ""  # 1+
        host: str = ""  # 1+
        port: int = 0  # 1+

    cluster_id: str | None = None
    voter_id: int = -1  # 1+
    topics: list[BeginQuorumEpochRequest.TopicData] = ...
    leader_endpoints: list[BeginQuorumEpochRequest.LeaderEndpoint] = ...  # 1+

class BeginQuorumEpochResponse(MessageObject):  # response 53, versions 0-1
    api_key: ClassVar[Literal[ApiKey.BEGIN_QUORUM_EPOCH]]
    valid_versions: ClassVar[Versions]
    class TopicData(MessageObject):
        topic_name: str = ""
        partitions: list[BeginQuorumEpochResponse.PartitionData] = ...

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
    topics: list[BeginQuorumEpochResponse.TopicData] = ...
    node_endpoints: list[BeginQuorumEpochResponse.NodeEndpoint] = ...  # 1+, tag 0
