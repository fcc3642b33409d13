from typing import Any

from kwire.codec.plan import Plan

class Encoder:
    plan: Plan
    classes: tuple[type, ...]

    def __init__(self, plan: Plan, classes: tuple[type, ...]) -> None: ...
    def encode(self, message: Any, before: bytes = b"") -> bytes: ...
