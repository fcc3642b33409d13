# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class DescribeLogDirsRequest(MessageObject):  # request 35, versions 0-5
    class DescribableLogDirTopic(MessageObject):
        topic: str
        partitions: tuple[int, ...]

        def __init__(
            self, *, topic: str = "", partitions: list[int] | tuple[int, ...] = (), unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    topics: list[DescribeLogDirsRequest.DescribableLogDirTopic] | None

    def __init__(
        self,
        *,
        topics: list[DescribeLogDirsRequest.DescribableLogDirTopic] | None = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class DescribeLogDirsResponse(MessageObject):  # response 35, versions 0-5
    class DescribeLogDirsResult(MessageObject):
        error_code: int
        log_dir: str
        topics: list[DescribeLogDirsResponse.DescribeLogDirsTopic]
        total_bytes: int  # 4+
        usable_bytes: int  # 4+
        is_cordoned: bool  # 5+

        def __init__(
            self,
            *,
            error_code: int = 0,
            log_dir: str = "",
            topics: list[DescribeLogDirsResponse.DescribeLogDirsTopic] = ...,
            total_bytes: int = -1,
            usable_bytes: int = -1,
            is_cordoned: bool = False,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class DescribeLogDirsTopic(MessageObject):
        name: str
        partitions: list[DescribeLogDirsResponse.DescribeLogDirsPartition]

        def __init__(
            self,
            *,
            name: str = "",
            partitions: list[DescribeLogDirsResponse.DescribeLogDirsPartition] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class DescribeLogDirsPartition(MessageObject):
        partition_index: int
        partition_size: int
        offset_lag: int
        is_future_key: bool

        def __init__(
            self,
            *,
            partition_index: int = 0,
            partition_size: int = 0,
            offset_lag: int = 0,
            is_future_key: bool = False,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    error_code: int  # 3+
    results: list[DescribeLogDirsResponse.DescribeLogDirsResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: list[DescribeLogDirsResponse.DescribeLogDirsResult] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
