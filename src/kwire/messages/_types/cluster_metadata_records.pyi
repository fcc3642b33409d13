# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AbortTransactionRecord(MessageObject):  # metadata 25, versions 0
    api_key: ClassVar[Literal[ApiKey.ADD_OFFSETS_TO_TXN]]
    valid_versions: ClassVar[Versions]
    reason: str | None = None  # tag 0

class AccessControlEntryRecord(MessageObject):  # metadata 18, versions 0
    api_key: ClassVar[Literal[ApiKey.API_VERSIONS]]
    valid_versions: ClassVar[Versions]
    id: Uuid = ...
    resource_type: int = 0
    resource_name: str = ""
    pattern_type: int = 0
    principal: str = ""
    host: str = ""
    operation: int = 0
    permission_type: int = 0

class AccessControlRecord(MessageObject):  # metadata 6, versions 0
    api_key: ClassVar[Literal[ApiKey.UPDATE_METADATA]]
    valid_versions: ClassVar[Versions]
    resource_type: int = 0
    resource_name: str | None = ""
    pattern_type: int = 0
    principal: str = ""
    host: str = ""
    operation: int = 0
    permission_type: int = 0

class BeginTransactionRecord(MessageObject):  # metadata 23, versions 0
    api_key: ClassVar[Literal[ApiKey.OFFSET_FOR_LEADER_EPOCH]]
    valid_versions: ClassVar[Versions]
    name: str | None = None  # tag 0

class BrokerRegistrationChangeRecord(MessageObject):  # metadata 17, versions 0-3
    api_key: ClassVar[Literal[ApiKey.SASL_HANDSHAKE]]
    valid_versions: ClassVar[Versions]
    broker_id: int = 0
    broker_epoch: int = 0
    fenced: int = 0  # tag 0
    in_controlled_shutdown: int = 0  # 1+, tag 1
    log_dirs: tuple[Uuid, ...] = ()  # 2+, tag 2
    cordoned_log_dirs: tuple[Uuid, ...] | None = None  # 3+, tag 3

class ClearElrRecord(MessageObject):  # metadata 28, versions 0
    api_key: ClassVar[Literal[ApiKey.TXN_OFFSET_COMMIT]]
    valid_versions: ClassVar[Versions]
    topic_name: str = ""

class ClientQuotaRecord(MessageObject):  # metadata 14, versions 0
    api_key: ClassVar[Literal[ApiKey.SYNC_GROUP]]
    valid_versions: ClassVar[Versions]
    class EntityData(MessageObject):
        entity_type: str = ""
        entity_name: str | None = ""

    entity: list[ClientQuotaRecord.EntityData] = ...
    key: str = ""
    value: float = 0.0
    remove: bool = False

class ConfigRecord(MessageObject):  # metadata 4, versions 0
    api_key: ClassVar[Literal[ApiKey.LEADER_AND_ISR]]
    valid_versions: ClassVar[Versions]
    resource_type: int = 0
    resource_name: str = ""
    name: str = ""
    value: str | None = ""

class DelegationTokenRecord(MessageObject):  # metadata 10, versions 0
    api_key: ClassVar[Literal[ApiKey.FIND_COORDINATOR]]
    valid_versions: ClassVar[Versions]
    owner: str = ""
    requester: str = ""
    renewers: tuple[str, ...] = ()
    issue_timestamp: int = 0
    max_timestamp: int = 0
    expiration_timestamp: int = 0
    token_id: str = ""

class EndTransactionRecord(MessageObject):  # metadata 24, versions 0
    api_key: ClassVar[Literal[ApiKey.ADD_PARTITIONS_TO_TXN]]
    valid_versions: ClassVar[Versions]
    ...

class FeatureLevelRecord(MessageObject):  # metadata 12, versions 0
    api_key: ClassVar[Literal[ApiKey.HEARTBEAT]]
    valid_versions: ClassVar[Versions]
    name: str = ""
    feature_level: int = 0

class FenceBrokerRecord(MessageObject):  # metadata 7, versions 0
    api_key: ClassVar[Literal[ApiKey.CONTROLLED_SHUTDOWN]]
    valid_versions: ClassVar[Versions]
    id: int = 0
    epoch: int = 0

class NoOpRecord(MessageObject):  # metadata 20, versions 0
    api_key: ClassVar[Literal[ApiKey.DELETE_TOPICS]]
    valid_versions: ClassVar[Versions]
    ...

class PartitionChangeRecord(MessageObject):  # metadata 5, versions 0-2
    api_key: ClassVar[Literal[ApiKey.STOP_REPLICA]]
    valid_versions: ClassVar[Versions]
    partition_id: int = -1
    topic_id: Uuid = ...
    isr: tuple[int, ...] | None = None  # tag 0
    leader: int = -2  # tag 1
    replicas: tuple[int, ...] | None = None  # tag 2
    removing_replicas: tuple[int, ...] | None = None  # tag 3
    adding_replicas: tuple[int, ...] | None = None  # tag 4
    leader_recovery_state: int = -1  # tag 5
    directories: tuple[Uuid, ...] | None = None  # 1+, tag 8
    eligible_leader_replicas: tuple[int, ...] | None = None  # 2+, tag 6
    last_known_elr: tuple[int, ...] | None = None  # 2+, tag 7

class PartitionRecord(MessageObject):  # metadata 3, versions 0-2
    api_key: ClassVar[Literal[ApiKey.METADATA]]
    valid_versions: ClassVar[Versions]
    partition_id: int = -1
    topic_id: Uuid = ...
    replicas: tuple[int, ...] = ()
    isr: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    leader: int = -1
    leader_recovery_state: int = 0  # tag 0
    leader_epoch: int = -1
    partition_epoch: int = -1
    directories: tuple[Uuid, ...] = ()  # 1+
    eligible_leader_replicas: tuple[int, ...] | None = None  # 2+, tag 1
    last_known_elr: tuple[int, ...] | None = None  # 2+, tag 2

