# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class DeleteGroupsRequest(MessageObject):  # request 42, versions 0-3
    groups_names: tuple[str, ...] = ()

class DeleteGroupsResponse(MessageObject):  # response 42, versions 0-3
    class DeletableGroupResult(MessageObject):
        group_id: str = ""
        error_code: int = 0
        error_message: str | None = None  # 3+

    throttle_time_ms: int = 0
    results: list[DeleteGroupsResponse.DeletableGroupResult] = ...
