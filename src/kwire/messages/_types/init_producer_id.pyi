# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class InitProducerIdRequest(MessageObject):  # request 22, versions 0-6
    api_key: ClassVar[Literal[ApiKey.INIT_PRODUCER_ID]]
    valid_versions: ClassVar[Versions]
    transactional_id: str | None = ""
    transaction_timeout_ms: int = 0
    producer_id: int = -1  # 3+
    producer_epoch: int = -1  # 3+
    enable2_pc: bool = False  # 6+
    keep_prepared_txn: bool = False  # 6+

class InitProducerIdResponse(MessageObject):  # response 22, versions 0-6
    api_key: ClassVar[Literal[ApiKey.INIT_PRODUCER_ID]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0
    error_code: int = 0
    producer_id: int = -1
    producer_epoch: int = 0
    ongoing_txn_producer_id: int = -1  # 6+
    ongoing_txn_producer_epoch: int = -1  # 6+