class ProducerIdsRecord(MessageObject):  # metadata 15, versions 0
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_GROUPS]]
    valid_versions: ClassVar[Versions]
    broker_id: int = 0
    broker_epoch: int = -1
    next_producer_id: int = 0
    producer_ids_end: int = 0  # next_producer_id after Kafka 3.1

class QuotaRecord(MessageObject):  # metadata 14, versions 0
    api_key: ClassVar[Literal[ApiKey.SYNC_GROUP]]
    valid_versions: ClassVar[Versions]
    class EntityData(MessageObject):
        entity_type: str = ""
        entity_name: str | None = ""

    entity: list[QuotaRecord.EntityData] = ...
    key: str = ""
    value: float = 0.0
    remove: bool = False

class RegisterBrokerRecord(MessageObject):  # metadata 0, versions 0-4
    api_key: ClassVar[Literal[ApiKey.PRODUCE]]
    valid_versions: ClassVar[Versions]
    class BrokerEndpoint(MessageObject):
        name: str = ""
        host: str = ""
        port: int = 0
        security_protocol: int = 0

    class BrokerFeature(MessageObject):
        name: str = ""
        min_supported_version: int = 0
        max_supported_version: int = 0

    broker_id: int = 0
    is_migrating_zk_broker: bool = False  # 2+
    incarnation_id: Uuid = ...
    broker_epoch: int = 0
    end_points: list[RegisterBrokerRecord.BrokerEndpoint] = ...
    features: list[RegisterBrokerRecord.BrokerFeature] = ...
    rack: str | None = ""
    fenced: bool = True
    in_controlled_shutdown: bool = False  # 1+
    log_dirs: tuple[Uuid, ...] = ()  # 3+, tag 0
    cordoned_log_dirs: tuple[Uuid, ...] | None = None  # 4+, tag 1

class RegisterControllerRecord(MessageObject):  # metadata 27, versions 0
    api_key: ClassVar[Literal[ApiKey.WRITE_TXN_MARKERS]]
    valid_versions: ClassVar[Versions]
    class ControllerEndpoint(MessageObject):
        name: str = ""
        host: str = ""
        port: int = 0
        security_protocol: int = 0

    class ControllerFeature(MessageObject):
        name: str = ""
        min_supported_version: int = 0
        max_supported_version: int = 0

    controller_id: int = 0
    incarnation_id: Uuid = ...
    zk_migration_ready: bool = False
    end_points: list[RegisterControllerRecord.ControllerEndpoint] = ...
    features: list[RegisterControllerRecord.ControllerFeature] = ...

class RemoveAccessControlEntryRecord(MessageObject):  # metadata 19, versions 0
    api_key: ClassVar[Literal[ApiKey.CREATE_TOPICS]]
    valid_versions: ClassVar[Versions]
    id: Uuid = ...

class RemoveDelegationTokenRecord(MessageObject):  # metadata 26, versions 0
    api_key: ClassVar[Literal[ApiKey.END_TXN]]
    valid_versions: ClassVar[Versions]
    token_id: str = ""

class RemoveFeatureLevelRecord(MessageObject):  # metadata 16, versions 0
    api_key: ClassVar[Literal[ApiKey.LIST_GROUPS]]
    valid_versions: ClassVar[Versions]
    name: str = ""

class RemoveTopicRecord(MessageObject):  # metadata 9, versions 0
    api_key: ClassVar[Literal[ApiKey.OFFSET_FETCH]]
    valid_versions: ClassVar[Versions]
    topic_id: Uuid = ...

class RemoveUserScramCredentialRecord(MessageObject):  # metadata 22, versions 0
    api_key: ClassVar[Literal[ApiKey.INIT_PRODUCER_ID]]
    valid_versions: ClassVar[Versions]
    name: str = ""
    mechanism: int = 0

class TopicRecord(MessageObject):  # metadata 2, versions 0
    api_key: ClassVar[Literal[ApiKey.LIST_OFFSETS]]
    valid_versions: ClassVar[Versions]
    name: str = ""
    topic_id: Uuid = ...

class UnfenceBrokerRecord(MessageObject):  # metadata 8, versions 0
    api_key: ClassVar[Literal[ApiKey.OFFSET_COMMIT]]
    valid_versions: ClassVar[Versions]
    id: int = 0
    epoch: int = 0

class UnregisterBrokerRecord(MessageObject):  # metadata 1, versions 0
    api_key: ClassVar[Literal[ApiKey.FETCH]]
    valid_versions: ClassVar[Versions]
    broker_id: int = 0
    broker_epoch: int = 0

class UnregisterControllerRecord(MessageObject):  # metadata 29, versions 0
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_ACLS]]
    valid_versions: ClassVar[Versions]
    controller_id: int = 0

class UserScramCredentialRecord(MessageObject):  # metadata 11, versions 0
    api_key: ClassVar[Literal[ApiKey.JOIN_GROUP]]
    valid_versions: ClassVar[Versions]
    name: str = ""
    mechanism: int = 0
    salt: bytes = b""
    stored_key: bytes = b""
    server_key: bytes = b""
    iterations: int = 0

class ZkMigrationStateRecord(MessageObject):  # metadata 21, versions 0
    api_key: ClassVar[Literal[ApiKey.DELETE_RECORDS]]
    valid_versions: ClassVar[Versions]
    zk_migration_state: int = 0
