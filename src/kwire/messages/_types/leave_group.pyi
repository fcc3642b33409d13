# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class LeaveGroupRequest(MessageObject):  # request 13, versions 0-5
    class MemberIdentity(MessageObject):
        member_id: str  # 3+
        group_instance_id: str | None  # 3+
        reason: str | None  # 5+

        def __init__(
            self,
            *,
            member_id: str = "",
            group_instance_id: str | None = None,
            reason: str | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    group_id: str
    members: list[LeaveGroupRequest.MemberIdentity]  # 3+
    member_id: str  # 0-2

    def __init__(
        self,
        *,
        group_id: str = "",
        members: list[LeaveGroupRequest.MemberIdentity] = ...,
        member_id: str = "",
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class LeaveGroupResponse(MessageObject):  # response 13, versions 0-5
    class MemberResponse(MessageObject):
        member_id: str  # 3+
        group_instance_id: str | None  # 3+
        error_code: int  # 3+

        def __init__(
            self,
            *,
            member_id: str = "",
            group_instance_id: str | None = "",
            error_code: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int  # 1+
    error_code: int
    members: list[LeaveGroupResponse.MemberResponse]  # 3+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: list[LeaveGroupResponse.MemberResponse] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
