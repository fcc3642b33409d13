# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class SaslHandshakeRequest(MessageObject):  # request 17, versions 0-1
    mechanism: str = ""

class SaslHandshakeResponse(MessageObject):  # response 17, versions 0-1
    error_code: int = 0
    mechanisms: tuple[str, ...] = ()
