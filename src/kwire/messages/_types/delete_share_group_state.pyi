# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DeleteShareGroupStateRequest(MessageObject):  # request 86, versions 0
    api_key: ClassVar[Literal[ApiKey.DELETE_SHARE_GROUP_STATE]]
    valid_versions: ClassVar[Versions]
    class DeleteStateData(MessageObject):
        topic_id: Uuid = ...
        partitions: list[DeleteShareGroupStateRequest.PartitionData] = ...

    class PartitionData(MessageObject):
        partition: int = 0

    group_id: str = ""
    topics: list[DeleteShareGroupStateRequest.DeleteStateData] = ...

class DeleteShareGroupStateResponse(MessageObject):  # response 86, versions 0
    api_key: ClassVar[Literal[ApiKey.DELETE_SHARE_GROUP_STATE]]
    valid_versions: ClassVar[Versions]
    class DeleteStateResult(MessageObject):
        topic_id: Uuid = ...
        partitions: list[DeleteShareGroupStateResponse.PartitionResult] = ...

    class PartitionResult(MessageObject):
        partition: int = 0
        error_code: int = 0
        error_message: str | None = None

    results: list[DeleteShareGroupStateResponse.DeleteStateResult] = ...
