# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class SaslAuthenticateRequest(MessageObject):  # request 36, versions 0-2
    auth_bytes: bytes = b""

class SaslAuthenticateResponse(MessageObject):  # response 36, versions 0-2
    error_code: int = 0
    error_message: str | None = ""
    auth_bytes: bytes = b""
    session_lifetime_ms: int = 0  # 1+
