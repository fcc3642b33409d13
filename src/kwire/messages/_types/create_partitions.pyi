# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class CreatePartitionsRequest(MessageObject):  # request 37, versions 0-3
    class CreatePartitionsTopic(MessageObject):
        name: str = ""
        count: int = 0
        assignments: list[CreatePartitionsRequest.CreatePartitionsAssignment] | None = ...

    class CreatePartitionsAssignment(MessageObject):
        broker_ids: tuple[int, ...] = ()

    topics: list[CreatePartitionsRequest.CreatePartitionsTopic] = ...
    timeout_ms: int = 0
    validate_only: bool = False

class CreatePartitionsResponse(MessageObject):  # response 37, versions 0-3
    class CreatePartitionsTopicResult(MessageObject):
        name: str = ""
        error_code: int = 0
        error_message: str | None = None

    throttle_time_ms: int = 0
    results: list[CreatePartitionsResponse.CreatePartitionsTopicResult] = ...
