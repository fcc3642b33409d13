# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class ListGroupsRequest(MessageObject):  # request 16, versions 0-5
    states_filter: tuple[str, ...]  # 4+
    types_filter: tuple[str, ...]  # 5+

    def __init__(
        self,
        *,
        states_filter: list[str] | tuple[str, ...] = (),
        types_filter: list[str] | tuple[str, ...] = (),
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ListGroupsResponse(MessageObject):  # response 16, versions 0-5
    class ListedGroup(MessageObject):
        group_id: str
        protocol_type: str
        group_state: str  # 4+
        group_type: str  # 5+

        def __init__(
            self,
            *,
            group_id: str = "",
            protocol_type: str = "",
            group_state: str = "",
            group_type: str = "",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int  # 1+
    error_code: int
    groups: list[ListGroupsResponse.ListedGroup]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: list[ListGroupsResponse.ListedGroup] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
