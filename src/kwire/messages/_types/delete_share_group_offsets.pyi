# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class DeleteShareGroupOffsetsRequest(MessageObject):  # request 92, versions 0
    class DeleteShareGroupOffsetsRequestTopic(MessageObject):
        topic_name: str

        def __init__(self, *, topic_name: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    group_id: str
    topics: list[DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic]

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class DeleteShareGroupOffsetsResponse(MessageObject):  # response 92, versions 0
    class DeleteShareGroupOffsetsResponseTopic(MessageObject):
        topic_name: str
        topic_id: Uuid
        error_code: int
        error_message: str | None

        def __init__(
            self,
            *,
            topic_name: str = "",
            topic_id: Uuid = ...,
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    responses: list[DeleteShareGroupOffsetsResponse.DeleteShareGroupOffsetsResponseTopic]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: list[DeleteShareGroupOffsetsResponse.DeleteShareGroupOffsetsResponseTopic] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
