# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ListGroupsRequest(MessageObject):  # request 16, versions 0-5
    api_key: ClassVar[Literal[ApiKey.LIST_GROUPS]]
    valid_versions: ClassVar[Versions]
    states_filter: tuple[str, ...] = ()  # 4+
    types_filter: tuple[str, ...] = ()  # 5+

class ListGroupsResponse(MessageObject):  # response 16, versions 0-5
    api_key: ClassVar[Literal[ApiKey.LIST_GROUPS]]
    valid_versions: ClassVar[Versions]
    class ListedGroup(MessageObject):
        group_id: str = ""
        protocol_type: str = ""
        group_state: str = ""  # 4+
        group_type: str = ""  # 5+

    throttle_time_ms: int = 0  # 1+
    error_code: int = 0
    groups: list[ListGroupsResponse.ListedGroup] = ...
