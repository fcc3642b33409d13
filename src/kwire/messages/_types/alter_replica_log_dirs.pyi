# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class AlterReplicaLogDirsRequest(MessageObject):  # request 34, versions 0-2
    class AlterReplicaLogDir(MessageObject):
        path: str
        topics: list[AlterReplicaLogDirsRequest.AlterReplicaLogDirTopic]

        def __init__(
            self,
            *,
            path: str = "",
            topics: list[AlterReplicaLogDirsRequest.AlterReplicaLogDirTopic] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class AlterReplicaLogDirTopic(MessageObject):
        name: str
        partitions: tuple[int, ...]

        def __init__(
            self, *, name: str = "", partitions: list[int] | tuple[int, ...] = (), unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    dirs: list[AlterReplicaLogDirsRequest.AlterReplicaLogDir]

    def __init__(
        self, *, dirs: list[AlterReplicaLogDirsRequest.AlterReplicaLogDir] = ..., unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class AlterReplicaLogDirsResponse(MessageObject):  # response 34, versions 0-2
    class AlterReplicaLogDirTopicResult(MessageObject):
        topic_name: str
        partitions: list[AlterReplicaLogDirsResponse.AlterReplicaLogDirPartitionResult]

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: list[AlterReplicaLogDirsResponse.AlterReplicaLogDirPartitionResult] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class AlterReplicaLogDirPartitionResult(MessageObject):
        partition_index: int
        error_code: int

        def __init__(
            self, *, partition_index: int = 0, error_code: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    throttle_time_ms: int
    results: list[AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
