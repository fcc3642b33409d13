# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class HeartbeatRequest(MessageObject):  # request 12, versions 0-4
    api_key: ClassVar[Literal[ApiKey.HEARTBEAT]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    generation_id: int = 0
    generationid: int = 0  # generation_id after Kafka 2.2
    member_id: str = ""
    group_instance_id: str | None = None  # 3+

class HeartbeatResponse(MessageObject):  # response 12, versions 0-4
    api_key: ClassVar[Literal[ApiKey.HEARTBEAT]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0  # 1+
    error_code: int = 0
