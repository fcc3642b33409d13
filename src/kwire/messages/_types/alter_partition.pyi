# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AlterPartitionRequest(MessageObject):  # request 56, versions 0-3
    api_key: ClassVar[Literal[ApiKey.ALTER_PARTITION]]
    valid_versions: ClassVar[Versions]
    class TopicData(MessageObject):
        topic_id: Uuid = ...  # 2+
        topic_name: str = ""  # 0-1
        name: str = ""  # topic_name after Kafka 3.2
        partitions: list[AlterPartitionRequest.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0
        leader_epoch: int = 0
        new_isr_with_epochs: list[AlterPartitionRequest.BrokerState] = ...  # 3+
        new_isr: tuple[int, ...] = ()  # 0-2
        leader_recovery_state: int = 0  # 1+
        partition_epoch: int = 0

    class BrokerState(MessageObject):
        broker_id: int = 0  # 3+
        broker_epoch: int = -1  # 3+

    broker_id: int = 0
    broker_epoch: int = -1
    topics: list[AlterPartitionRequest.TopicData] = ...

class AlterPartitionResponse(MessageObject):  # response 56, versions 0-3
    api_key: ClassVar[Literal[ApiKey.ALTER_PARTITION]]
    valid_versions: ClassVar[Versions]
    class TopicData(MessageObject):
        topic_id: Uuid = ...  # 2+
        topic_name: str = ""  # 0-1
        name: str = ""  # topic_name after Kafka 3.2
        partitions: list[AlterPartitionResponse.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0
        error_code: int = 0
        leader_id: int = 0
        leader_epoch: int = 0
        isr: tuple[int, ...] = ()
        leader_recovery_state: int = 0  # 1+
        partition_epoch: int = 0

    throttle_time_ms: int = 0
    error_code: int = 0
    topics: list[AlterPartitionResponse.TopicData] = ...
