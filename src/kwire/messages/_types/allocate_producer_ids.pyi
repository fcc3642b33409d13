# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class AllocateProducerIdsRequest(MessageObject):  # request 67, versions 0
    broker_id: int = 0
    broker_epoch: int = -1

class AllocateProducerIdsResponse(MessageObject):  # response 67, versions 0
    throttle_time_ms: int = 0
    error_code: int = 0
    producer_id_start: int = 0
    producer_id_len: int = 0
