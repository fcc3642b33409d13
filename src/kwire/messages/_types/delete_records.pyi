# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DeleteRecordsRequest(MessageObject):  # request 21, versions 0-2
    api_key: ClassVar[Literal[ApiKey.DELETE_RECORDS]]
    valid_versions: ClassVar[Versions]
    class DeleteRecordsTopic(MessageObject):
        name: str = ""
        partitions: list[DeleteRecordsRequest.DeleteRecordsPartition] = ...

    class DeleteRecordsPartition(MessageObject):
        partition_index: int = 0
        offset: int = 0

    topics: list[DeleteRecordsRequest.DeleteRecordsTopic] = ...
    timeout_ms: int = 0

class DeleteRecordsResponse(MessageObject):  # response 21, versions 0-2
    api_key: ClassVar[Literal[ApiKey.DELETE_RECORDS]]
    valid_versions: ClassVar[Versions]
    class DeleteRecordsTopicResult(MessageObject):
        name: str = ""
        partitions: list[DeleteRecordsResponse.DeleteRecordsPartitionResult] = ...

    class DeleteRecordsPartitionResult(MessageObject):
        partition_index: int = 0
        low_watermark: int = 0
        error_code: int = 0

    throttle_time_ms: int = 0
    topics: list[DeleteRecordsResponse.DeleteRecordsTopicResult] = ...
