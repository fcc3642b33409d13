# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class DeleteShareGroupOffsetsRequest(MessageObject):  # request 92, versions 0
    class DeleteShareGroupOffsetsRequestTopic(MessageObject):
        topic_name: str = ""

    group_id: str = ""
    topics: list[DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic] = ...

class DeleteShareGroupOffsetsResponse(MessageObject):  # response 92, versions 0
    class DeleteShareGroupOffsetsResponseTopic(MessageObject):
        topic_name: str = ""
        topic_id: Uuid = ...
        error_code: int = 0
        error_message: str | None = None

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    responses: list[DeleteShareGroupOffsetsResponse.DeleteShareGroupOffsetsResponseTopic] = ...
