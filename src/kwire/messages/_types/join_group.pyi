# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class JoinGroupRequest(MessageObject):  # request 11, versions 0-9
    api_key: ClassVar[Literal[ApiKey.JOIN_GROUP]]
    valid_versions: ClassVar[Versions]
    class JoinGroupRequestProtocol(MessageObject):
        name: str = ""
        metadata: bytes = b""

    group_id: str = ""
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = -1  # 1+
    member_id: str = ""
    group_instance_id: str | None = None  # 5+
    protocol_type: str = ""
    protocols: list[JoinGroupRequest.JoinGroupRequestProtocol] = ...
    reason: str | None = None  # 8+

class JoinGroupResponse(MessageObject):  # response 11, versions 0-9
    api_key: ClassVar[Literal[ApiKey.JOIN_GROUP]]
    valid_versions: ClassVar[Versions]
    class JoinGroupResponseMember(MessageObject):
        member_id: str = ""
        group_instance_id: str | None = None  # 5+
        metadata: bytes = b""

    throttle_time_ms: int = 0  # 2+
    error_code: int = 0
    generation_id: int = -1
    protocol_type: str | None = None  # 7+
    protocol_name: str | None = ""  # null in 7+
    leader: str = ""
    skip_assignment: bool = False  # 9+
    member_id: str = ""
    members: list[JoinGroupResponse.JoinGroupResponseMember] = ...
