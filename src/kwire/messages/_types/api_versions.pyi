# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ApiVersionsRequest(MessageObject):  # request 18, versions 0-5
    api_key: ClassVar[Literal[ApiKey.API_VERSIONS]]
    valid_versions: ClassVar[Versions]
    client_software_name: str = ""  # 3+
    client_software_version: str = ""  # 3+
    cluster_id: str | None = None  # 5+
    node_id: int = -1  # 5+

class ApiVersionsResponse(MessageObject):  # response 18, versions 0-5
    api_key: ClassVar[Literal[ApiKey.API_VERSIONS]]
    valid_versions: ClassVar[Versions]
    class ApiVersion(MessageObject):
        api_key: int = 0
        index: int = 0  # api_key after Kafka 2.3
        min_version: int = 0
        max_version: int = 0

    class SupportedFeatureKey(MessageObject):
        name: str = ""  # 3+
        min_version: int = 0  # 3+
        max_version: int = 0  # 3+

    class FinalizedFeatureKey(MessageObject):
        name: str = ""  # 3+
        max_version_level: int = 0  # 3+
        min_version_level: int = 0  # 3+

    error_code: int = 0
    api_keys: list[ApiVersionsResponse.ApiVersion] = ...
    throttle_time_ms: int = 0  # 1+
    supported_features: list[ApiVersionsResponse.SupportedFeatureKey] = ...  # 3+, tag 0
    finalized_features_epoch: int = -1  # 3+, tag 1
    finalized_features: list[ApiVersionsResponse.FinalizedFeatureKey] = ...  # 3+, tag 2
    zk_migration_ready: bool = False  # 3+, tag 3
