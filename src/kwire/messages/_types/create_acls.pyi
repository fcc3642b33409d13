# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class CreateAclsRequest(MessageObject):  # request 30, versions 0-3
    class AclCreation(MessageObject):
        resource_type: int
        resource_name: str
        resource_pattern_type: int  # 1+
        principal: str
        host: str
        operation: int
        permission_type: int

        def __init__(
            self,
            *,
            resource_type: int = 0,
            resource_name: str = "",
            resource_pattern_type: int = 3,
            principal: str = "",
            host: str = "",
            operation: int = 0,
            permission_type: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    creations: list[CreateAclsRequest.AclCreation]

    def __init__(
        self, *, creations: list[CreateAclsRequest.AclCreation] = ..., unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class CreateAclsResponse(MessageObject):  # response 30, versions 0-3
    class AclCreationResult(MessageObject):
        error_code: int
        error_message: str | None

        def __init__(
            self, *, error_code: int = 0, error_message: str | None = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    throttle_time_ms: int
    results: list[CreateAclsResponse.AclCreationResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[CreateAclsResponse.AclCreationResult] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
