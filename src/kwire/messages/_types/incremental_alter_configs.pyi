# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class IncrementalAlterConfigsRequest(MessageObject):  # request 44, versions 0-1
    class AlterConfigsResource(MessageObject):
        resource_type: int = 0
        resource_name: str = ""
        configs: list[IncrementalAlterConfigsRequest.AlterableConfig] = ...

    class AlterableConfig(MessageObject):
        name: str = ""
        config_operation: int = 0
        value: str | None = ""

    resources: list[IncrementalAlterConfigsRequest.AlterConfigsResource] = ...
    validate_only: bool = False

class IncrementalAlterConfigsResponse(MessageObject):  # response 44, versions 0-1
    class AlterConfigsResourceResponse(MessageObject):
        error_code: int = 0
        error_message: str | None = ""
        resource_type: int = 0
        resource_name: str = ""

    throttle_time_ms: int = 0
    responses: list[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse] = ...
