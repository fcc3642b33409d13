# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class ApiVersionsRequest(MessageObject):  # request 18, versions 0-5
    client_software_name: str  # 3+
    client_software_version: str  # 3+
    cluster_id: str | None  # 5+
    node_id: int  # 5+

    def __init__(
        self,
        *,
        client_software_name: str = "",
        client_software_version: str = "",
        cluster_id: str | None = None,
        node_id: int = -1,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ApiVersionsResponse(MessageObject):  # response 18, versions 0-5
    class ApiVersion(MessageObject):
        api_key: int
        min_version: int
        max_version: int

        def __init__(
            self, *, api_key: int = 0, min_version: int = 0, max_version: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    class SupportedFeatureKey(MessageObject):
        name: str  # 3+
        min_version: int  # 3+
        max_version: int  # 3+

        def __init__(
            self, *, name: str = "", min_version: int = 0, max_version: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    class FinalizedFeatureKey(MessageObject):
        name: str  # 3+
        max_version_level: int  # 3+
        min_version_level: int  # 3+

        def __init__(
            self,
            *,
            name: str = "",
            max_version_level: int = 0,
            min_version_level: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    error_code: int
    api_keys: list[ApiVersionsResponse.ApiVersion]
    throttle_time_ms: int  # 1+
    supported_features: list[ApiVersionsResponse.SupportedFeatureKey]  # 3+, tag 0
    finalized_features_epoch: int  # 3+, tag 1
    finalized_features: list[ApiVersionsResponse.FinalizedFeatureKey]  # 3+, tag 2
    zk_migration_ready: bool  # 3+, tag 3

    def __init__(
        self,
        *,
        error_code: int = 0,
        api_keys: list[ApiVersionsResponse.ApiVersion] = ...,
        throttle_time_ms: int = 0,
        supported_features: list[ApiVersionsResponse.SupportedFeatureKey] = ...,
        finalized_features_epoch: int = -1,
        finalized_features: list[ApiVersionsResponse.FinalizedFeatureKey] = ...,
        zk_migration_ready: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
