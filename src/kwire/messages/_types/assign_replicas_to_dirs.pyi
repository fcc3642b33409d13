# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AssignReplicasToDirsRequest(MessageObject):  # request 73, versions 0
    api_key: ClassVar[Literal[ApiKey.ASSIGN_REPLICAS_TO_DIRS]]
    valid_versions: ClassVar[Versions]
    class DirectoryData(MessageObject):
        id: Uuid = ...
        topics: list[AssignReplicasToDirsRequest.TopicData] = ...

    class TopicData(MessageObject):
        topic_id: Uuid = ...
        partitions: list[AssignReplicasToDirsRequest.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0

    broker_id: int = 0
    broker_epoch: int = -1
    directories: list[AssignReplicasToDirsRequest.DirectoryData] = ...

class AssignReplicasToDirsResponse(MessageObject):  # response 73, versions 0
    api_key: ClassVar[Literal[ApiKey.ASSIGN_REPLICAS_TO_DIRS]]
    valid_versions: ClassVar[Versions]
    class DirectoryData(MessageObject):
        id: Uuid = ...
        topics: list[AssignReplicasToDirsResponse.TopicData] = ...

    class TopicData(MessageObject):
        topic_id: Uuid = ...
        partitions: list[AssignReplicasToDirsResponse.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0
        error_code: int = 0

    throttle_time_ms: int = 0
    error_code: int = 0
    directories: list[AssignReplicasToDirsResponse.DirectoryData] = ...
