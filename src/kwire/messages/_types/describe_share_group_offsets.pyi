# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DescribeShareGroupOffsetsRequest(MessageObject):  # request 90, versions 0-1
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS]]
    valid_versions: ClassVar[Versions]
    class DescribeShareGroupOffsetsRequestGroup(MessageObject):
        group_id: str = ""
        topics: list[DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestTopic] | None = ...

    class DescribeShareGroupOffsetsRequestTopic(MessageObject):
        topic_name: str = ""
        partitions: tuple[int, ...] = ()

    groups: list[DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup] = ...

class DescribeShareGroupOffsetsResponse(MessageObject):  # response 90, versions 0-1
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS]]
    valid_versions: ClassVar[Versions]
    class DescribeShareGroupOffsetsResponseGroup(MessageObject):
        group_id: str = ""
        topics: list[DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseTopic] = ...
        error_code: int = 0
        error_message: str | None = None

    class DescribeShareGroupOffsetsResponseTopic(MessageObject):
        topic_name: str = ""
        topic_id: Uuid = ...
        partitions: list[DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponsePartition] = ...

    class DescribeShareGroupOffsetsResponsePartition(MessageObject):
        partition_index: int = 0
        start_offset: int = 0
        leader_epoch: int = 0
        lag: int = -1  # 1+
        error_code: int = 0
        error_message: str | None = None

    throttle_time_ms: int = 0
    groups: list[DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseGroup] = ...
