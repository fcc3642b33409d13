# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions

class AbortedTxn(MessageObject):  # data, versions 0
    valid_versions: ClassVar[Versions]
    producer_id: int = 0
    first_offset: int = 0
    last_offset: int = 0
    last_stable_offset: int = 0

class ConsumerProtocolAssignment(MessageObject):  # data, versions 0-3
    valid_versions: ClassVar[Versions]
    class TopicPartition(MessageObject):
        topic: str = ""
        partitions: tuple[int, ...] = ()

    assigned_partitions: list[ConsumerProtocolAssignment.TopicPartition] = ...
    user_data: bytes | None = None

class ConsumerProtocolSubscription(MessageObject):  # data, versions 0-3
    valid_versions: ClassVar[Versions]
    class TopicPartition(MessageObject):
        topic: str = ""  # 1+
        partitions: tuple[int, ...] = ()  # 1+

    topics: tuple[str, ...] = ()
    user_data: bytes | None = None
    owned_partitions: list[ConsumerProtocolSubscription.TopicPartition] = ...  # 1+
    generation_id: int = -1  # 2+
    rack_id: str | None = None  # 3+

class ControlRecordTypeSchema(MessageObject):  # data, versions 0
    valid_versions: ClassVar[Versions]
    type: int = 0

class DefaultPrincipalData(MessageObject):  # data, versions 0
    valid_versions: ClassVar[Versions]
    type: str = ""
    name: str = ""
    token_authenticated: bool = False

class EndTxnMarker(MessageObject):  # data, versions 0
    valid_versions: ClassVar[Versions]
    coordinator_epoch: int = 0

class KRaftVersionRecord(MessageObject):  # data, versions 0
    valid_versions: ClassVar[Versions]
    version: int = 0
    k_raft_version: int = 0

class LeaderChangeMessage(MessageObject):  # data, versions 0-1
    valid_versions: ClassVar[Versions]
    class Voter(MessageObject):
        voter_id: int = 0
        voter_directory_id: Uuid = ...  # 1+

    version: int = 0
    leader_id: int = 0
    voters: list[LeaderChangeMessage.Voter] = ...
    granting_voters: list[LeaderChangeMessage.Voter] = ...

class ProducerSnapshot(MessageObject):  # data, versions 1
    valid_versions: ClassVar[Versions]
    class ProducerEntry(MessageObject):
        producer_id: int = 0
        epoch: int = 0
        last_sequence: int = 0
        last_offset: int = 0
        offset_delta: int = 0
        timestamp: int = 0
        coordinator_epoch: int = 0
        current_txn_first_offset: int = 0

    crc: int = 0
    producer_entries: list[ProducerSnapshot.ProducerEntry] = ...

class QuorumStateData(MessageObject):  # data, versions 0-1
    valid_versions: ClassVar[Versions]
    class Voter(MessageObject):
        voter_id: int = 0  # 0

    cluster_id: str = ""  # 0
    leader_id: int = -1
    leader_epoch: int = -1
    voted_id: int = -1
    voted_directory_id: Uuid = ...  # 1+
    applied_offset: int = 0  # 0
    current_voters: list[QuorumStateData.Voter] | None = ...  # 0

class SnapshotFooterRecord(MessageObject):  # data, versions 0
    valid_versions: ClassVar[Versions]
    version: int = 0

class SnapshotHeaderRecord(MessageObject):  # data, versions 0
    valid_versions: ClassVar[Versions]
    version: int = 0
    last_contained_log_timestamp: int = 0

class VotersRecord(MessageObject):  # data, versions 0
    valid_versions: ClassVar[Versions]
    class Voter(MessageObject):
        voter_id: int = 0
        voter_directory_id: Uuid = ...
        endpoints: list[VotersRecord.Endpoint] = ...
        k_raft_version_feature: VotersRecord.KRaftVersionFeature = ...

    class Endpoint(MessageObject):
        name: str = ""
        host: str = ""
        port: int = 0

    class KRaftVersionFeature(MessageObject):
        min_supported_version: int = 0
        max_supported_version: int = 0

    version: int = 0
    voters: list[VotersRecord.Voter] = ...
