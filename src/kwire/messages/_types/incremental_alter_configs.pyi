# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class IncrementalAlterConfigsRequest(MessageObject):  # request 44, versions 0-1
    api_key: ClassVar[Literal[ApiKey.INCREMENTAL_ALTER_CONFIGS]]
    valid_versions: ClassVar[Versions]
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
    api_key: ClassVar[Literal[ApiKey.INCREMENTAL_ALTER_CONFIGS]]
    valid_versions: ClassVar[Versions]
    class AlterConfigsResourceResponse(MessageObject):
        error_code: int = 0
        error_message: str | None = ""
        resource_type: int = 0
        resource_name: str = ""

    throttle_time_ms: int = 0
    responses: list[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse] = ...
