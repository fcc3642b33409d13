from typing import Any, ClassVar

from kwire.codec.layout import StructLayout

LATER: object
POOL: Any

class MessageObject:
    layout: ClassVar[StructLayout]
    slot_names: ClassVar[tuple[str, ...]]
    classes: ClassVar[tuple[type[MessageObject], ...]]
    unknown_tagged_fields: tuple[tuple[int, bytes], ...]
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __init__(self, **values: Any) -> None: ...
    def __eq__(self, other: object) -> bool: ...
    def __copy__(self) -> MessageObject: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def make_classes(layouts: tuple[StructLayout, ...]) -> tuple[type, ...]: ...
