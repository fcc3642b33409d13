# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DeleteAclsRequest(MessageObject):  # request 31, versions 0-3
    api_key: ClassVar[Literal[ApiKey.DELETE_ACLS]]
    valid_versions: ClassVar[Versions]
    class DeleteAclsFilter(MessageObject):
        resource_type_filter: int = 0
        resource_name_filter: str | None = ""
        pattern_type_filter: int = 3  # 1+
        principal_filter: str | None = ""
        host_filter: str | None = ""
        operation: int = 0
        permission_type: int = 0

    filters: list[DeleteAclsRequest.DeleteAclsFilter] = ...

class DeleteAclsResponse(MessageObject):  # response 31, versions 0-3
    api_key: ClassVar[Literal[ApiKey.DELETE_ACLS]]
    valid_versions: ClassVar[Versions]
    class DeleteAclsFilterResult(MessageObject):
        error_code: int = 0
        error_message: str | None = ""
        matching_acls: list[DeleteAclsResponse.DeleteAclsMatchingAcl] = ...

    class DeleteAclsMatchingAcl(MessageObject):
        error_code: int = 0
        error_message: str | None = ""
        resource_type: int = 0
        resource_name: str = ""
        pattern_type: int = 3  # 1+
        principal: str = ""
        host: str = ""
        operation: int = 0
        permission_type: int = 0

    throttle_time_ms: int = 0
    filter_results: list[DeleteAclsResponse.DeleteAclsFilterResult] = ...
