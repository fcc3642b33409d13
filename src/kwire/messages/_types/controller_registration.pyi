# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ControllerRegistrationRequest(MessageObject):  # request 70, versions 0
    api_key: ClassVar[Literal[ApiKey.CONTROLLER_REGISTRATION]]
    valid_versions: ClassVar[Versions]
    class Listener(MessageObject):
        name: str = ""
        host: str = ""
        port: int = 0
        security_protocol: int = 0

    class Feature(MessageObject):
        name: str = ""
        min_supported_version: int = 0
        max_supported_version: int = 0

    controller_id: int = 0
    incarnation_id: Uuid = ...
    zk_migration_ready: bool = False
    listeners: list[ControllerRegistrationRequest.Listener] = ...
    features: list[ControllerRegistrationRequest.Feature] = ...

class ControllerRegistrationResponse(MessageObject):  # response 70, versions 0
    api_key: ClassVar[Literal[ApiKey.CONTROLLER_REGISTRATION]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
