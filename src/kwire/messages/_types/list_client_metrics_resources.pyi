# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ListClientMetricsResourcesRequest(MessageObject):  # request 74, versions 0
    api_key: ClassVar[Literal[ApiKey.LIST_CONFIG_RESOURCES]]
    valid_versions: ClassVar[Versions]
    ...

class ListClientMetricsResourcesResponse(MessageObject):  # response 74, versions 0
    api_key: ClassVar[Literal[ApiKey.LIST_CONFIG_RESOURCES]]
    valid_versions: ClassVar[Versions]
    class ClientMetricsResource(MessageObject):
        name: str = ""

    throttle_time_ms: int = 0
    error_code: int = 0
    client_metrics_resources: list[ListClientMetricsResourcesResponse.ClientMetricsResource] = ...
