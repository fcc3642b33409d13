# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class JoinGroupRequest(MessageObject):  # request 11, versions 0-9
    class JoinGroupRequestProtocol(MessageObject):
        name: str
        metadata: bytes

        def __init__(self, *, name: str = "", metadata: bytes = b"", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    group_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int  # 1+
    member_id: str
    group_instance_id: str | None  # 5+
    protocol_type: str
    protocols: list[JoinGroupRequest.JoinGroupRequestProtocol]
    reason: str | None  # 8+

    def __init__(
        self,
        *,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str = "",
        protocols: list[JoinGroupRequest.JoinGroupRequestProtocol] = ...,
        reason: str | None = None,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class JoinGroupResponse(MessageObject):  # response 11, versions 0-9
    class JoinGroupResponseMember(MessageObject):
        member_id: str
        group_instance_id: str | None  # 5+
        metadata: bytes

        def __init__(
            self,
            *,
            member_id: str = "",
            group_instance_id: str | None = None,
            metadata: bytes = b"",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int  # 2+
    error_code: int
    generation_id: int
    protocol_type: str | None  # 7+
    protocol_name: str | None  # null in 7+
    leader: str
    skip_assignment: bool  # 9+
    member_id: str
    members: list[JoinGroupResponse.JoinGroupResponseMember]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,
        member_id: str = "",
        members: list[JoinGroupResponse.JoinGroupResponseMember] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
