# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DescribeTransactionsRequest(MessageObject):  # request 65, versions 0
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_TRANSACTIONS]]
    valid_versions: ClassVar[Versions]
    transactional_ids: tuple[str, ...] = ()

class DescribeTransactionsResponse(MessageObject):  # response 65, versions 0
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_TRANSACTIONS]]
    valid_versions: ClassVar[Versions]
    class TransactionState(MessageObject):
        error_code: int = 0
        transactional_id: str = ""
        transaction_state: str = ""
        transaction_timeout_ms: int = 0
        transaction_start_time_ms: int = 0
        producer_id: int = 0
        producer_epoch: int = 0
        topics: list[DescribeTransactionsResponse.TopicData] = ...

    class TopicData(MessageObject):
        topic: str = ""
        partitions: tuple[int, ...] = ()

    throttle_time_ms: int = 0
    transaction_states: list[DescribeTransactionsResponse.TransactionState] = ...
