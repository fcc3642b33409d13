# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AlterConfigsRequest(MessageObject):  # request 33, versions 0-2
    api_key: ClassVar[Literal[ApiKey.ALTER_CONFIGS]]
    valid_versions: ClassVar[Versions]
    class AlterConfigsResource(MessageObject):
        resource_type: int = 0
        resource_name: str = ""
        configs: list[AlterConfigsRequest.AlterableConfig] = ...

    class AlterableConfig(MessageObject):
        name: str = ""
        value: str | None = ""

    resources: list[AlterConfigsRequest.AlterConfigsResource] = ...
    validate_only: bool = False

class AlterConfigsResponse(MessageObject):  # response 33, versions 0-2
    api_key: ClassVar[Literal[ApiKey.ALTER_CONFIGS]]
    valid_versions: ClassVar[Versions]
    class AlterConfigsResourceResponse(MessageObject):
        error_code: int = 0
        error_message: str | None = ""
        resource_type: int = 0
        resource_name: str = ""

    throttle_time_ms: int = 0
    responses: list[AlterConfigsResponse.AlterConfigsResourceResponse] = ...
    resources: list[AlterConfigsResponse.AlterConfigsResourceResponse] = ...  # responses after Kafka 2.3
