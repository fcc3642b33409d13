# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class EndTxnRequest(MessageObject):  # request 26, versions 0-5
    transactional_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    committed: bool = False

class EndTxnResponse(MessageObject):  # response 26, versions 0-5
    throttle_time_ms: int = 0
    error_code: int = 0
    producer_id: int = -1  # 5+
    producer_epoch: int = -1  # 5+
