# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Self

from kwire.codec.layout import StructLayout

class MessageObject:
    layout: ClassVar[StructLayout]
    slot_names: ClassVar[tuple[str, ...]]
    classes: ClassVar[tuple[type[MessageObject], ...]]
    unknown_tagged_fields: tuple[tuple[int, bytes], ...]
    __hash__: ClassVar[None]  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]

    def __eq__(self, other: object, /) -> bool: ...
    def __copy__(self) -> Self: ...
