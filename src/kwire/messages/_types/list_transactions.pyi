# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class ListTransactionsRequest(MessageObject):  # request 66, versions 0-2
    state_filters: tuple[str, ...]
    producer_id_filters: tuple[int, ...]
    duration_filter: int  # 1+
    transactional_id_pattern: str | None  # 2+

    def __init__(
        self,
        *,
        state_filters: list[str] | tuple[str, ...] = (),
        producer_id_filters: list[int] | tuple[int, ...] = (),
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ListTransactionsResponse(MessageObject):  # response 66, versions 0-2
    class TransactionState(MessageObject):
        transactional_id: str
        producer_id: int
        transaction_state: str

        def __init__(
            self,
            *,
            transactional_id: str = "",
            producer_id: int = 0,
            transaction_state: str = "",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    error_code: int
    unknown_state_filters: tuple[str, ...]
    transaction_states: list[ListTransactionsResponse.TransactionState]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: list[str] | tuple[str, ...] = (),
        transaction_states: list[ListTransactionsResponse.TransactionState] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
