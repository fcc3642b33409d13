# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class ExpireDelegationTokenRequest(MessageObject):  # request 40, versions 0-2
    hmac: bytes = b""
    expiry_time_period_ms: int = 0

class ExpireDelegationTokenResponse(MessageObject):  # response 40, versions 0-2
    error_code: int = 0
    expiry_timestamp_ms: int = 0
    throttle_time_ms: int = 0
