# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class UpdateFeaturesRequest(MessageObject):  # request 57, versions 0-2
    api_key: ClassVar[Literal[ApiKey.UPDATE_FEATURES]]
    valid_versions: ClassVar[Versions]
    class FeatureUpdateKey(MessageObject):
        feature: str = ""
        max_version_level: int = 0
        upgrade_type: int = 1  # 1+
        allow_downgrade: bool = False  # 0

    timeout_ms: int = 60000
    feature_updates: list[UpdateFeaturesRequest.FeatureUpdateKey] = ...
    validate_only: bool = False  # 1+

class UpdateFeaturesResponse(MessageObject):  # response 57, versions 0-2
    api_key: ClassVar[Literal[ApiKey.UPDATE_FEATURES]]
    valid_versions: ClassVar[Versions]
    class UpdatableFeatureResult(MessageObject):
        feature: str = ""
        error_code: int = 0
        error_message: str | None = ""

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    results: list[UpdateFeaturesResponse.UpdatableFeatureResult] = ...  # 0-1
