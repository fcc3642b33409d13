# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class UnregisterBrokerRequest(MessageObject):  # request 64, versions 0
    api_key: ClassVar[Literal[ApiKey.UNREGISTER_BROKER]]
    valid_versions: ClassVar[Versions]
    broker_id: int = 0

class UnregisterBrokerResponse(MessageObject):  # response 64, versions 0
    api_key: ClassVar[Literal[ApiKey.UNREGISTER_BROKER]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
