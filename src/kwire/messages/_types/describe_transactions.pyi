# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class DescribeTransactionsRequest(MessageObject):  # request 65, versions 0
    transactional_ids: tuple[str, ...]

    def __init__(
        self, *, transactional_ids: list[str] | tuple[str, ...] = (), unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class DescribeTransactionsResponse(MessageObject):  # response 65, versions 0
    class TransactionState(MessageObject):
        error_code: int
        transactional_id: str
        transaction_state: str
        transaction_timeout_ms: int
        transaction_start_time_ms: int
        producer_id: int
        producer_epoch: int
        topics: list[DescribeTransactionsResponse.TopicData]

        def __init__(
            self,
            *,
            error_code: int = 0,
            transactional_id: str = "",
            transaction_state: str = "",
            transaction_timeout_ms: int = 0,
            transaction_start_time_ms: int = 0,
            producer_id: int = 0,
            producer_epoch: int = 0,
            topics: list[DescribeTransactionsResponse.TopicData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TopicData(MessageObject):
        topic: str
        partitions: tuple[int, ...]

        def __init__(
            self, *, topic: str = "", partitions: list[int] | tuple[int, ...] = (), unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    throttle_time_ms: int
    transaction_states: list[DescribeTransactionsResponse.TransactionState]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        transaction_states: list[DescribeTransactionsResponse.TransactionState] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
