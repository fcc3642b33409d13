# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DescribeConfigsRequest(MessageObject):  # request 32, versions 0-4
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_CONFIGS]]
    valid_versions: ClassVar[Versions]
    class DescribeConfigsResource(MessageObject):
        resource_type: int = 0
        resource_name: str = ""
        configuration_keys: tuple[str, ...] | None = ()

    resources: list[DescribeConfigsRequest.DescribeConfigsResource] = ...
    include_synonyms: bool = False  # 1+
    include_synoyms: bool = False  # include_synonyms after Kafka 2.5
    include_documentation: bool = False  # 3+

class DescribeConfigsResponse(MessageObject):  # response 32, versions 0-4
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_CONFIGS]]
    valid_versions: ClassVar[Versions]
    class DescribeConfigsResult(MessageObject):
        error_code: int = 0
        error_message: str | None = ""
        resource_type: int = 0
        resource_name: str = ""
        configs: list[DescribeConfigsResponse.DescribeConfigsResourceResult] = ...

    class DescribeConfigsResourceResult(MessageObject):
        name: str = ""
        value: str | None = ""
        read_only: bool = False
        config_source: int = -1  # 1+
        is_default: bool = False  # 0
        is_sensitive: bool = False
        synonyms: list[DescribeConfigsResponse.DescribeConfigsSynonym] = ...  # 1+
        config_type: int = 0  # 3+
        documentation: str | None = ""  # 3+

    class DescribeConfigsSynonym(MessageObject):
        name: str = ""  # 1+
        value: str | None = ""  # 1+
        source: int = 0  # 1+

    throttle_time_ms: int = 0
    results: list[DescribeConfigsResponse.DescribeConfigsResult] = ...
