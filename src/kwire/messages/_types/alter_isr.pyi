# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AlterIsrRequest(MessageObject):  # request 56, versions 0
    api_key: ClassVar[Literal[ApiKey.ALTER_PARTITION]]
    valid_versions: ClassVar[Versions]
    class TopicData(MessageObject):
        name: str = ""
        partitions: list[AlterIsrRequest.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0
        leader_epoch: int = 0
        new_isr: tuple[int, ...] = ()
        current_isr_version: int = 0

    broker_id: int = 0
    broker_epoch: int = -1
    topics: list[AlterIsrRequest.TopicData] = ...

class AlterIsrResponse(MessageObject):  # response 56, versions 0
    api_key: ClassVar[Literal[ApiKey.ALTER_PARTITION]]
    valid_versions: ClassVar[Versions]
    class TopicData(MessageObject):
        name: str = ""
        partitions: list[AlterIsrResponse.PartitionData] = ...

    class PartitionData(MessageObject):
        partition_index: int = 0
        error_code: int = 0
        leader_id: int = 0
        leader_epoch: int = 0
        isr: tuple[int, ...] = ()
        current_isr_version: int = 0

    throttle_time_ms: int = 0
    error_code: int = 0
    topics: list[AlterIsrResponse.TopicData] = ...
