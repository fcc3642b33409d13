# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class HeartbeatRequest(MessageObject):  # request 12, versions 0-4
    group_id: str = ""
    generation_id: int = 0
    member_id: str = ""
    group_instance_id: str | None = None  # 3+

class HeartbeatResponse(MessageObject):  # response 12, versions 0-4
    throttle_time_ms: int = 0  # 1+
    error_code: int = 0
