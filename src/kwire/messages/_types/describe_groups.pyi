# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class DescribeGroupsRequest(MessageObject):  # request 15, versions 0-6
    groups: tuple[str, ...]
    include_authorized_operations: bool  # 3+

    def __init__(
        self,
        *,
        groups: list[str] | tuple[str, ...] = (),
        include_authorized_operations: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class DescribeGroupsResponse(MessageObject):  # response 15, versions 0-6
    class DescribedGroup(MessageObject):
        error_code: int
        error_message: str | None  # 6+
        group_id: str
        group_state: str
        protocol_type: str
        protocol_data: str
        members: list[DescribeGroupsResponse.DescribedGroupMember]
        authorized_operations: int  # 3+

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = None,
            group_id: str = "",
            group_state: str = "",
            protocol_type: str = "",
            protocol_data: str = "",
            members: list[DescribeGroupsResponse.DescribedGroupMember] = ...,
            authorized_operations: int = -2147483648,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class DescribedGroupMember(MessageObject):
        member_id: str
        group_instance_id: str | None  # 4+
        client_id: str
        client_host: str
        member_metadata: bytes
        member_assignment: bytes

        def __init__(
            self,
            *,
            member_id: str = "",
            group_instance_id: str | None = None,
            client_id: str = "",
            client_host: str = "",
            member_metadata: bytes = b"",
            member_assignment: bytes = b"",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int  # 1+
    groups: list[DescribeGroupsResponse.DescribedGroup]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[DescribeGroupsResponse.DescribedGroup] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
