# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class FindCoordinatorRequest(MessageObject):  # request 10, versions 0-6
    api_key: ClassVar[Literal[ApiKey.FIND_COORDINATOR]]
    valid_versions: ClassVar[Versions]
    key: str = ""  # 0-3
    key_type: int = 0  # 1+
    coordinator_keys: tuple[str, ...] = ()  # 4+

class FindCoordinatorResponse(MessageObject):  # response 10, versions 0-6
    api_key: ClassVar[Literal[ApiKey.FIND_COORDINATOR]]
    valid_versions: ClassVar[Versions]
    class Coordinator(MessageObject):
        key: str = ""  # 4+
        node_id: int = 0  # 4+
        host: str = ""  # 4+
        port: int = 0  # 4+
        error_code: int = 0  # 4+
        error_message: str | None = ""  # 4+

    throttle_time_ms: int = 0  # 1+
    coordinators: list[FindCoordinatorResponse.Coordinator] = ...  # 4+
    error_code: int = 0  # 0-3
    error_message: str | None = ""  # 1-3
    node_id: int = 0  # 0-3
    host: str = ""  # 0-3
    port: int = 0  # 0-3
