# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class CreateTopicsRequest(MessageObject):  # request 19, versions 0-7
    api_key: ClassVar[Literal[ApiKey.CREATE_TOPICS]]
    valid_versions: ClassVar[Versions]
    class CreatableTopic(MessageObject):
        name: str = ""
        num_partitions: int = 0
        replication_factor: int = 0
        assignments: list[CreateTopicsRequest.CreatableReplicaAssignment] = ...
        configs: list[CreateTopicsRequest.CreatableTopicConfig] = ...

    class CreatableReplicaAssignment(MessageObject):
        partition_index: int = 0
        broker_ids: tuple[int, ...] = ()

    class CreatableTopicConfig(MessageObject):
        name: str = ""
        value: str | None = ""

    topics: list[CreateTopicsRequest.CreatableTopic] = ...
    timeout_ms: int = 60000
    validate_only: bool = False  # 1+

class CreateTopicsResponse(MessageObject):  # response 19, versions 0-7
    api_key: ClassVar[Literal[ApiKey.CREATE_TOPICS]]
    valid_versions: ClassVar[Versions]
    class CreatableTopicResult(MessageObject):
        name: str = ""
        topic_id: Uuid = ...  # 7+
        error_code: int = 0
        error_message: str | None = ""  # 1+
        topic_config_error_code: int = 0  # 5+, tag 0
        num_partitions: int = -1  # 5+
        replication_factor: int = -1  # 5+
        configs: list[CreateTopicsResponse.CreatableTopicConfigs] | None = ...  # 5+

    class CreatableTopicConfigs(MessageObject):
        name: str = ""  # 5+
        value: str | None = ""  # 5+
        read_only: bool = False  # 5+
        config_source: int = -1  # 5+
        is_sensitive: bool = False  # 5+

    throttle_time_ms: int = 0  # 2+
    topics: list[CreateTopicsResponse.CreatableTopicResult] = ...
