# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class SaslAuthenticateRequest(MessageObject):  # request 36, versions 0-2
    api_key: ClassVar[Literal[ApiKey.SASL_AUTHENTICATE]]
    valid_versions: ClassVar[Versions]
    auth_bytes: bytes = b""

class SaslAuthenticateResponse(MessageObject):  # response 36, versions 0-2
    api_key: ClassVar[Literal[ApiKey.SASL_AUTHENTICATE]]
    valid_versions: ClassVar[Versions]
    error_code: int = 0
    error_message: str | None = ""
    auth_bytes: bytes = b""
    session_lifetime_ms: int = 0  # 1+
