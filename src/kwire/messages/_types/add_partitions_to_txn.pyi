# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class AddPartitionsToTxnRequest(MessageObject):  # request 24, versions 0-5
    class AddPartitionsToTxnTransaction(MessageObject):
        transactional_id: str  # 4+
        producer_id: int  # 4+
        producer_epoch: int  # 4+
        verify_only: bool  # 4+
        topics: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic]  # 4+

        def __init__(
            self,
            *,
            transactional_id: str = "",
            producer_id: int = 0,
            producer_epoch: int = 0,
            verify_only: bool = False,
            topics: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class AddPartitionsToTxnTopic(MessageObject):
        name: str
        partitions: tuple[int, ...]

        def __init__(
            self, *, name: str = "", partitions: list[int] | tuple[int, ...] = (), unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    transactions: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction]  # 4+
    v3_and_below_transactional_id: str  # 0-3
    v3_and_below_producer_id: int  # 0-3
    v3_and_below_producer_epoch: int  # 0-3
    v3_and_below_topics: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic]  # 0-3

    def __init__(
        self,
        *,
        transactions: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction] = ...,
        v3_and_below_transactional_id: str = "",
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class AddPartitionsToTxnResponse(MessageObject):  # response 24, versions 0-5
    class AddPartitionsToTxnResult(MessageObject):
        transactional_id: str  # 4+
        topic_results: list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult]  # 4+

        def __init__(
            self,
            *,
            transactional_id: str = "",
            topic_results: list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class AddPartitionsToTxnTopicResult(MessageObject):
        name: str
        results_by_partition: list[AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult]

        def __init__(
            self,
            *,
            name: str = "",
            results_by_partition: list[AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class AddPartitionsToTxnPartitionResult(MessageObject):
        partition_index: int
        partition_error_code: int

        def __init__(
            self, *, partition_index: int = 0, partition_error_code: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    throttle_time_ms: int
    error_code: int  # 4+
    results_by_transaction: list[AddPartitionsToTxnResponse.AddPartitionsToTxnResult]  # 4+
    results_by_topic_v3_and_below: list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult]  # 0-3

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: list[AddPartitionsToTxnResponse.AddPartitionsToTxnResult] = ...,
        results_by_topic_v3_and_below: list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
