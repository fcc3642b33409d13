"""The short way through JSON request logs, which msgspec (the ``logs`` extra) reads; without it the long way reads the same, slower."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Final

__all__ = ["short_bodies", "short_lines"]


def _module(name: str) -> ModuleType | None:
    try:
        importlib.import_module("msgspec")
    except ImportError:  # executors that have Python and pyarrow alone
        return None
    return importlib.import_module(f"kwire.capture.{name}")


# `kwire.capture.request_log_typed_lines` and `kwire.capture.request_log_typed_bodies`; None without msgspec.
short_lines: Final[ModuleType | None] = _module("request_log_typed_lines")
short_bodies: Final[ModuleType | None] = _module("request_log_typed_bodies")
