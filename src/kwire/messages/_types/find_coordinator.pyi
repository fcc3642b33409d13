# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class FindCoordinatorRequest(MessageObject):  # request 10, versions 0-6
    key: str  # 0-3
    key_type: int  # 1+
    coordinator_keys: tuple[str, ...]  # 4+

    def __init__(
        self,
        *,
        key: str = "",
        key_type: int = 0,
        coordinator_keys: list[str] | tuple[str, ...] = (),
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class FindCoordinatorResponse(MessageObject):  # response 10, versions 0-6
    class Coordinator(MessageObject):
        key: str  # 4+
        node_id: int  # 4+
        host: str  # 4+
        port: int  # 4+
        error_code: int  # 4+
        error_message: str | None  # 4+

        def __init__(
            self,
            *,
            key: str = "",
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            error_code: int = 0,
            error_message: str | None = "",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int  # 1+
    coordinators: list[FindCoordinatorResponse.Coordinator]  # 4+
    error_code: int  # 0-3
    error_message: str | None  # 1-3
    node_id: int  # 0-3
    host: str  # 0-3
    port: int  # 0-3

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        coordinators: list[FindCoordinatorResponse.Coordinator] = ...,
        error_code: int = 0,
        error_message: str | None = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
