# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ListTransactionsRequest(MessageObject):  # request 66, versions 0-2
    api_key: ClassVar[Literal[ApiKey.LIST_TRANSACTIONS]]
    valid_versions: ClassVar[Versions]
    state_filters: tuple[str, ...] = ()
    producer_id_filters: tuple[int, ...] = ()
    duration_filter: int = -1  # 1+
    transactional_id_pattern: str | None = None  # 2+

class ListTransactionsResponse(MessageObject):  # response 66, versions 0-2
    api_key: ClassVar[Literal[ApiKey.LIST_TRANSACTIONS]]
    valid_versions: ClassVar[Versions]
    class TransactionState(MessageObject):
        transactional_id: str = ""
        producer_id: int = 0
        transaction_state: str = ""

    throttle_time_ms: int = 0
    error_code: int = 0
    unknown_state_filters: tuple[str, ...] = ()
    transaction_states: list[ListTransactionsResponse.TransactionState] = ...
