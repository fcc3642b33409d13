# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DeleteGroupsRequest(MessageObject):  # request 42, versions 0-3
    api_key: ClassVar[Literal[ApiKey.DELETE_GROUPS]]
    valid_versions: ClassVar[Versions]
    groups_names: tuple[str, ...] = ()

class DeleteGroupsResponse(MessageObject):  # response 42, versions 0-3
    api_key: ClassVar[Literal[ApiKey.DELETE_GROUPS]]
    valid_versions: ClassVar[Versions]
    class DeletableGroupResult(MessageObject):
        group_id: str = ""
        error_code: int = 0
        error_message: str | None = None  # 3+

    throttle_time_ms: int = 0
    results: list[DeleteGroupsResponse.DeletableGroupResult] = ...
