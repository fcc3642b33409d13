# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AlterClientQuotasRequest(MessageObject):  # request 49, versions 0-1
    api_key: ClassVar[Literal[ApiKey.ALTER_CLIENT_QUOTAS]]
    valid_versions: ClassVar[Versions]
    class EntryData(MessageObject):
        entity: list[AlterClientQuotasRequest.EntityData] = ...
        ops: list[AlterClientQuotasRequest.OpData] = ...

    class EntityData(MessageObject):
        entity_type: str = ""
        entity_name: str | None = ""

    class OpData(MessageObject):
        key: str = ""
        value: float = 0.0
        remove: bool = False

    entries: list[AlterClientQuotasRequest.EntryData] = ...
    validate_only: bool = False

class AlterClientQuotasResponse(MessageObject):  # response 49, versions 0-1
    api_key: ClassVar[Literal[ApiKey.ALTER_CLIENT_QUOTAS]]
    valid_versions: ClassVar[Versions]
    class EntryData(MessageObject):
        error_code: int = 0
        error_message: str | None = ""
        entity: list[AlterClientQuotasResponse.EntityData] = ...

    class EntityData(MessageObject):
        entity_type: str = ""
        entity_name: str | None = ""

    throttle_time_ms: int = 0
    entries: list[AlterClientQuotasResponse.EntryData] = ...
