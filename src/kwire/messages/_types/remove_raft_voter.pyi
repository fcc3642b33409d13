# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class RemoveRaftVoterRequest(MessageObject):  # request 81, versions 0
    cluster_id: str | None
    voter_id: int
    voter_directory_id: Uuid

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        voter_id: int = 0,
        voter_directory_id: Uuid = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class RemoveRaftVoterResponse(MessageObject):  # response 81, versions 0
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
