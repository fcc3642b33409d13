# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class TransactionLogKey(MessageObject):  # coordinator-key 0, versions 0
    transactional_id: str

    def __init__(self, *, transactional_id: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class TransactionLogValue(MessageObject):  # coordinator-value 0, versions 0-1
    class PartitionsSchema(MessageObject):
        topic: str
        partition_ids: tuple[int, ...]

        def __init__(
            self,
            *,
            topic: str = "",
            partition_ids: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    producer_id: int
    previous_producer_id: int  # 1+, tag 0
    next_producer_id: int  # 1+, tag 1
    producer_epoch: int
    next_producer_epoch: int  # 1+, tag 3
    transaction_timeout_ms: int
    transaction_status: int
    transaction_partitions: list[TransactionLogValue.PartitionsSchema] | None
    transaction_last_update_timestamp_ms: int
    transaction_start_timestamp_ms: int
    client_transaction_version: int  # 1+, tag 2

    def __init__(
        self,
        *,
        producer_id: int = 0,
        previous_producer_id: int = -1,
        next_producer_id: int = -1,
        producer_epoch: int = 0,
        next_producer_epoch: int = -1,
        transaction_timeout_ms: int = 0,
        transaction_status: int = 0,
        transaction_partitions: list[TransactionLogValue.PartitionsSchema] | None = ...,
        transaction_last_update_timestamp_ms: int = 0,
        transaction_start_timestamp_ms: int = 0,
        client_transaction_version: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
