# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class WriteShareGroupStateRequest(MessageObject):  # request 85, versions 0-1
    api_key: ClassVar[Literal[ApiKey.WRITE_SHARE_GROUP_STATE]]
    valid_versions: ClassVar[Versions]
    class WriteStateData(MessageObject):
        topic_id: Uuid = ...
        partitions: list[WriteShareGroupStateRequest.PartitionData] = ...

    class PartitionData(MessageObject):
        partition: int = 0
        state_epoch: int = 0
        leader_epoch: int = 0
        start_offset: int = 0
        delivery_complete_count: int = -1  # 1+
        state_batches: list[WriteShareGroupStateRequest.StateBatch] = ...

    class StateBatch(MessageObject):
        first_offset: int = 0
        last_offset: int = 0
        delivery_state: int = 0
        delivery_count: int = 0

    group_id: str = ""
    topics: list[WriteShareGroupStateRequest.WriteStateData] = ...

class WriteShareGroupStateResponse(MessageObject):  # response 85, versions 0-1
    api_key: ClassVar[Literal[ApiKey.WRITE_SHARE_GROUP_STATE]]
    valid_versions: ClassVar[Versions]
    class WriteStateResult(MessageObject):
        topic_id: Uuid = ...
        partitions: list[WriteShareGroupStateResponse.PartitionResult] = ...

    class PartitionResult(MessageObject):
        partition: int = 0
        error_code: int = 0
        error_message: str | None = None

    results: list[WriteShareGroupStateResponse.WriteStateResult] = ...
