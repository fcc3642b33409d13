# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class RenewDelegationTokenRequest(MessageObject):  # request 39, versions 0-2
    hmac: bytes = b""
    renew_period_ms: int = 0

class RenewDelegationTokenResponse(MessageObject):  # response 39, versions 0-2
    error_code: int = 0
    expiry_timestamp_ms: int = 0
    throttle_time_ms: int = 0
