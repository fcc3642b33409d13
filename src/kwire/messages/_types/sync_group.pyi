# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class SyncGroupRequest(MessageObject):  # request 14, versions 0-5
    class SyncGroupRequestAssignment(MessageObject):
        member_id: str
        assignment: bytes

        def __init__(
            self, *, member_id: str = "", assignment: bytes = b"", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None  # 3+
    protocol_type: str | None  # 5+
    protocol_name: str | None  # 5+
    assignments: list[SyncGroupRequest.SyncGroupRequestAssignment]

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: list[SyncGroupRequest.SyncGroupRequestAssignment] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class SyncGroupResponse(MessageObject):  # response 14, versions 0-5
    throttle_time_ms: int  # 1+
    error_code: int
    protocol_type: str | None  # 5+
    protocol_name: str | None  # 5+
    assignment: bytes

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: bytes = b"",
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
