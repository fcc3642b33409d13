# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class AbortedTxn(MessageObject):  # data, versions 0
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int

    def __init__(
        self,
        *,
        producer_id: int = 0,
        first_offset: int = 0,
        last_offset: int = 0,
        last_stable_offset: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ConsumerProtocolAssignment(MessageObject):  # data, versions 0-3
    class TopicPartition(MessageObject):
        topic: str
        partitions: tuple[int, ...]

        def __init__(
            self, *, topic: str = "", partitions: list[int] | tuple[int, ...] = (), unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    assigned_partitions: list[ConsumerProtocolAssignment.TopicPartition]
    user_data: bytes | None

    def __init__(
        self,
        *,
        assigned_partitions: list[ConsumerProtocolAssignment.TopicPartition] = ...,
        user_data: bytes | None = None,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ConsumerProtocolSubscription(MessageObject):  # data, versions 0-3
    class TopicPartition(MessageObject):
        topic: str  # 1+
        partitions: tuple[int, ...]  # 1+

        def __init__(
            self, *, topic: str = "", partitions: list[int] | tuple[int, ...] = (), unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    topics: tuple[str, ...]
    user_data: bytes | None
    owned_partitions: list[ConsumerProtocolSubscription.TopicPartition]  # 1+
    generation_id: int  # 2+
    rack_id: str | None  # 3+

    def __init__(
        self,
        *,
        topics: list[str] | tuple[str, ...] = (),
        user_data: bytes | None = None,
        owned_partitions: list[ConsumerProtocolSubscription.TopicPartition] = ...,
        generation_id: int = -1,
        rack_id: str | None = None,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ControlRecordTypeSchema(MessageObject):  # data, versions 0
    type: int

    def __init__(self, *, type: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class DefaultPrincipalData(MessageObject):  # data, versions 0
    type: str
    name: str
    token_authenticated: bool

    def __init__(
        self, *, type: str = "", name: str = "", token_authenticated: bool = False, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class EndTxnMarker(MessageObject):  # data, versions 0
    coordinator_epoch: int

    def __init__(self, *, coordinator_epoch: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class KRaftVersionRecord(MessageObject):  # data, versions 0
    version: int
    k_raft_version: int

    def __init__(self, *, version: int = 0, k_raft_version: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class LeaderChangeMessage(MessageObject):  # data, versions 0-1
    class Voter(MessageObject):
        voter_id: int
        voter_directory_id: Uuid  # 1+

        def __init__(
            self, *, voter_id: int = 0, voter_directory_id: Uuid = ..., unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    version: int
    leader_id: int
    voters: list[LeaderChangeMessage.Voter]
    granting_voters: list[LeaderChangeMessage.Voter]

    def __init__(
        self,
        *,
        version: int = 0,
        leader_id: int = 0,
        voters: list[LeaderChangeMessage.Voter] = ...,
        granting_voters: list[LeaderChangeMessage.Voter] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ProducerSnapshot(MessageObject):  # data, versions 1
    class ProducerEntry(MessageObject):
        producer_id: int
        epoch: int
        last_sequence: int
        last_offset: int
        offset_delta: int
        timestamp: int
        coordinator_epoch: int
        current_txn_first_offset: int

        def __init__(
            self,
            *,
            producer_id: int = 0,
            epoch: int = 0,
            last_sequence: int = 0,
            last_offset: int = 0,
            offset_delta: int = 0,
            timestamp: int = 0,
            coordinator_epoch: int = 0,
            current_txn_first_offset: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    crc: int
    producer_entries: list[ProducerSnapshot.ProducerEntry]

    def __init__(
        self,
        *,
        crc: int = 0,
        producer_entries: list[ProducerSnapshot.ProducerEntry] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class QuorumStateData(MessageObject):  # data, versions 0-1
    class Voter(MessageObject):
        voter_id: int  # 0

        def __init__(self, *, voter_id: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    cluster_id: str  # 0
    leader_id: int
    leader_epoch: int
    voted_id: int
    voted_directory_id: Uuid  # 1+
    applied_offset: int  # 0
    current_voters: list[QuorumStateData.Voter] | None  # 0

    def __init__(
        self,
        *,
        cluster_id: str = "",
        leader_id: int = -1,
        leader_epoch: int = -1,
        voted_id: int = -1,
        voted_directory_id: Uuid = ...,
        applied_offset: int = 0,
        current_voters: list[QuorumStateData.Voter] | None = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class SnapshotFooterRecord(MessageObject):  # data, versions 0
    version: int

    def __init__(self, *, version: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class SnapshotHeaderRecord(MessageObject):  # data, versions 0
    version: int
    last_contained_log_timestamp: int

    def __init__(
        self, *, version: int = 0, last_contained_log_timestamp: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class VotersRecord(MessageObject):  # data, versions 0
    class Voter(MessageObject):
        voter_id: int
        voter_directory_id: Uuid
        endpoints: list[VotersRecord.Endpoint]
        k_raft_version_feature: VotersRecord.KRaftVersionFeature

        def __init__(
            self,
            *,
            voter_id: int = 0,
            voter_directory_id: Uuid = ...,
            endpoints: list[VotersRecord.Endpoint] = ...,
            k_raft_version_feature: VotersRecord.KRaftVersionFeature = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class Endpoint(MessageObject):
        name: str
        host: str
        port: int

        def __init__(
            self, *, name: str = "", host: str = "", port: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    class KRaftVersionFeature(MessageObject):
        min_supported_version: int
        max_supported_version: int

        def __init__(
            self, *, min_supported_version: int = 0, max_supported_version: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    version: int
    voters: list[VotersRecord.Voter]

    def __init__(
        self, *, version: int = 0, voters: list[VotersRecord.Voter] = ..., unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...
