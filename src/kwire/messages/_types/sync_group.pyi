# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class SyncGroupRequest(MessageObject):  # request 14, versions 0-5
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
    throttle_time_ms: int = 0  # 1+
    error_code: int = 0
    protocol_type: str | None = None  # 5+
    protocol_name: str | None = None  # 5+
    assignment: bytes = b""
