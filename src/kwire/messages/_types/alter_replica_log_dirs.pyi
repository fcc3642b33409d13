# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AlterReplicaLogDirsRequest(MessageObject):  # request 34, versions 0-2
    api_key: ClassVar[Literal[ApiKey.ALTER_REPLICA_LOG_DIRS]]
    valid_versions: ClassVar[Versions]
    class AlterReplicaLogDir(MessageObject):
        path: str = ""
        topics: list[AlterReplicaLogDirsRequest.AlterReplicaLogDirTopic] = ...

    class AlterReplicaLogDirTopic(MessageObject):
        name: str = ""
        partitions: tuple[int, ...] = ()

    dirs: list[AlterReplicaLogDirsRequest.AlterReplicaLogDir] = ...

class AlterReplicaLogDirsResponse(MessageObject):  # response 34, versions 0-2
    api_key: ClassVar[Literal[ApiKey.ALTER_REPLICA_LOG_DIRS]]
    valid_versions: ClassVar[Versions]
    class AlterReplicaLogDirTopicResult(MessageObject):
        topic_name: str = ""
        partitions: list[AlterReplicaLogDirsResponse.AlterReplicaLogDirPartitionResult] = ...

    class AlterReplicaLogDirPartitionResult(MessageObject):
        partition_index: int = 0
        error_code: int = 0

    throttle_time_ms: int = 0
    results: list[AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult] = ...
