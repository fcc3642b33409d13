# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DeleteTopicsRequest(MessageObject):  # request 20, versions 0-6
    api_key: ClassVar[Literal[ApiKey.DELETE_TOPICS]]
    valid_versions: ClassVar[Versions]
    class DeleteTopicState(MessageObject):
        name: str | None = None  # 6+
        topic_id: Uuid = ...  # 6+

    topics: list[DeleteTopicsRequest.DeleteTopicState] = ...  # 6+
    topic_names: tuple[str, ...] = ()  # 0-5
    timeout_ms: int = 0

class DeleteTopicsResponse(MessageObject):  # response 20, versions 0-6
    api_key: ClassVar[Literal[ApiKey.DELETE_TOPICS]]
    valid_versions: ClassVar[Versions]
    class DeletableTopicResult(MessageObject):
        name: str | None = ""  # null in 6+
        topic_id: Uuid = ...  # 6+
        error_code: int = 0
        error_message: str | None = None  # 5+

    throttle_time_ms: int = 0  # 1+
    responses: list[DeleteTopicsResponse.DeletableTopicResult] = ...
