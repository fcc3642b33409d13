# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class ShareGroupCurrentMemberAssignmentKey(MessageObject):  # coordinator-key 14, versions 0-14
    group_id: str
    member_id: str

    def __init__(self, *, group_id: str = "", member_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ShareGroupCurrentMemberAssignmentValue(MessageObject):  # coordinator-value 14, versions 0
    class TopicPartitions(MessageObject):
        topic_id: Uuid
        partitions: tuple[int, ...]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned_partitions: list[ShareGroupCurrentMemberAssignmentValue.TopicPartitions]

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: list[ShareGroupCurrentMemberAssignmentValue.TopicPartitions] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ShareGroupMemberMetadataKey(MessageObject):  # coordinator-key 10, versions 0-10
    group_id: str
    member_id: str

    def __init__(self, *, group_id: str = "", member_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ShareGroupMemberMetadataValue(MessageObject):  # coordinator-value 10, versions 0
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]

    def __init__(
        self,
        *,
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] | tuple[str, ...] = (),
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ShareGroupMetadataKey(MessageObject):  # coordinator-key 11, versions 0-11
    group_id: str

    def __init__(self, *, group_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ShareGroupMetadataValue(MessageObject):  # coordinator-value 11, versions 0
    epoch: int
    metadata_hash: int

    def __init__(self, *, epoch: int = 0, metadata_hash: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ShareGroupPartitionMetadataKey(MessageObject):  # coordinator-key 9, versions 9
    group_id: str

    def __init__(self, *, group_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ShareGroupPartitionMetadataValue(MessageObject):  # coordinator-value 9, versions 0
    class TopicPartitionsInfo(MessageObject):
        topic_id: Uuid
        topic_name: str
        partitions: tuple[int, ...]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            topic_name: str = "",
            partitions: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TopicInfo(MessageObject):
        topic_id: Uuid
        topic_name: str

        def __init__(
            self, *, topic_id: Uuid = ..., topic_name: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    initialized_topics: list[ShareGroupPartitionMetadataValue.TopicPartitionsInfo]
    deleting_topics: list[ShareGroupPartitionMetadataValue.TopicInfo]

    def __init__(
        self,
        *,
        initialized_topics: list[ShareGroupPartitionMetadataValue.TopicPartitionsInfo] = ...,
        deleting_topics: list[ShareGroupPartitionMetadataValue.TopicInfo] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ShareGroupStatePartitionMetadataKey(MessageObject):  # coordinator-key 15, versions 0-15
    group_id: str

    def __init__(self, *, group_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ShareGroupStatePartitionMetadataValue(MessageObject):  # coordinator-value 15, versions 0
    class TopicPartitionsInfo(MessageObject):
        topic_id: Uuid
        topic_name: str
        partitions: tuple[int, ...]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            topic_name: str = "",
            partitions: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TopicInfo(MessageObject):
        topic_id: Uuid
        topic_name: str

        def __init__(
            self, *, topic_id: Uuid = ..., topic_name: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    initializing_topics: list[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo]
    initialized_topics: list[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo]
    deleting_topics: list[ShareGroupStatePartitionMetadataValue.TopicInfo]

    def __init__(
        self,
        *,
        initializing_topics: list[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo] = ...,
        initialized_topics: list[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo] = ...,
        deleting_topics: list[ShareGroupStatePartitionMetadataValue.TopicInfo] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ShareGroupTargetAssignmentMemberKey(MessageObject):  # coordinator-key 13, versions 0-13
    group_id: str
    member_id: str

    def __init__(self, *, group_id: str = "", member_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ShareGroupTargetAssignmentMemberValue(MessageObject):  # coordinator-value 13, versions 0
    class TopicPartition(MessageObject):
        topic_id: Uuid
        partitions: tuple[int, ...]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    topic_partitions: list[ShareGroupTargetAssignmentMemberValue.TopicPartition]

    def __init__(
        self,
        *,
        topic_partitions: list[ShareGroupTargetAssignmentMemberValue.TopicPartition] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ShareGroupTargetAssignmentMetadataKey(MessageObject):  # coordinator-key 12, versions 0-12
    group_id: str

    def __init__(self, *, group_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ShareGroupTargetAssignmentMetadataValue(MessageObject):  # coordinator-value 12, versions 0
    assignment_epoch: int
    assignment_timestamp: int  # tag 0

    def __init__(
        self, *, assignment_epoch: int = 0, assignment_timestamp: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...
