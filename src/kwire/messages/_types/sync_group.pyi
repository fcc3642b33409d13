# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class SyncGroupRequest(MessageObject):  # request 14, versions 0-5
    api_key: ClassVar[Literal[ApiKey.SYNC_GROUP]]
    valid_versions: ClassVar[Versions]
    class SyncGroupRequestAssignment(MessageObject):
        member_id: str = ""
        assignment: bytes = b""

    group_id: str = ""
    generation_id: int = 0
    member_id: str = ""
    group_instance_id: str | None = None  # 3+
    protocol_type: str | None = None  # 5+
    protocol_name: str | None = None  # 5+
    assignments: list[SyncGroupRequest.SyncGroupRequestAssignment] = ...

class SyncGroupResponse(MessageObject):  # response 14, versions 0-5
    api_key: ClassVar[Literal[ApiKey.SYNC_GROUP]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0  # 1+
    error_code: int = 0
    protocol_type: str | None = None  # 5+
    protocol_name: str | None = None  # 5+
    assignment: bytes = b""
