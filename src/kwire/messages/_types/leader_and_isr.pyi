# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class LeaderAndIsrRequest(MessageObject):  # request 4, versions 0-7
    api_key: ClassVar[Literal[ApiKey.LEADER_AND_ISR]]
    valid_versions: ClassVar[Versions]
    class LeaderAndIsrTopicState(MessageObject):
        topic_name: str = ""  # 2+
        name: str = ""  # topic_name after Kafka 2.3
        topic_id: Uuid = ...  # 5+
        partition_states: list[LeaderAndIsrRequest.LeaderAndIsrPartitionState] = ...  # 2+

    class LeaderAndIsrPartitionState(MessageObject):
        topic_name: str = ""  # 0-1
        partition_index: int = 0
        controller_epoch: int = 0
        leader: int = 0
        leader_key: int = 0  # leader after Kafka 2.3
        leader_epoch: int = 0
        isr: tuple[int, ...] = ()
        isr_replicas: tuple[int, ...] = ()  # isr after Kafka 2.3
        partition_epoch: int = 0
        zk_version: int = 0  # partition_epoch after Kafka 3.2
        replicas: tuple[int, ...] = ()
        adding_replicas: tuple[int, ...] = ()  # 3+
        removing_replicas: tuple[int, ...] = ()  # 3+
        is_new: bool = False  # 1+
        leader_recovery_state: int = 0  # 6+

    class LeaderAndIsrLiveLeader(MessageObject):
        broker_id: int = 0
        host_name: str = ""
        port: int = 0

    controller_id: int = 0
    is_k_raft_controller: bool = False  # 7+
    controller_epoch: int = 0
    broker_epoch: int = -1  # 2+
    type: int = 0  # 5+
    topic_states: list[LeaderAndIsrRequest.LeaderAndIsrTopicState] = ...  # 2+
    ungrouped_partition_states: list[LeaderAndIsrRequest.LeaderAndIsrPartitionState] = ...  # 0-1
    partition_states_v0: list[LeaderAndIsrRequest.LeaderAndIsrPartitionState] = ...  # ungrouped_partition_states after Kafka 2.3
    live_leaders: list[LeaderAndIsrRequest.LeaderAndIsrLiveLeader] = ...

class LeaderAndIsrResponse(MessageObject):  # response 4, versions 0-7
    api_key: ClassVar[Literal[ApiKey.LEADER_AND_ISR]]
    valid_versions: ClassVar[Versions]
    class LeaderAndIsrTopicError(MessageObject):
        topic_id: Uuid = ...  # 5+
        partition_errors: list[LeaderAndIsrResponse.LeaderAndIsrPartitionError] = ...  # 5+

    class LeaderAndIsrPartitionError(MessageObject):
        topic_name: str = ""  # 0-4
        partition_index: int = 0
        error_code: int = 0

    error_code: int = 0
    topics: list[LeaderAndIsrResponse.LeaderAndIsrTopicError] = ...  # 5+
    partition_errors: list[LeaderAndIsrResponse.LeaderAndIsrPartitionError] = ...  # 0-4
    partitions: list[LeaderAndIsrResponse.LeaderAndIsrPartitionError] = ...  # partition_errors after Kafka 2.3
