# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DescribeGroupsRequest(MessageObject):  # request 15, versions 0-6
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_GROUPS]]
    valid_versions: ClassVar[Versions]
    groups: tuple[str, ...] = ()
    include_authorized_operations: bool = False  # 3+

class DescribeGroupsResponse(MessageObject):  # response 15, versions 0-6
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_GROUPS]]
    valid_versions: ClassVar[Versions]
    class DescribedGroup(MessageObject):
        error_code: int = 0
        error_message: str | None = None  # 6+
        group_id: str = ""
        group_state: str = ""
        protocol_type: str = ""
        protocol_data: str = ""
        members: list[DescribeGroupsResponse.DescribedGroupMember] = ...
        authorized_operations: int = -2147483648  # 3+

    class DescribedGroupMember(MessageObject):
        member_id: str = ""
        group_instance_id: str | None = None  # 4+
        client_id: str = ""
        client_host: str = ""
        member_metadata: bytes = b""
        member_assignment: bytes = b""

    throttle_time_ms: int = 0  # 1+
    groups: list[DescribeGroupsResponse.DescribedGroup] = ...
