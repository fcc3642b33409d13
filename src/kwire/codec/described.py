"""Docstrings of a backend's functions and classes: those of their contracts."""

from __future__ import annotations

from types import MethodType
from typing import Any

from kwire.codec.impl import load_twin

__all__ = ["describe"]


def describe(target: Any, contract: Any) -> None:
    """Give a function of either backend, or a native class, the docstrings of its contract: a `Protocol` or the pure class."""
    if isinstance(target, MethodType):
        target.__func__.__doc__ = contract.__doc__
        target.__func__.__annotations__ = contract.__call__.__annotations__
    else:
        load_twin("codec", "descriptions", "native").describe(target, contract)
