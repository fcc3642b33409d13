# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class AddRaftVoterRequest(MessageObject):  # request 80, versions 0-1
    class Listener(MessageObject):
        name: str
        host: str
        port: int

        def __init__(
            self, *, name: str = "", host: str = "", port: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    cluster_id: str | None
    timeout_ms: int
    voter_id: int
    voter_directory_id: Uuid
    listeners: list[AddRaftVoterRequest.Listener]
    ack_when_committed: bool  # 1+

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        timeout_ms: int = 0,
        voter_id: int = 0,
        voter_directory_id: Uuid = ...,
        listeners: list[AddRaftVoterRequest.Listener] = ...,
        ack_when_committed: bool = True,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class AddRaftVoterResponse(MessageObject):  # response 80, versions 0-1
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
