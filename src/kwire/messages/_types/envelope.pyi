# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class EnvelopeRequest(MessageObject):  # request 58, versions 0
    api_key: ClassVar[Literal[ApiKey.ENVELOPE]]
    valid_versions: ClassVar[Versions]
    request_data: bytes = b""
    request_principal: bytes | None = b""
    client_host_address: bytes = b""

class EnvelopeResponse(MessageObject):  # response 58, versions 0
    api_key: ClassVar[Literal[ApiKey.ENVELOPE]]
    valid_versions: ClassVar[Versions]
    response_data: bytes | None = None
    error_code: int = 0
