# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class ConsumerGroupCurrentMemberAssignmentKey(MessageObject):  # coordinator-key 8, versions 0-8
    group_id: str
    member_id: str

    def __init__(self, *, group_id: str = "", member_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ConsumerGroupCurrentMemberAssignmentValue(MessageObject):  # coordinator-value 8, versions 0
    class TopicPartitions(MessageObject):
        topic_id: Uuid
        partitions: tuple[int, ...]
        assignment_epochs: tuple[int, ...] | None  # tag 0

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            partitions: list[int] | tuple[int, ...] = (),
            assignment_epochs: list[int] | tuple[int, ...] | None = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned_partitions: list[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions]
    partitions_pending_revocation: list[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions]

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: list[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions] = ...,
        partitions_pending_revocation: list[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ConsumerGroupMemberMetadataKey(MessageObject):  # coordinator-key 5, versions 0-5
    group_id: str
    member_id: str

    def __init__(self, *, group_id: str = "", member_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ConsumerGroupMemberMetadataValue(MessageObject):  # coordinator-value 5, versions 0
    class ClassicMemberMetadata(MessageObject):
        session_timeout_ms: int
        supported_protocols: list[ConsumerGroupMemberMetadataValue.ClassicProtocol]

        def __init__(
            self,
            *,
            session_timeout_ms: int = 0,
            supported_protocols: list[ConsumerGroupMemberMetadataValue.ClassicProtocol] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class ClassicProtocol(MessageObject):
        name: str
        metadata: bytes

        def __init__(self, *, name: str = "", metadata: bytes = b"", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: int
    server_assignor: str | None
    classic_member_metadata: ConsumerGroupMemberMetadataValue.ClassicMemberMetadata | None  # tag 0

    def __init__(
        self,
        *,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] | tuple[str, ...] = (),
        subscribed_topic_regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = "",
        classic_member_metadata: ConsumerGroupMemberMetadataValue.ClassicMemberMetadata | None = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ConsumerGroupMetadataKey(MessageObject):  # coordinator-key 3, versions 0-3
    group_id: str

    def __init__(self, *, group_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ConsumerGroupMetadataValue(MessageObject):  # coordinator-value 3, versions 0
    epoch: int
    metadata_hash: int  # tag 0

    def __init__(self, *, epoch: int = 0, metadata_hash: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ConsumerGroupPartitionMetadataKey(MessageObject):  # coordinator-key 4, versions 0-4
    group_id: str

    def __init__(self, *, group_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ConsumerGroupPartitionMetadataValue(MessageObject):  # coordinator-value 4, versions 0
    class TopicMetadata(MessageObject):
        topic_id: Uuid
        topic_name: str
        num_partitions: int
        partition_metadata: list[ConsumerGroupPartitionMetadataValue.PartitionMetadata]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            topic_name: str = "",
            num_partitions: int = 0,
            partition_metadata: list[ConsumerGroupPartitionMetadataValue.PartitionMetadata] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionMetadata(MessageObject):
        partition: int
        racks: tuple[str, ...]

        def __init__(
            self, *, partition: int = 0, racks: list[str] | tuple[str, ...] = (), unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    topics: list[ConsumerGroupPartitionMetadataValue.TopicMetadata]

    def __init__(
        self,
        *,
        topics: list[ConsumerGroupPartitionMetadataValue.TopicMetadata] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ConsumerGroupRegularExpressionKey(MessageObject):  # coordinator-key 16, versions 0-16
    group_id: str
    regular_expression: str

    def __init__(
        self, *, group_id: str = "", regular_expression: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class ConsumerGroupRegularExpressionValue(MessageObject):  # coordinator-value 16, versions 0
    topics: tuple[str, ...]
    version: int
    timestamp: int

    def __init__(
        self,
        *,
        topics: list[str] | tuple[str, ...] = (),
        version: int = 0,
        timestamp: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ConsumerGroupTargetAssignmentMemberKey(MessageObject):  # coordinator-key 7, versions 0-7
    group_id: str
    member_id: str

    def __init__(self, *, group_id: str = "", member_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ConsumerGroupTargetAssignmentMemberValue(MessageObject):  # coordinator-value 7, versions 0
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

    topic_partitions: list[ConsumerGroupTargetAssignmentMemberValue.TopicPartition]

    def __init__(
        self,
        *,
        topic_partitions: list[ConsumerGroupTargetAssignmentMemberValue.TopicPartition] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ConsumerGroupTargetAssignmentMetadataKey(MessageObject):  # coordinator-key 6, versions 0-6
    group_id: str

    def __init__(self, *, group_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ConsumerGroupTargetAssignmentMetadataValue(MessageObject):  # coordinator-value 6, versions 0
    assignment_epoch: int
    assignment_timestamp: int  # tag 0

    def __init__(
        self, *, assignment_epoch: int = 0, assignment_timestamp: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...
