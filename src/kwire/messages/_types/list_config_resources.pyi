# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class ListConfigResourcesRequest(MessageObject):  # request 74, versions 0-1
    resource_types: tuple[int, ...] = ()  # 1+

class ListConfigResourcesResponse(MessageObject):  # response 74, versions 0-1
    class ConfigResource(MessageObject):
        resource_name: str = ""
        resource_type: int = 16  # 1+

    throttle_time_ms: int = 0
    error_code: int = 0
    config_resources: list[ListConfigResourcesResponse.ConfigResource] = ...
