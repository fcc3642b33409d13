# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class UnregisterBrokerRequest(MessageObject):  # request 64, versions 0
    broker_id: int = 0

class UnregisterBrokerResponse(MessageObject):  # response 64, versions 0
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
