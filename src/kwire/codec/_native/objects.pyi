from typing import Any

from kwire.codec._native.structs import make_classes as make_classes
from kwire.codec.plan import Plan

OPS: dict[str, int]

class Decoder:
    plan: Plan
    classes: tuple[type, ...]

    def __init__(self, plan: Plan, classes: tuple[type, ...]) -> None: ...
    def decode(self, data: Any, offset: int = 0, lenient: bool = False, memoryviews: bool = False) -> tuple[Any, int]: ...
    def decode_whole(self, data: Any, offset: int = 0, lenient: bool = False, memoryviews: bool = False) -> Any: ...
    def skip(self, data: Any, offset: int = 0) -> int: ...
