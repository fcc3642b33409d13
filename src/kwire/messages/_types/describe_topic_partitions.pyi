# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DescribeTopicPartitionsRequest(MessageObject):  # request 75, versions 0
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_TOPIC_PARTITIONS]]
    valid_versions: ClassVar[Versions]
    class TopicRequest(MessageObject):
        name: str = ""

    class Cursor(MessageObject):
        topic_name: str = ""
        partition_index: int = 0

    topics: list[DescribeTopicPartitionsRequest.TopicRequest] = ...
    response_partition_limit: int = 2000
    cursor: DescribeTopicPartitionsRequest.Cursor | None = None

class DescribeTopicPartitionsResponse(MessageObject):  # response 75, versions 0
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_TOPIC_PARTITIONS]]
    valid_versions: ClassVar[Versions]
    class DescribeTopicPartitionsResponseTopic(MessageObject):
        error_code: int = 0
        name: str | None = ""
        topic_id: Uuid = ...
        is_internal: bool = False
        partitions: list[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition] = ...
        topic_authorized_operations: int = -2147483648

    class DescribeTopicPartitionsResponsePartition(MessageObject):
        error_code: int = 0
        partition_index: int = 0
        leader_id: int = 0
        leader_epoch: int = -1
        replica_nodes: tuple[int, ...] = ()
        isr_nodes: tuple[int, ...] = ()
        eligible_leader_replicas: tuple[int, ...] | None = None
        last_known_elr: tuple[int, ...] | None = None
        offline_replicas: tuple[int, ...] = ()

    class Cursor(MessageObject):
        topic_name: str = ""
        partition_index: int = 0

    throttle_time_ms: int = 0
    topics: list[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic] = ...
    next_cursor: DescribeTopicPartitionsResponse.Cursor | None = None
