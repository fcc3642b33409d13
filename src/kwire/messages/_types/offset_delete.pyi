# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class OffsetDeleteRequest(MessageObject):  # request 47, versions 0
    api_key: ClassVar[Literal[ApiKey.OFFSET_DELETE]]
    valid_versions: ClassVar[Versions]
    class OffsetDeleteRequestTopic(MessageObject):
        name: str = ""
        partitions: list[OffsetDeleteRequest.OffsetDeleteRequestPartition] = ...

    class OffsetDeleteRequestPartition(MessageObject):
        partition_index: int = 0

    group_id: str = ""
    topics: list[OffsetDeleteRequest.OffsetDeleteRequestTopic] = ...

class OffsetDeleteResponse(MessageObject):  # response 47, versions 0
    api_key: ClassVar[Literal[ApiKey.OFFSET_DELETE]]
    valid_versions: ClassVar[Versions]
    class OffsetDeleteResponseTopic(MessageObject):
        name: str = ""
        partitions: list[OffsetDeleteResponse.OffsetDeleteResponsePartition] = ...

    class OffsetDeleteResponsePartition(MessageObject):
        partition_index: int = 0
        error_code: int = 0

    error_code: int = 0
    throttle_time_ms: int = 0
    topics: list[OffsetDeleteResponse.OffsetDeleteResponseTopic] = ...
