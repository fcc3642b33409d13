# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class DeleteTopicsRequest(MessageObject):  # request 20, versions 0-6
    class DeleteTopicState(MessageObject):
        name: str | None  # 6+
        topic_id: Uuid  # 6+

        def __init__(
            self, *, name: str | None = None, topic_id: Uuid = ..., unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    topics: list[DeleteTopicsRequest.DeleteTopicState]  # 6+
    topic_names: tuple[str, ...]  # 0-5
    timeout_ms: int

    def __init__(
        self,
        *,
        topics: list[DeleteTopicsRequest.DeleteTopicState] = ...,
        topic_names: list[str] | tuple[str, ...] = (),
        timeout_ms: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class DeleteTopicsResponse(MessageObject):  # response 20, versions 0-6
    class DeletableTopicResult(MessageObject):
        name: str | None  # null in 6+
        topic_id: Uuid  # 6+
        error_code: int
        error_message: str | None  # 5+

        def __init__(
            self,
            *,
            name: str | None = "",
            topic_id: Uuid = ...,
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int  # 1+
    responses: list[DeleteTopicsResponse.DeletableTopicResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: list[DeleteTopicsResponse.DeletableTopicResult] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
