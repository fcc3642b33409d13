# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class InitializeShareGroupStateRequest(MessageObject):  # request 83, versions 0
    api_key: ClassVar[Literal[ApiKey.INITIALIZE_SHARE_GROUP_STATE]]
    valid_versions: ClassVar[Versions]
    class InitializeStateData(MessageObject):
        topic_id: Uuid = ...
        partitions: list[InitializeShareGroupStateRequest.PartitionData] = ...

    class PartitionData(MessageObject):
        partition: int = 0
        state_epoch: int = 0
        start_offset: int = 0

    group_id: str = ""
    topics: list[InitializeShareGroupStateRequest.InitializeStateData] = ...

class InitializeShareGroupStateResponse(MessageObject):  # response 83, versions 0
    api_key: ClassVar[Literal[ApiKey.INITIALIZE_SHARE_GROUP_STATE]]
    valid_versions: ClassVar[Versions]
    class InitializeStateResult(MessageObject):
        topic_id: Uuid = ...
        partitions: list[InitializeShareGroupStateResponse.PartitionResult] = ...

    class PartitionResult(MessageObject):
        partition: int = 0
        error_code: int = 0
        error_message: str | None = None

    results: list[InitializeShareGroupStateResponse.InitializeStateResult] = ...
