# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class AlterReplicaLogDirsRequest(MessageObject):  # request 34, versions 0-2
    class AlterReplicaLogDir(MessageObject):
        path: str = ""
        topics: list[AlterReplicaLogDirsRequest.AlterReplicaLogDirTopic] = ...

    class AlterReplicaLogDirTopic(MessageObject):
        name: str = ""
        partitions: tuple[int, ...] = ()

    dirs: list[AlterReplicaLogDirsRequest.AlterReplicaLogDir] = ...

class AlterReplicaLogDirsResponse(MessageObject):  # response 34, versions 0-2
    class AlterReplicaLogDirTopicResult(MessageObject):
        topic_name: str = ""
        partitions: list[AlterReplicaLogDirsResponse.AlterReplicaLogDirPartitionResult] = ...

    class AlterReplicaLogDirPartitionResult(MessageObject):
        partition_index: int = 0
        error_code: int = 0

    throttle_time_ms: int = 0
    results: list[AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult] = ...
