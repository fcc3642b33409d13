# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class SaslHandshakeRequest(MessageObject):  # request 17, versions 0-1
    mechanism: str

    def __init__(self, *, mechanism: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class SaslHandshakeResponse(MessageObject):  # response 17, versions 0-1
    error_code: int
    mechanisms: tuple[str, ...]

    def __init__(
        self, *, error_code: int = 0, mechanisms: list[str] | tuple[str, ...] = (), unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...
