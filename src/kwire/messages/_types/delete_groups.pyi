# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class DeleteGroupsRequest(MessageObject):  # request 42, versions 0-3
    groups_names: tuple[str, ...]

    def __init__(
        self, *, groups_names: list[str] | tuple[str, ...] = (), unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class DeleteGroupsResponse(MessageObject):  # response 42, versions 0-3
    class DeletableGroupResult(MessageObject):
        group_id: str
        error_code: int
        error_message: str | None  # 3+

        def __init__(
            self,
            *,
            group_id: str = "",
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    results: list[DeleteGroupsResponse.DeletableGroupResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[DeleteGroupsResponse.DeletableGroupResult] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
