from collections.abc import Callable
from typing import Any

from kwire.codec.splice_plan import Choice, Marking

class Splicer:
    marking: Marking

    def __init__(self, marking: Marking) -> None: ...
    def splice(
        self,
        data: Any,
        begin: int,
        offset: int,
        singles: tuple[tuple[Choice, ...], ...],
        rules: tuple[Callable[..., tuple[Any, ...] | None], ...],
    ) -> bytes: ...
