# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ControlledShutdownRequest(MessageObject):  # request 7, versions 0-3
    api_key: ClassVar[Literal[ApiKey.CONTROLLED_SHUTDOWN]]
    valid_versions: ClassVar[Versions]
    broker_id: int = 0
    broker_epoch: int = -1  # 2+

class ControlledShutdownResponse(MessageObject):  # response 7, versions 0-3
    api_key: ClassVar[Literal[ApiKey.CONTROLLED_SHUTDOWN]]
    valid_versions: ClassVar[Versions]
    class RemainingPartition(MessageObject):
        topic_name: str = ""
        partition_index: int = 0

    error_code: int = 0
    remaining_partitions: list[ControlledShutdownResponse.RemainingPartition] = ...
