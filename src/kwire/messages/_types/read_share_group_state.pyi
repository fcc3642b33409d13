# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ReadShareGroupStateRequest(MessageObject):  # request 84, versions 0
    api_key: ClassVar[Literal[ApiKey.READ_SHARE_GROUP_STATE]]
    valid_versions: ClassVar[Versions]
    class ReadStateData(MessageObject):
        topic_id: Uuid = ...
        partitions: list[ReadShareGroupStateRequest.PartitionData] = ...

    class PartitionData(MessageObject):
        partition: int = 0
        leader_epoch: int = 0

    group_id: str = ""
    topics: list[ReadShareGroupStateRequest.ReadStateData] = ...

class ReadShareGroupStateResponse(MessageObject):  # response 84, versions 0
    api_key: ClassVar[Literal[ApiKey.READ_SHARE_GROUP_STATE]]
    valid_versions: ClassVar[Versions]
    class ReadStateResult(MessageObject):
        topic_id: Uuid = ...
        partitions: list[ReadShareGroupStateResponse.PartitionResult] = ...

    class PartitionResult(MessageObject):
        partition: int = 0
        error_code: int = 0
        error_message: str | None = None
        state_epoch: int = 0
        start_offset: int = 0
        state_batches: list[ReadShareGroupStateResponse.StateBatch] = ...

    class StateBatch(MessageObject):
        first_offset: int = 0
        last_offset: int = 0
        delivery_state: int = 0
        delivery_count: int = 0

    results: list[ReadShareGroupStateResponse.ReadStateResult] = ...
