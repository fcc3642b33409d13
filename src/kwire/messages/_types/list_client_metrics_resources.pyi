# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class ListClientMetricsResourcesRequest(MessageObject):  # request 74, versions 0
    ...

class ListClientMetricsResourcesResponse(MessageObject):  # response 74, versions 0
    class ClientMetricsResource(MessageObject):
        name: str = ""

    throttle_time_ms: int = 0
    error_code: int = 0
    client_metrics_resources: list[ListClientMetricsResourcesResponse.ClientMetricsResource] = ...
