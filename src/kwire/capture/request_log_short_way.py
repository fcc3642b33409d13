"""The short way through JSON request logs, which msgspec (the ``logs`` extra) reads; without it the long way reads the same, slower."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType

__all__ = ["short_bodies", "short_lines"]


def short_lines() -> ModuleType | None:
    """`kwire.capture.request_log_typed_lines`, loaded when the first log is read; None without msgspec."""
    return _module("request_log_typed_lines")


def short_bodies() -> ModuleType | None:
    """`kwire.capture.request_log_typed_bodies`, loaded when the first log is read; None without msgspec."""
    return _module("request_log_typed_bodies")


@cache
def _module(name: str) -> ModuleType | None:
    try:
        importlib.import_module("msgspec")
    except ImportError:  # executors that have Python and pyarrow alone
        return None
    return importlib.import_module(f"kwire.capture.{name}")
