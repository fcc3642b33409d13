# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class CreatePartitionsRequest(MessageObject):  # request 37, versions 0-3
    api_key: ClassVar[Literal[ApiKey.CREATE_PARTITIONS]]
    valid_versions: ClassVar[Versions]
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
    api_key: ClassVar[Literal[ApiKey.CREATE_PARTITIONS]]
    valid_versions: ClassVar[Versions]
    class CreatePartitionsTopicResult(MessageObject):
        name: str = ""
        error_code: int = 0
        error_message: str | None = None

    throttle_time_ms: int = 0
    results: list[CreatePartitionsResponse.CreatePartitionsTopicResult] = ...
