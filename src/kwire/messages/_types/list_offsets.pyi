# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ListOffsetsRequest(MessageObject):  # request 2, versions 0-11
    api_key: ClassVar[Literal[ApiKey.LIST_OFFSETS]]
    valid_versions: ClassVar[Versions]
    class ListOffsetsTopic(MessageObject):
        name: str = ""
        partitions: list[ListOffsetsRequest.ListOffsetsPartition] = ...

    class ListOffsetsPartition(MessageObject):
        partition_index: int = 0
        current_leader_epoch: int = -1  # 4+
        timestamp: int = 0
        max_num_offsets: int = 1  # 0

    replica_id: int = 0
    isolation_level: int = 0  # 2+
    topics: list[ListOffsetsRequest.ListOffsetsTopic] = ...
    timeout_ms: int = 0  # 10+

class ListOffsetsResponse(MessageObject):  # response 2, versions 0-11
    api_key: ClassVar[Literal[ApiKey.LIST_OFFSETS]]
    valid_versions: ClassVar[Versions]
    class ListOffsetsTopicResponse(MessageObject):
        name: str = ""
        partitions: list[ListOffsetsResponse.ListOffsetsPartitionResponse] = ...

    class ListOffsetsPartitionResponse(MessageObject):
        partition_index: int = 0
        error_code: int = 0
        timestamp: int = -1  # 1+
        offset: int = -1  # 1+
        leader_epoch: int = -1  # 4+
        old_style_offsets: tuple[int, ...] = ()  # 0

    throttle_time_ms: int = 0  # 2+
    topics: list[ListOffsetsResponse.ListOffsetsTopicResponse] = ...
