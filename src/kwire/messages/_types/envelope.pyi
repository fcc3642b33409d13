# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class EnvelopeRequest(MessageObject):  # request 58, versions 0
    request_data: bytes
    request_principal: bytes | None
    client_host_address: bytes

    def __init__(
        self,
        *,
        request_data: bytes = b"",
        request_principal: bytes | None = b"",
        client_host_address: bytes = b"",
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class EnvelopeResponse(MessageObject):  # response 58, versions 0
    response_data: bytes | None
    error_code: int

    def __init__(
        self, *, response_data: bytes | None = None, error_code: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...
