# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class RequestHeader(MessageObject):  # header, versions 0-3
    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None  # 1+
    client_instance_id: Uuid  # 3+

    def __init__(
        self,
        *,
        api_key: int = 0,
        api_version: int = 0,
        correlation_id: int = 0,
        client_id: str | None = "",
        client_instance_id: Uuid = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ResponseHeader(MessageObject):  # header, versions 0-1
    correlation_id: int

    def __init__(self, *, correlation_id: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...
