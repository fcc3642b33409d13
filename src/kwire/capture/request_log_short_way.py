"""The compiled short way through JSON request logs, by the rules of `kwire.codec.impl`; the long way reads the same without it."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Final

from kwire.codec.impl import load_twin

__all__ = ["short_way"]


def _choose() -> ModuleType | None:
    if os.environ.get("KWIRE_PURE") == "1":
        return None
    try:
        return load_twin("capture", "request_log", "native")
    except ImportError as error:
        if os.environ.get("KWIRE_REQUIRE_NATIVE") == "1":
            raise ImportError(
                f"kwire's compiled reader of request logs cannot be loaded although KWIRE_REQUIRE_NATIVE=1 asks for it ({error})"
            ) from error
        return None


# The module with `EntryReader` and `BodyReader`; None in the pure twin.
short_way: Final[ModuleType | None] = _choose()
