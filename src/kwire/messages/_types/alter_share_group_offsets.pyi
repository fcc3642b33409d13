# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AlterShareGroupOffsetsRequest(MessageObject):  # request 91, versions 0
    api_key: ClassVar[Literal[ApiKey.ALTER_SHARE_GROUP_OFFSETS]]
    valid_versions: ClassVar[Versions]
    class AlterShareGroupOffsetsRequestTopic(MessageObject):
        topic_name: str = ""
        partitions: list[AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestPartition] = ...

    class AlterShareGroupOffsetsRequestPartition(MessageObject):
        partition_index: int = 0
        start_offset: int = 0

    group_id: str = ""
    topics: list[AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestTopic] = ...

class AlterShareGroupOffsetsResponse(MessageObject):  # response 91, versions 0
    api_key: ClassVar[Literal[ApiKey.ALTER_SHARE_GROUP_OFFSETS]]
    valid_versions: ClassVar[Versions]
    class AlterShareGroupOffsetsResponseTopic(MessageObject):
        topic_name: str = ""
        topic_id: Uuid = ...
        partitions: list[AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponsePartition] = ...

    class AlterShareGroupOffsetsResponsePartition(MessageObject):
        partition_index: int = 0
        error_code: int = 0
        error_message: str | None = None

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    responses: list[AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponseTopic] = ...
