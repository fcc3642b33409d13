# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class AbortTransactionRecord(MessageObject):  # metadata 25, versions 0
    reason: str | None  # tag 0

    def __init__(self, *, reason: str | None = None, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class AccessControlEntryRecord(MessageObject):  # metadata 18, versions 0
    id: Uuid
    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int

    def __init__(
        self,
        *,
        id: Uuid = ...,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 0,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class AccessControlRecord(MessageObject):  # metadata 6, versions 0
    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str | None = "",
        pattern_type: int = 0,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class BeginTransactionRecord(MessageObject):  # metadata 23, versions 0
    name: str | None  # tag 0

    def __init__(self, *, name: str | None = None, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class BrokerRegistrationChangeRecord(MessageObject):  # metadata 17, versions 0-3
    broker_id: int
    broker_epoch: int
    fenced: int  # tag 0
    in_controlled_shutdown: int  # 1+, tag 1
    log_dirs: tuple[Uuid, ...]  # 2+, tag 2
    cordoned_log_dirs: tuple[Uuid, ...] | None  # 3+, tag 3

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = 0,
        fenced: int = 0,
        in_controlled_shutdown: int = 0,
        log_dirs: list[Uuid] | tuple[Uuid, ...] = (),
        cordoned_log_dirs: list[Uuid] | tuple[Uuid, ...] | None = None,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ClearElrRecord(MessageObject):  # metadata 28, versions 0
    topic_name: str

    def __init__(self, *, topic_name: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ClientQuotaRecord(MessageObject):  # metadata 14, versions 0
    class EntityData(MessageObject):
        entity_type: str
        entity_name: str | None

        def __init__(
            self, *, entity_type: str = "", entity_name: str | None = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    entity: list[ClientQuotaRecord.EntityData]
    key: str
    value: float
    remove: bool

    def __init__(
        self,
        *,
        entity: list[ClientQuotaRecord.EntityData] = ...,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ConfigRecord(MessageObject):  # metadata 4, versions 0
    resource_type: int
    resource_name: str
    name: str
    value: str | None

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        name: str = "",
        value: str | None = "",
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class DelegationTokenRecord(MessageObject):  # metadata 10, versions 0
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int
    token_id: str

    def __init__(
        self,
        *,
        owner: str = "",
        requester: str = "",
        renewers: list[str] | tuple[str, ...] = (),
        issue_timestamp: int = 0,
        max_timestamp: int = 0,
        expiration_timestamp: int = 0,
        token_id: str = "",
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class EndTransactionRecord(MessageObject):  # metadata 24, versions 0
    def __init__(self, *, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class FeatureLevelRecord(MessageObject):  # metadata 12, versions 0
    name: str
    feature_level: int

    def __init__(self, *, name: str = "", feature_level: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class FenceBrokerRecord(MessageObject):  # metadata 7, versions 0
    id: int
    epoch: int

    def __init__(self, *, id: int = 0, epoch: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class NoOpRecord(MessageObject):  # metadata 20, versions 0
    def __init__(self, *, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class PartitionChangeRecord(MessageObject):  # metadata 5, versions 0-2
    partition_id: int
    topic_id: Uuid
    isr: tuple[int, ...] | None  # tag 0
    leader: int  # tag 1
    replicas: tuple[int, ...] | None  # tag 2
    removing_replicas: tuple[int, ...] | None  # tag 3
    adding_replicas: tuple[int, ...] | None  # tag 4
    leader_recovery_state: int  # tag 5
    directories: tuple[Uuid, ...] | None  # 1+, tag 8
    eligible_leader_replicas: tuple[int, ...] | None  # 2+, tag 6
    last_known_elr: tuple[int, ...] | None  # 2+, tag 7

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: Uuid = ...,
        isr: list[int] | tuple[int, ...] | None = None,
        leader: int = -2,
        replicas: list[int] | tuple[int, ...] | None = None,
        removing_replicas: list[int] | tuple[int, ...] | None = None,
        adding_replicas: list[int] | tuple[int, ...] | None = None,
        leader_recovery_state: int = -1,
        directories: list[Uuid] | tuple[Uuid, ...] | None = None,
        eligible_leader_replicas: list[int] | tuple[int, ...] | None = None,
        last_known_elr: list[int] | tuple[int, ...] | None = None,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class PartitionRecord(MessageObject):  # metadata 3, versions 0-2
    partition_id: int
    topic_id: Uuid
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    removing_replicas: tuple[int, ...]
    adding_replicas: tuple[int, ...]
    leader: int
    leader_recovery_state: int  # tag 0
    leader_epoch: int
    partition_epoch: int
    directories: tuple[Uuid, ...]  # 1+
    eligible_leader_replicas: tuple[int, ...] | None  # 2+, tag 1
    last_known_elr: tuple[int, ...] | None  # 2+, tag 2

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: Uuid = ...,
        replicas: list[int] | tuple[int, ...] = (),
        isr: list[int] | tuple[int, ...] = (),
        removing_replicas: list[int] | tuple[int, ...] = (),
        adding_replicas: list[int] | tuple[int, ...] = (),
        leader: int = -1,
        leader_recovery_state: int = 0,
        leader_epoch: int = -1,
        partition_epoch: int = -1,
        directories: list[Uuid] | tuple[Uuid, ...] = (),
        eligible_leader_replicas: list[int] | tuple[int, ...] | None = None,
        last_known_elr: list[int] | tuple[int, ...] | None = None,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ProducerIdsRecord(MessageObject):  # metadata 15, versions 0
    broker_id: int
    broker_epoch: int
    next_producer_id: int

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        next_producer_id: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class QuotaRecord(MessageObject):  # metadata 14, versions 0
    class EntityData(MessageObject):
        entity_type: str
        entity_name: str | None

        def __init__(
            self, *, entity_type: str = "", entity_name: str | None = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    entity: list[QuotaRecord.EntityData]
    key: str
    value: float
    remove: bool

    def __init__(
        self,
        *,
        entity: list[QuotaRecord.EntityData] = ...,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class RegisterBrokerRecord(MessageObject):  # metadata 0, versions 0-4
    class BrokerEndpoint(MessageObject):
        name: str
        host: str
        port: int
        security_protocol: int

        def __init__(
            self,
            *,
            name: str = "",
            host: str = "",
            port: int = 0,
            security_protocol: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class BrokerFeature(MessageObject):
        name: str
        min_supported_version: int
        max_supported_version: int

        def __init__(
            self,
            *,
            name: str = "",
            min_supported_version: int = 0,
            max_supported_version: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    broker_id: int
    is_migrating_zk_broker: bool  # 2+
    incarnation_id: Uuid
    broker_epoch: int
    end_points: list[RegisterBrokerRecord.BrokerEndpoint]
    features: list[RegisterBrokerRecord.BrokerFeature]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool  # 1+
    log_dirs: tuple[Uuid, ...]  # 3+, tag 0
    cordoned_log_dirs: tuple[Uuid, ...] | None  # 4+, tag 1

    def __init__(
        self,
        *,
        broker_id: int = 0,
        is_migrating_zk_broker: bool = False,
        incarnation_id: Uuid = ...,
        broker_epoch: int = 0,
        end_points: list[RegisterBrokerRecord.BrokerEndpoint] = ...,
        features: list[RegisterBrokerRecord.BrokerFeature] = ...,
        rack: str | None = "",
        fenced: bool = True,
        in_controlled_shutdown: bool = False,
        log_dirs: list[Uuid] | tuple[Uuid, ...] = (),
        cordoned_log_dirs: list[Uuid] | tuple[Uuid, ...] | None = None,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class RegisterControllerRecord(MessageObject):  # metadata 27, versions 0
    class ControllerEndpoint(MessageObject):
        name: str
        host: str
        port: int
        security_protocol: int

        def __init__(
            self,
            *,
            name: str = "",
            host: str = "",
            port: int = 0,
            security_protocol: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class ControllerFeature(MessageObject):
        name: str
        min_supported_version: int
        max_supported_version: int

        def __init__(
            self,
            *,
            name: str = "",
            min_supported_version: int = 0,
            max_supported_version: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    controller_id: int
    incarnation_id: Uuid
    zk_migration_ready: bool
    end_points: list[RegisterControllerRecord.ControllerEndpoint]
    features: list[RegisterControllerRecord.ControllerFeature]

    def __init__(
        self,
        *,
        controller_id: int = 0,
        incarnation_id: Uuid = ...,
        zk_migration_ready: bool = False,
        end_points: list[RegisterControllerRecord.ControllerEndpoint] = ...,
        features: list[RegisterControllerRecord.ControllerFeature] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class RemoveAccessControlEntryRecord(MessageObject):  # metadata 19, versions 0
    id: Uuid

    def __init__(self, *, id: Uuid = ..., unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class RemoveDelegationTokenRecord(MessageObject):  # metadata 26, versions 0
    token_id: str

    def __init__(self, *, token_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class RemoveFeatureLevelRecord(MessageObject):  # metadata 16, versions 0
    name: str

    def __init__(self, *, name: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class RemoveTopicRecord(MessageObject):  # metadata 9, versions 0
    topic_id: Uuid

    def __init__(self, *, topic_id: Uuid = ..., unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class RemoveUserScramCredentialRecord(MessageObject):  # metadata 22, versions 0
    name: str
    mechanism: int

    def __init__(self, *, name: str = "", mechanism: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class TopicRecord(MessageObject):  # metadata 2, versions 0
    name: str
    topic_id: Uuid

    def __init__(self, *, name: str = "", topic_id: Uuid = ..., unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class UnfenceBrokerRecord(MessageObject):  # metadata 8, versions 0
    id: int
    epoch: int

    def __init__(self, *, id: int = 0, epoch: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class UnregisterBrokerRecord(MessageObject):  # metadata 1, versions 0
    broker_id: int
    broker_epoch: int

    def __init__(self, *, broker_id: int = 0, broker_epoch: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class UnregisterControllerRecord(MessageObject):  # metadata 29, versions 0
    controller_id: int

    def __init__(self, *, controller_id: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class UserScramCredentialRecord(MessageObject):  # metadata 11, versions 0
    name: str
    mechanism: int
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        salt: bytes = b"",
        stored_key: bytes = b"",
        server_key: bytes = b"",
        iterations: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ZkMigrationStateRecord(MessageObject):  # metadata 21, versions 0
    zk_migration_state: int

    def __init__(self, *, zk_migration_state: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...
