# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DescribeLogDirsRequest(MessageObject):  # request 35, versions 0-5
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_LOG_DIRS]]
    valid_versions: ClassVar[Versions]
    class DescribableLogDirTopic(MessageObject):
        topic: str = ""
        partitions: tuple[int, ...] = ()
        partition_index: tuple[int, ...] = ()  # partitions after Kafka 2.8

    topics: list[DescribeLogDirsRequest.DescribableLogDirTopic] | None = ...

class DescribeLogDirsResponse(MessageObject):  # response 35, versions 0-5
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_LOG_DIRS]]
    valid_versions: ClassVar[Versions]
    class DescribeLogDirsResult(MessageObject):
        error_code: int = 0
        log_dir: str = ""
        topics: list[DescribeLogDirsResponse.DescribeLogDirsTopic] = ...
        total_bytes: int = -1  # 4+
        usable_bytes: int = -1  # 4+
        is_cordoned: bool = False  # 5+

    class DescribeLogDirsTopic(MessageObject):
        name: str = ""
        partitions: list[DescribeLogDirsResponse.DescribeLogDirsPartition] = ...

    class DescribeLogDirsPartition(MessageObject):
        partition_index: int = 0
        partition_size: int = 0
        offset_lag: int = 0
        is_future_key: bool = False

    throttle_time_ms: int = 0
    error_code: int = 0  # 3+
    results: list[DescribeLogDirsResponse.DescribeLogDirsResult] = ...
