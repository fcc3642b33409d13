# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class CreateAclsRequest(MessageObject):  # request 30, versions 0-3
    api_key: ClassVar[Literal[ApiKey.CREATE_ACLS]]
    valid_versions: ClassVar[Versions]
    class AclCreation(MessageObject):
        resource_type: int = 0
        resource_name: str = ""
        resource_pattern_type: int = 3  # 1+
        principal: str = ""
        host: str = ""
        operation: int = 0
        permission_type: int = 0

    creations: list[CreateAclsRequest.AclCreation] = ...

class CreateAclsResponse(MessageObject):  # response 30, versions 0-3
    api_key: ClassVar[Literal[ApiKey.CREATE_ACLS]]
    valid_versions: ClassVar[Versions]
    class AclCreationResult(MessageObject):
        error_code: int = 0
        error_message: str | None = ""

    throttle_time_ms: int = 0
    results: list[CreateAclsResponse.AclCreationResult] = ...
