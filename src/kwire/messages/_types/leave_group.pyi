# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class LeaveGroupRequest(MessageObject):  # request 13, versions 0-5
    api_key: ClassVar[Literal[ApiKey.LEAVE_GROUP]]
    valid_versions: ClassVar[Versions]
    class MemberIdentity(MessageObject):
        member_id: str = ""  # 3+
        group_instance_id: str | None = None  # 3+
        reason: str | None = None  # 5+

    group_id: str = ""
    members: list[LeaveGroupRequest.MemberIdentity] = ...  # 3+
    member_id: str = ""  # 0-2

class LeaveGroupResponse(MessageObject):  # response 13, versions 0-5
    api_key: ClassVar[Literal[ApiKey.LEAVE_GROUP]]
    valid_versions: ClassVar[Versions]
    class MemberResponse(MessageObject):
        member_id: str = ""  # 3+
        group_instance_id: str | None = ""  # 3+
        error_code: int = 0  # 3+

    throttle_time_ms: int = 0  # 1+
    error_code: int = 0
    members: list[LeaveGroupResponse.MemberResponse] = ...  # 3+
