# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class DescribeTransactionsRequest(MessageObject):  # request 65, versions 0
    transactional_ids: tuple[str, ...] = ()

class DescribeTransactionsResponse(MessageObject):  # response 65, versions 0
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
