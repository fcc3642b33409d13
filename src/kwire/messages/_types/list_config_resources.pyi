# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ListConfigResourcesRequest(MessageObject):  # request 74, versions 0-1
    api_key: ClassVar[Literal[ApiKey.LIST_CONFIG_RESOURCES]]
    valid_versions: ClassVar[Versions]
    resource_types: tuple[int, ...] = ()  # 1+

class ListConfigResourcesResponse(MessageObject):  # response 74, versions 0-1
    api_key: ClassVar[Literal[ApiKey.LIST_CONFIG_RESOURCES]]
    valid_versions: ClassVar[Versions]
    class ConfigResource(MessageObject):
        resource_name: str = ""
        resource_type: int = 16  # 1+

    throttle_time_ms: int = 0
    error_code: int = 0
    config_resources: list[ListConfigResourcesResponse.ConfigResource] = ...
