# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class BrokerHeartbeatRequest(MessageObject):  # request 63, versions 0-2
    api_key: ClassVar[Literal[ApiKey.BROKER_HEARTBEAT]]
    valid_versions: ClassVar[Versions]
    broker_id: int = 0
    broker_epoch: int = -1
    current_metadata_offset: int = 0
    want_fence: bool = False
    want_shut_down: bool = False
    offline_log_dirs: tuple[Uuid, ...] = ()  # 1+, tag 0
    cordoned_log_dirs: tuple[Uuid, ...] | None = None  # 2+, tag 1

class BrokerHeartbeatResponse(MessageObject):  # response 63, versions 0-2
    api_key: ClassVar[Literal[ApiKey.BROKER_HEARTBEAT]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0
    error_code: int = 0
    is_caught_up: bool = False
    is_fenced: bool = True
    should_shut_down: bool = False
