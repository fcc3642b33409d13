# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ExpireDelegationTokenRequest(MessageObject):  # request 40, versions 0-2
    api_key: ClassVar[Literal[ApiKey.EXPIRE_DELEGATION_TOKEN]]
    valid_versions: ClassVar[Versions]
    hmac: bytes = b""
    expiry_time_period_ms: int = 0

class ExpireDelegationTokenResponse(MessageObject):  # response 40, versions 0-2
    api_key: ClassVar[Literal[ApiKey.EXPIRE_DELEGATION_TOKEN]]
    valid_versions: ClassVar[Versions]
    error_code: int = 0
    expiry_timestamp_ms: int = 0
    throttle_time_ms: int = 0
