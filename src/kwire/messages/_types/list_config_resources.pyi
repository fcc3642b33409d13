# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class ListConfigResourcesRequest(MessageObject):  # request 74, versions 0-1
    resource_types: tuple[int, ...]  # 1+

    def __init__(
        self, *, resource_types: list[int] | tuple[int, ...] = (), unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class ListConfigResourcesResponse(MessageObject):  # response 74, versions 0-1
    class ConfigResource(MessageObject):
        resource_name: str
        resource_type: int  # 1+

        def __init__(
            self, *, resource_name: str = "", resource_type: int = 16, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    config_resources: list[ListConfigResourcesResponse.ConfigResource]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: list[ListConfigResourcesResponse.ConfigResource] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
