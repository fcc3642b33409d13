# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class IncrementalAlterConfigsRequest(MessageObject):  # request 44, versions 0-1
    class AlterConfigsResource(MessageObject):
        resource_type: int
        resource_name: str
        configs: list[IncrementalAlterConfigsRequest.AlterableConfig]

        def __init__(
            self,
            *,
            resource_type: int = 0,
            resource_name: str = "",
            configs: list[IncrementalAlterConfigsRequest.AlterableConfig] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class AlterableConfig(MessageObject):
        name: str
        config_operation: int
        value: str | None

        def __init__(
            self,
            *,
            name: str = "",
            config_operation: int = 0,
            value: str | None = "",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    resources: list[IncrementalAlterConfigsRequest.AlterConfigsResource]
    validate_only: bool

    def __init__(
        self,
        *,
        resources: list[IncrementalAlterConfigsRequest.AlterConfigsResource] = ...,
        validate_only: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class IncrementalAlterConfigsResponse(MessageObject):  # response 44, versions 0-1
    class AlterConfigsResourceResponse(MessageObject):
        error_code: int
        error_message: str | None
        resource_type: int
        resource_name: str

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = "",
            resource_type: int = 0,
            resource_name: str = "",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    responses: list[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: list[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
