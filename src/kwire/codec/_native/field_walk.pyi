"""Types of pyx/codec/field_walk.pyx."""

from __future__ import annotations

from typing import Any

from kwire.codec.field_spans import Visit
from kwire.errors import Fault

__all__ = ["walk"]

def walk(steps: tuple[Any, ...], data: bytes, offset: int, visit: Visit, whole: bool) -> tuple[int, Fault | None]: ...
