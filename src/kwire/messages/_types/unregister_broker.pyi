# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class UnregisterBrokerRequest(MessageObject):  # request 64, versions 0
    broker_id: int

    def __init__(self, *, broker_id: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class UnregisterBrokerResponse(MessageObject):  # response 64, versions 0
    throttle_time_ms: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
