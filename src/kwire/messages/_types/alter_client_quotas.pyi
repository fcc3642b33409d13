# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class AlterClientQuotasRequest(MessageObject):  # request 49, versions 0-1
    class EntryData(MessageObject):
        entity: list[AlterClientQuotasRequest.EntityData]
        ops: list[AlterClientQuotasRequest.OpData]

        def __init__(
            self,
            *,
            entity: list[AlterClientQuotasRequest.EntityData] = ...,
            ops: list[AlterClientQuotasRequest.OpData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class EntityData(MessageObject):
        entity_type: str
        entity_name: str | None

        def __init__(
            self, *, entity_type: str = "", entity_name: str | None = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    class OpData(MessageObject):
        key: str
        value: float
        remove: bool

        def __init__(
            self, *, key: str = "", value: float = 0.0, remove: bool = False, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    entries: list[AlterClientQuotasRequest.EntryData]
    validate_only: bool

    def __init__(
        self,
        *,
        entries: list[AlterClientQuotasRequest.EntryData] = ...,
        validate_only: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class AlterClientQuotasResponse(MessageObject):  # response 49, versions 0-1
    class EntryData(MessageObject):
        error_code: int
        error_message: str | None
        entity: list[AlterClientQuotasResponse.EntityData]

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = "",
            entity: list[AlterClientQuotasResponse.EntityData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class EntityData(MessageObject):
        entity_type: str
        entity_name: str | None

        def __init__(
            self, *, entity_type: str = "", entity_name: str | None = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    throttle_time_ms: int
    entries: list[AlterClientQuotasResponse.EntryData]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        entries: list[AlterClientQuotasResponse.EntryData] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
