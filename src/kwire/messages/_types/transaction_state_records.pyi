# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class TransactionLogKey(MessageObject):  # coordinator-key 0, versions 0
    api_key: ClassVar[Literal[ApiKey.PRODUCE]]
    valid_versions: ClassVar[Versions]
    transactional_id: str = ""

class TransactionLogValue(MessageObject):  # coordinator-value 0, versions 0-1
    api_key: ClassVar[Literal[ApiKey.PRODUCE]]
    valid_versions: ClassVar[Versions]
    class PartitionsSchema(MessageObject):
        topic: str = ""
        partition_ids: tuple[int, ...] = ()

    producer_id: int = 0
    previous_producer_id: int = -1  # 1+, tag 0
    next_producer_id: int = -1  # 1+, tag 1
    producer_epoch: int = 0
    next_producer_epoch: int = -1  # 1+, tag 3
    transaction_timeout_ms: int = 0
    transaction_status: int = 0
    transaction_partitions: list[TransactionLogValue.PartitionsSchema] | None = ...
    transaction_last_update_timestamp_ms: int = 0
    transaction_start_timestamp_ms: int = 0
    client_transaction_version: int = 0  # 1+, tag 2
