# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterator
from typing import Any, ClassVar

from typing_extensions import Self, dataclass_transform

from kwire.codec.layout import StructLayout

@dataclass_transform(eq_default=False, kw_only_default=True)
class _Keywords: ...  # the fields of what is decorated do not count, those of classes below it do

class MessageObject(_Keywords):
    layout: ClassVar[StructLayout]
    slot_names: ClassVar[tuple[str, ...]]
    classes: ClassVar[tuple[type[MessageObject], ...]]
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()
    __match_args__: ClassVar[tuple[str, ...]]
    __hash__: ClassVar[None]  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]

    def __eq__(self, other: object, /) -> bool: ...
    def __copy__(self) -> Self: ...
    def __replace__(self, /, **changes: Any) -> Self: ...
    def __rich_repr__(self) -> Iterator[tuple[str, Any]]: ...
