# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class UpdateMetadataRequest(MessageObject):  # request 6, versions 0-8
    api_key: ClassVar[Literal[ApiKey.UPDATE_METADATA]]
    valid_versions: ClassVar[Versions]
    class UpdateMetadataTopicState(MessageObject):
        topic_name: str = ""  # 5+
        topic_id: Uuid = ...  # 7+
        partition_states: list[UpdateMetadataRequest.UpdateMetadataPartitionState] = ...  # 5+

    class UpdateMetadataPartitionState(MessageObject):
        topic_name: str = ""  # 0-4
        partition_index: int = 0
        controller_epoch: int = 0
        leader: int = 0
        leader_epoch: int = 0
        isr: tuple[int, ...] = ()
        zk_version: int = 0
        replicas: tuple[int, ...] = ()
        offline_replicas: tuple[int, ...] = ()  # 4+

    class UpdateMetadataBroker(MessageObject):
        id: int = 0
        endpoints: list[UpdateMetadataRequest.UpdateMetadataEndpoint] = ...  # 1+
        rack: str | None = ""  # 2+
        v0_host: str = ""  # 0
        v0_port: int = 0  # 0

    class UpdateMetadataEndpoint(MessageObject):
        port: int = 0  # 1+
        host: str = ""  # 1+
        listener: str = ""  # 3+
        security_protocol: int = 0  # 1+

    controller_id: int = 0
    is_k_raft_controller: bool = False  # 8+
    type: int = 0  # 8+, tag 0
    controller_epoch: int = 0
    broker_epoch: int = -1  # 5+
    topic_states: list[UpdateMetadataRequest.UpdateMetadataTopicState] = ...  # 5+
    ungrouped_partition_states: list[UpdateMetadataRequest.UpdateMetadataPartitionState] = ...  # 0-4
    partition_states_v0: list[UpdateMetadataRequest.UpdateMetadataPartitionState] = ...  # ungrouped_partition_states after Kafka 2.3
    live_brokers: list[UpdateMetadataRequest.UpdateMetadataBroker] = ...
    brokers: list[UpdateMetadataRequest.UpdateMetadataBroker] = ...  # live_brokers after Kafka 2.3

class UpdateMetadataResponse(MessageObject):  # response 6, versions 0-8
    api_key: ClassVar[Literal[ApiKey.UPDATE_METADATA]]
    valid_versions: ClassVar[Versions]
    error_code: int = 0
