# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class AssignReplicasToDirsRequest(MessageObject):  # request 73, versions 0
    class DirectoryData(MessageObject):
        id: Uuid
        topics: list[AssignReplicasToDirsRequest.TopicData]

        def __init__(
            self,
            *,
            id: Uuid = ...,
            topics: list[AssignReplicasToDirsRequest.TopicData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TopicData(MessageObject):
        topic_id: Uuid
        partitions: list[AssignReplicasToDirsRequest.PartitionData]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[AssignReplicasToDirsRequest.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int

        def __init__(self, *, partition_index: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    broker_id: int
    broker_epoch: int
    directories: list[AssignReplicasToDirsRequest.DirectoryData]

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        directories: list[AssignReplicasToDirsRequest.DirectoryData] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class AssignReplicasToDirsResponse(MessageObject):  # response 73, versions 0
    class DirectoryData(MessageObject):
        id: Uuid
        topics: list[AssignReplicasToDirsResponse.TopicData]

        def __init__(
            self,
            *,
            id: Uuid = ...,
            topics: list[AssignReplicasToDirsResponse.TopicData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TopicData(MessageObject):
        topic_id: Uuid
        partitions: list[AssignReplicasToDirsResponse.PartitionData]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[AssignReplicasToDirsResponse.PartitionData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionData(MessageObject):
        partition_index: int
        error_code: int

        def __init__(
            self, *, partition_index: int = 0, error_code: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    directories: list[AssignReplicasToDirsResponse.DirectoryData]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        directories: list[AssignReplicasToDirsResponse.DirectoryData] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
