# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class ListClientMetricsResourcesRequest(MessageObject):  # request 74, versions 0
    def __init__(self, *, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class ListClientMetricsResourcesResponse(MessageObject):  # response 74, versions 0
    class ClientMetricsResource(MessageObject):
        name: str

        def __init__(self, *, name: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    throttle_time_ms: int
    error_code: int
    client_metrics_resources: list[ListClientMetricsResourcesResponse.ClientMetricsResource]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_metrics_resources: list[ListClientMetricsResourcesResponse.ClientMetricsResource] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
