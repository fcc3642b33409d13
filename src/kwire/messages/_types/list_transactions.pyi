# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class ListTransactionsRequest(MessageObject):  # request 66, versions 0-2
    state_filters: tuple[str, ...] = ()
    producer_id_filters: tuple[int, ...] = ()
    duration_filter: int = -1  # 1+
    transactional_id_pattern: str | None = None  # 2+

class ListTransactionsResponse(MessageObject):  # response 66, versions 0-2
    class TransactionState(MessageObject):
        transactional_id: str = ""
        producer_id: int = 0
        transaction_state: str = ""

    throttle_time_ms: int = 0
    error_code: int = 0
    unknown_state_filters: tuple[str, ...] = ()
    transaction_states: list[ListTransactionsResponse.TransactionState] = ...
