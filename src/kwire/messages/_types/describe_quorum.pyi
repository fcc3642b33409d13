# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DescribeQuorumRequest(MessageObject):  # request 55, versions 0-2
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_QUORUM]]
    valid_versions: ClassVar[Versions]
    class TopicData(MessageObject):
        topic_name: str = ""
        partitions: list[DescribeQuorumRequest.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0

    topics: list[DescribeQuorumRequest.TopicData] = ...

class DescribeQuorumResponse(MessageObject):  # response 55, versions 0-2
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_QUORUM]]
    valid_versions: ClassVar[Versions]
    class TopicData(MessageObject):
        topic_name: str = ""
        partitions: list[DescribeQuorumResponse.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0
        error_code: int = 0
        error_message: str | None = ""  # 2+
        leader_id: int = 0
        leader_epoch: int = 0
        high_watermark: int = 0
        current_voters: list[DescribeQuorumResponse.ReplicaState] = ...
        observers: list[DescribeQuorumResponse.ReplicaState] = ...

    class ReplicaState(MessageObject):
        replica_id: int = 0
        replica_directory_id: Uuid = ...  # 2+
        log_end_offset: int = 0
        last_fetch_timestamp: int = -1  # 1+
        last_caught_up_timestamp: int = -1  # 1+

    class Node(MessageObject):
        node_id: int = 0  # 2+
        listeners: list[DescribeQuorumResponse.Listener] = ...  # 2+

    class Listener(MessageObject):
        name: str = ""  # 2+
        host: str = ""  # 2+
        port: int = 0  # 2+

    error_code: int = 0
    error_message: str | None = ""  # 2+
    topics: list[DescribeQuorumResponse.TopicData] = ...
    nodes: list[DescribeQuorumResponse.Node] = ...  # 2+
