# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class AddOffsetsToTxnRequest(MessageObject):  # request 25, versions 0-4
    transactional_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    group_id: str = ""

class AddOffsetsToTxnResponse(MessageObject):  # response 25, versions 0-4
    throttle_time_ms: int = 0
    error_code: int = 0
