# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class EnvelopeRequest(MessageObject):  # request 58, versions 0
    request_data: bytes = b""
    request_principal: bytes | None = b""
    client_host_address: bytes = b""

class EnvelopeResponse(MessageObject):  # response 58, versions 0
    response_data: bytes | None = None
    error_code: int = 0
