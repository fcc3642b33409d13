"""The one place of this room that picks the twin, by the rules of `kwire.codec.impl`."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Final

from kwire.codec.impl import Twin, load_twin

__all__ = ["backend", "packets"]


def _choose() -> tuple[Twin, ModuleType]:
    if os.environ.get("KWIRE_PURE") == "1":
        return "pure", load_twin("capture", "packets", "pure")
    try:
        return "native", load_twin("capture", "packets", "native")
    except ImportError as error:
        if os.environ.get("KWIRE_REQUIRE_NATIVE") == "1":
            raise ImportError(
                f"kwire's compiled packet scanner cannot be loaded although KWIRE_REQUIRE_NATIVE=1 asks for it ({error})"
            ) from error
        return "pure", load_twin("capture", "packets", "pure")


_chosen: Final = _choose()
backend: Final[Twin] = _chosen[0]
packets: Final[ModuleType] = _chosen[1]
