# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class ExpireDelegationTokenRequest(MessageObject):  # request 40, versions 0-2
    hmac: bytes
    expiry_time_period_ms: int

    def __init__(
        self, *, hmac: bytes = b"", expiry_time_period_ms: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class ExpireDelegationTokenResponse(MessageObject):  # response 40, versions 0-2
    error_code: int
    expiry_timestamp_ms: int
    throttle_time_ms: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
