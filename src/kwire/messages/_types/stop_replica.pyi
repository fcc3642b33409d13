# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class StopReplicaRequest(MessageObject):  # request 5, versions 0-4
    api_key: ClassVar[Literal[ApiKey.STOP_REPLICA]]
    valid_versions: ClassVar[Versions]
    class StopReplicaTopicState(MessageObject):
        topic_name: str = ""  # 3+
        partition_states: list[StopReplicaRequest.StopReplicaPartitionState] = ...  # 3+

    class StopReplicaPartitionState(MessageObject):
        partition_index: int = 0  # 3+
        leader_epoch: int = -1  # 3+
        delete_partition: bool = False  # 3+

    class StopReplicaTopicV1(MessageObject):
        name: str = ""  # 1-2
        partition_indexes: tuple[int, ...] = ()  # 1-2

    class StopReplicaPartitionV0(MessageObject):
        topic_name: str = ""  # 0
        partition_index: int = 0  # 0

    controller_id: int = 0
    is_k_raft_controller: bool = False  # 4+
    controller_epoch: int = 0
    broker_epoch: int = -1  # 1+
    topic_states: list[StopReplicaRequest.StopReplicaTopicState] = ...  # 3+
    delete_partitions: bool = False  # 0-2
    topics: list[StopReplicaRequest.StopReplicaTopicV1] = ...  # 1-2
    ungrouped_partitions: list[StopReplicaRequest.StopReplicaPartitionV0] = ...  # 0
    partitions_v0: list[StopReplicaRequest.StopReplicaPartitionV0] = ...  # ungrouped_partitions after Kafka 2.3

class StopReplicaResponse(MessageObject):  # response 5, versions 0-4
    api_key: ClassVar[Literal[ApiKey.STOP_REPLICA]]
    valid_versions: ClassVar[Versions]
    class StopReplicaPartitionError(MessageObject):
        topic_name: str = ""
        partition_index: int = 0
        error_code: int = 0

    error_code: int = 0
    partition_errors: list[StopReplicaResponse.StopReplicaPartitionError] = ...
    partitions: list[StopReplicaResponse.StopReplicaPartitionError] = ...  # partition_errors after Kafka 2.3
