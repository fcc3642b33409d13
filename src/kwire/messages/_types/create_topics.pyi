# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class CreateTopicsRequest(MessageObject):  # request 19, versions 0-7
    class CreatableTopic(MessageObject):
        name: str
        num_partitions: int
        replication_factor: int
        assignments: list[CreateTopicsRequest.CreatableReplicaAssignment]
        configs: list[CreateTopicsRequest.CreatableTopicConfig]

        def __init__(
            self,
            *,
            name: str = "",
            num_partitions: int = 0,
            replication_factor: int = 0,
            assignments: list[CreateTopicsRequest.CreatableReplicaAssignment] = ...,
            configs: list[CreateTopicsRequest.CreatableTopicConfig] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class CreatableReplicaAssignment(MessageObject):
        partition_index: int
        broker_ids: tuple[int, ...]

        def __init__(
            self,
            *,
            partition_index: int = 0,
            broker_ids: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class CreatableTopicConfig(MessageObject):
        name: str
        value: str | None

        def __init__(self, *, name: str = "", value: str | None = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    topics: list[CreateTopicsRequest.CreatableTopic]
    timeout_ms: int
    validate_only: bool  # 1+

    def __init__(
        self,
        *,
        topics: list[CreateTopicsRequest.CreatableTopic] = ...,
        timeout_ms: int = 60000,
        validate_only: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class CreateTopicsResponse(MessageObject):  # response 19, versions 0-7
    class CreatableTopicResult(MessageObject):
        name: str
        topic_id: Uuid  # 7+
        error_code: int
        error_message: str | None  # 1+
        topic_config_error_code: int  # 5+, tag 0
        num_partitions: int  # 5+
        replication_factor: int  # 5+
        configs: list[CreateTopicsResponse.CreatableTopicConfigs] | None  # 5+

        def __init__(
            self,
            *,
            name: str = "",
            topic_id: Uuid = ...,
            error_code: int = 0,
            error_message: str | None = "",
            topic_config_error_code: int = 0,
            num_partitions: int = -1,
            replication_factor: int = -1,
            configs: list[CreateTopicsResponse.CreatableTopicConfigs] | None = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class CreatableTopicConfigs(MessageObject):
        name: str  # 5+
        value: str | None  # 5+
        read_only: bool  # 5+
        config_source: int  # 5+
        is_sensitive: bool  # 5+

        def __init__(
            self,
            *,
            name: str = "",
            value: str | None = "",
            read_only: bool = False,
            config_source: int = -1,
            is_sensitive: bool = False,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int  # 2+
    topics: list[CreateTopicsResponse.CreatableTopicResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[CreateTopicsResponse.CreatableTopicResult] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
