# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AddPartitionsToTxnRequest(MessageObject):  # request 24, versions 0-5
    api_key: ClassVar[Literal[ApiKey.ADD_PARTITIONS_TO_TXN]]
    valid_versions: ClassVar[Versions]
    class AddPartitionsToTxnTransaction(MessageObject):
        transactional_id: str = ""  # 4+
        producer_id: int = 0  # 4+
        producer_epoch: int = 0  # 4+
        verify_only: bool = False  # 4+
        topics: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = ...  # 4+

    class AddPartitionsToTxnTopic(MessageObject):
        name: str = ""
        partitions: tuple[int, ...] = ()

    transactions: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction] = ...  # 4+
    v3_and_below_transactional_id: str = ""  # 0-3
    transactional_id: str = ""  # v3_and_below_transactional_id after Kafka 3.4
    v3_and_below_producer_id: int = 0  # 0-3
    producer_id: int = 0  # v3_and_below_producer_id after Kafka 3.4
    v3_and_below_producer_epoch: int = 0  # 0-3
    producer_epoch: int = 0  # v3_and_below_producer_epoch after Kafka 3.4
    v3_and_below_topics: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = ...  # 0-3
    topics: list[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = ...  # v3_and_below_topics after Kafka 3.4

class AddPartitionsToTxnResponse(MessageObject):  # response 24, versions 0-5
    api_key: ClassVar[Literal[ApiKey.ADD_PARTITIONS_TO_TXN]]
    valid_versions: ClassVar[Versions]
    class AddPartitionsToTxnResult(MessageObject):
        transactional_id: str = ""  # 4+
        topic_results: list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = ...  # 4+

    class AddPartitionsToTxnTopicResult(MessageObject):
        name: str = ""
        results_by_partition: list[AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult] = ...
        results: list[AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult] = ...  # results_by_partition after Kafka 3.4

    class AddPartitionsToTxnPartitionResult(MessageObject):
        partition_index: int = 0
        partition_error_code: int = 0
        error_code: int = 0  # partition_error_code after Kafka 3.4

    throttle_time_ms: int = 0
    error_code: int = 0  # 4+
    results_by_transaction: list[AddPartitionsToTxnResponse.AddPartitionsToTxnResult] = ...  # 4+
    results_by_topic_v3_and_below: list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = ...  # 0-3
    results: list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = ...  # results_by_topic_v3_and_below after Kafka 3.4
