# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class SaslAuthenticateRequest(MessageObject):  # request 36, versions 0-2
    auth_bytes: bytes

    def __init__(self, *, auth_bytes: bytes = b"", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class SaslAuthenticateResponse(MessageObject):  # response 36, versions 0-2
    error_code: int
    error_message: str | None
    auth_bytes: bytes
    session_lifetime_ms: int  # 1+

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
