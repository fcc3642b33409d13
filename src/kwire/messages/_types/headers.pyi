# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions

class RequestHeader(MessageObject):  # header, versions 0-3
    valid_versions: ClassVar[Versions]
    api_key: int = 0
    api_version: int = 0
    correlation_id: int = 0
    client_id: str | None = ""  # 1+
    client_instance_id: Uuid = ...  # 3+

class ResponseHeader(MessageObject):  # header, versions 0-1
    valid_versions: ClassVar[Versions]
    correlation_id: int = 0
