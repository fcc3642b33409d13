# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class SaslHandshakeRequest(MessageObject):  # request 17, versions 0-1
    api_key: ClassVar[Literal[ApiKey.SASL_HANDSHAKE]]
    valid_versions: ClassVar[Versions]
    mechanism: str = ""

class SaslHandshakeResponse(MessageObject):  # response 17, versions 0-1
    api_key: ClassVar[Literal[ApiKey.SASL_HANDSHAKE]]
    valid_versions: ClassVar[Versions]
    error_code: int = 0
    mechanisms: tuple[str, ...] = ()
