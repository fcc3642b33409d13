# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DeleteShareGroupOffsetsRequest(MessageObject):  # request 92, versions 0
    api_key: ClassVar[Literal[ApiKey.DELETE_SHARE_GROUP_OFFSETS]]
    valid_versions: ClassVar[Versions]
    class DeleteShareGroupOffsetsRequestTopic(MessageObject):
        topic_name: str = ""

    group_id: str = ""
    topics: list[DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic] = ...

class DeleteShareGroupOffsetsResponse(MessageObject):  # response 92, versions 0
    api_key: ClassVar[Literal[ApiKey.DELETE_SHARE_GROUP_OFFSETS]]
    valid_versions: ClassVar[Versions]
    class DeleteShareGroupOffsetsResponseTopic(MessageObject):
        topic_name: str = ""
        topic_id: Uuid = ...
        error_code: int = 0
        error_message: str | None = None

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    responses: list[DeleteShareGroupOffsetsResponse.DeleteShareGroupOffsetsResponseTopic] = ...
