# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class InitializeShareGroupStateRequest(MessageObject):  # request 83, versions 0
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
    class InitializeStateResult(MessageObject):
        topic_id: Uuid = ...
        partitions: list[InitializeShareGroupStateResponse.PartitionResult] = ...

    class PartitionResult(MessageObject):
        partition: int = 0
        error_code: int = 0
        error_message: str | None = None

    results: list[InitializeShareGroupStateResponse.InitializeStateResult] = ...
