# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DescribeProducersRequest(MessageObject):  # request 61, versions 0
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_PRODUCERS]]
    valid_versions: ClassVar[Versions]
    class TopicRequest(MessageObject):
        name: str = ""
        partition_indexes: tuple[int, ...] = ()

    topics: list[DescribeProducersRequest.TopicRequest] = ...

class DescribeProducersResponse(MessageObject):  # response 61, versions 0
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_PRODUCERS]]
    valid_versions: ClassVar[Versions]
    class TopicResponse(MessageObject):
        name: str = ""
        partitions: list[DescribeProducersResponse.PartitionResponse] = ...

    class PartitionResponse(MessageObject):
        partition_index: int = 0
        error_code: int = 0
        error_message: str | None = None
        active_producers: list[DescribeProducersResponse.ProducerState] = ...

    class ProducerState(MessageObject):
        producer_id: int = 0
        producer_epoch: int = 0
        last_sequence: int = -1
        last_timestamp: int = -1
        coordinator_epoch: int = 0
        current_txn_start_offset: int = -1

    throttle_time_ms: int = 0
    topics: list[DescribeProducersResponse.TopicResponse] = ...
