# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DescribeAclsRequest(MessageObject):  # request 29, versions 0-3
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_ACLS]]
    valid_versions: ClassVar[Versions]
    resource_type_filter: int = 0
    resource_type: int = 0  # resource_type_filter after Kafka 2.4
    resource_name_filter: str | None = ""
    pattern_type_filter: int = 3  # 1+
    resource_pattern_type: int = 3  # pattern_type_filter after Kafka 2.4
    principal_filter: str | None = ""
    host_filter: str | None = ""
    operation: int = 0
    permission_type: int = 0

class DescribeAclsResponse(MessageObject):  # response 29, versions 0-3
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_ACLS]]
    valid_versions: ClassVar[Versions]
    class DescribeAclsResource(MessageObject):
        resource_type: int = 0
        type: int = 0  # resource_type after Kafka 2.4
        resource_name: str = ""
        name: str = ""  # resource_name after Kafka 2.4
        pattern_type: int = 3  # 1+
        acls: list[DescribeAclsResponse.AclDescription] = ...

    class AclDescription(MessageObject):
        principal: str = ""
        host: str = ""
        operation: int = 0
        permission_type: int = 0

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    resources: list[DescribeAclsResponse.DescribeAclsResource] = ...
