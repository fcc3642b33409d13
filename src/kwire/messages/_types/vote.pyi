# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class VoteRequest(MessageObject):  # request 52, versions 0-2
    api_key: ClassVar[Literal[ApiKey.VOTE]]
    valid_versions: ClassVar[Versions]
    class TopicData(MessageObject):
        topic_name: str = ""
        partitions: list[VoteRequest.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0
        replica_epoch: int = 0
        candidate_epoch: int = 0  # replica_epoch after Kafka 3.9
        replica_id: int = 0
        candidate_id: int = 0  # replica_id after Kafka 3.9
        replica_directory_id: Uuid = ...  # 1+
        candidate_directory_id: Uuid = ...  # replica_directory_id after Kafka 3.9
        voter_directory_id: Uuid = ...  # 1+
        last_offset_epoch: int = 0
        last_offset: int = 0
        pre_vote: bool = False  # 2+

    cluster_id: str | None = None
    voter_id: int = -1  # 1+
    topics: list[VoteRequest.TopicData] = ...

class VoteResponse(MessageObject):  # response 52, versions 0-2
    api_key: ClassVar[Literal[ApiKey.VOTE]]
    valid_versions: ClassVar[Versions]
    class TopicData(MessageObject):
        topic_name: str = ""
        partitions: list[VoteResponse.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0
        error_code: int = 0
        leader_id: int = 0
        leader_epoch: int = 0
        vote_granted: bool = False

    class NodeEndpoint(MessageObject):
        node_id: int = 0  # 1+
        host: str = ""  # 1+
        port: int = 0  # 1+

    error_code: int = 0
    topics: list[VoteResponse.TopicData] = ...
    node_endpoints: list[VoteResponse.NodeEndpoint] = ...  # 1+, tag 0
