# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DescribeClientQuotasRequest(MessageObject):  # request 48, versions 0-1
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_CLIENT_QUOTAS]]
    valid_versions: ClassVar[Versions]
    class ComponentData(MessageObject):
        entity_type: str = ""
        match_type: int = 0
        match: str | None = ""

    components: list[DescribeClientQuotasRequest.ComponentData] = ...
    strict: bool = False

class DescribeClientQuotasResponse(MessageObject):  # response 48, versions 0-1
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_CLIENT_QUOTAS]]
    valid_versions: ClassVar[Versions]
    class EntryData(MessageObject):
        entity: list[DescribeClientQuotasResponse.EntityData] = ...
        values: list[DescribeClientQuotasResponse.ValueData] = ...

    class EntityData(MessageObject):
        entity_type: str = ""
        entity_name: str | None = ""

    class ValueData(MessageObject):
        key: str = ""
        value: float = 0.0

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    entries: list[DescribeClientQuotasResponse.EntryData] | None = ...
