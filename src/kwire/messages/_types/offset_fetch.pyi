# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class OffsetFetchRequest(MessageObject):  # request 9, versions 0-10
    api_key: ClassVar[Literal[ApiKey.OFFSET_FETCH]]
    valid_versions: ClassVar[Versions]
    class OffsetFetchRequestGroup(MessageObject):
        group_id: str = ""  # 8+
        member_id: str | None = None  # 9+
        member_epoch: int = -1  # 9+
        topics: list[OffsetFetchRequest.OffsetFetchRequestTopics] | None = ...  # 8+

    class OffsetFetchRequestTopics(MessageObject):
        topic_id: Uuid = ...  # 10+
        name: str = ""  # 8-9
        partition_indexes: tuple[int, ...] = ()  # 8+

    class OffsetFetchRequestTopic(MessageObject):
        name: str = ""  # 0-7
        partition_indexes: tuple[int, ...] = ()  # 0-7

    groups: list[OffsetFetchRequest.OffsetFetchRequestGroup] = ...  # 8+
    group_id: str = ""  # 0-7
    topics: list[OffsetFetchRequest.OffsetFetchRequestTopic] | None = ...  # 0-7, null in 2+
    require_stable: bool = False  # 7+

class OffsetFetchResponse(MessageObject):  # response 9, versions 0-10
    api_key: ClassVar[Literal[ApiKey.OFFSET_FETCH]]
    valid_versions: ClassVar[Versions]
    class OffsetFetchResponseGroup(MessageObject):
        group_id: str = ""  # 8+
        topics: list[OffsetFetchResponse.OffsetFetchResponseTopics] = ...  # 8+
        error_code: int = 0  # 8+

    class OffsetFetchResponseTopics(MessageObject):
        topic_id: Uuid = ...  # 10+
        name: str = ""  # 8-9
        partitions: list[OffsetFetchResponse.OffsetFetchResponsePartitions] = ...  # 8+

    class OffsetFetchResponsePartitions(MessageObject):
        partition_index: int = 0  # 8+
        committed_offset: int = 0  # 8+
        committed_leader_epoch: int = -1  # 8+
        metadata: str | None = ""  # 8+
        error_code: int = 0  # 8+

    class OffsetFetchResponseTopic(MessageObject):
        name: str = ""  # 0-7
        partitions: list[OffsetFetchResponse.OffsetFetchResponsePartition] = ...  # 0-7

    class OffsetFetchResponsePartition(MessageObject):
        partition_index: int = 0  # 0-7
        committed_offset: int = 0  # 0-7
        committed_leader_epoch: int = -1  # 5-7
        metadata: str | None = ""  # 0-7
        error_code: int = 0  # 0-7

    throttle_time_ms: int = 0  # 3+
    groups: list[OffsetFetchResponse.OffsetFetchResponseGroup] = ...  # 8+
    topics: list[OffsetFetchResponse.OffsetFetchResponseTopic] = ...  # 0-7
    error_code: int = 0  # 2-7
