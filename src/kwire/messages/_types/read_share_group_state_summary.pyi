# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ReadShareGroupStateSummaryRequest(MessageObject):  # request 87, versions 0-1
    api_key: ClassVar[Literal[ApiKey.READ_SHARE_GROUP_STATE_SUMMARY]]
    valid_versions: ClassVar[Versions]
    class ReadStateSummaryData(MessageObject):
        topic_id: Uuid = ...
        partitions: list[ReadShareGroupStateSummaryRequest.PartitionData] = ...

    class PartitionData(MessageObject):
        partition: int = 0
        leader_epoch: int = 0

    group_id: str = ""
    topics: list[ReadShareGroupStateSummaryRequest.ReadStateSummaryData] = ...

class ReadShareGroupStateSummaryResponse(MessageObject):  # response 87, versions 0-1
    api_key: ClassVar[Literal[ApiKey.READ_SHARE_GROUP_STATE_SUMMARY]]
    valid_versions: ClassVar[Versions]
    class ReadStateSummaryResult(MessageObject):
        topic_id: Uuid = ...
        partitions: list[ReadShareGroupStateSummaryResponse.PartitionResult] = ...

    class PartitionResult(MessageObject):
        partition: int = 0
        error_code: int = 0
        error_message: str | None = None
        state_epoch: int = 0
        leader_epoch: int = 0
        start_offset: int = 0
        delivery_complete_count: int = -1  # 1+

    results: list[ReadShareGroupStateSummaryResponse.ReadStateSummaryResult] = ...
