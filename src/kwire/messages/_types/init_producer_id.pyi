# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class InitProducerIdRequest(MessageObject):  # request 22, versions 0-6
    transactional_id: str | None
    transaction_timeout_ms: int
    producer_id: int  # 3+
    producer_epoch: int  # 3+
    enable2_pc: bool  # 6+
    keep_prepared_txn: bool  # 6+

    def __init__(
        self,
        *,
        transactional_id: str | None = "",
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        enable2_pc: bool = False,
        keep_prepared_txn: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class InitProducerIdResponse(MessageObject):  # response 22, versions 0-6
    throttle_time_ms: int
    error_code: int
    producer_id: int
    producer_epoch: int
    ongoing_txn_producer_id: int  # 6+
    ongoing_txn_producer_epoch: int  # 6+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
        ongoing_txn_producer_id: int = -1,
        ongoing_txn_producer_epoch: int = -1,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
