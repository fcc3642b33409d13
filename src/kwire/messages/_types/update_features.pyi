# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class UpdateFeaturesRequest(MessageObject):  # request 57, versions 0-2
    class FeatureUpdateKey(MessageObject):
        feature: str
        max_version_level: int
        upgrade_type: int  # 1+
        allow_downgrade: bool  # 0

        def __init__(
            self,
            *,
            feature: str = "",
            max_version_level: int = 0,
            upgrade_type: int = 1,
            allow_downgrade: bool = False,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    timeout_ms: int
    feature_updates: list[UpdateFeaturesRequest.FeatureUpdateKey]
    validate_only: bool  # 1+

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        feature_updates: list[UpdateFeaturesRequest.FeatureUpdateKey] = ...,
        validate_only: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class UpdateFeaturesResponse(MessageObject):  # response 57, versions 0-2
    class UpdatableFeatureResult(MessageObject):
        feature: str
        error_code: int
        error_message: str | None

        def __init__(
            self,
            *,
            feature: str = "",
            error_code: int = 0,
            error_message: str | None = "",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    results: list[UpdateFeaturesResponse.UpdatableFeatureResult]  # 0-1

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[UpdateFeaturesResponse.UpdatableFeatureResult] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
