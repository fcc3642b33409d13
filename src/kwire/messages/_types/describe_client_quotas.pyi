# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class DescribeClientQuotasRequest(MessageObject):  # request 48, versions 0-1
    class ComponentData(MessageObject):
        entity_type: str
        match_type: int
        match: str | None

        def __init__(
            self,
            *,
            entity_type: str = "",
            match_type: int = 0,
            match: str | None = "",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    components: list[DescribeClientQuotasRequest.ComponentData]
    strict: bool

    def __init__(
        self,
        *,
        components: list[DescribeClientQuotasRequest.ComponentData] = ...,
        strict: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class DescribeClientQuotasResponse(MessageObject):  # response 48, versions 0-1
    class EntryData(MessageObject):
        entity: list[DescribeClientQuotasResponse.EntityData]
        values: list[DescribeClientQuotasResponse.ValueData]

        def __init__(
            self,
            *,
            entity: list[DescribeClientQuotasResponse.EntityData] = ...,
            values: list[DescribeClientQuotasResponse.ValueData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class EntityData(MessageObject):
        entity_type: str
        entity_name: str | None

        def __init__(
            self, *, entity_type: str = "", entity_name: str | None = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    class ValueData(MessageObject):
        key: str
        value: float

        def __init__(self, *, key: str = "", value: float = 0.0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    entries: list[DescribeClientQuotasResponse.EntryData] | None

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: list[DescribeClientQuotasResponse.EntryData] | None = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
