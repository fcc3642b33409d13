"""The one place of this room that picks the twin, by the rules of `kwire.codec.impl`."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from kwire.codec.impl import Twin, load_native, load_twin

__all__ = ["backend", "packets"]


def _choose() -> tuple[Twin, ModuleType]:
    native = load_native("capture", "packets", "packet scanner")
    return ("pure", load_twin("capture", "packets", "pure")) if native is None else ("native", native)


_chosen: Final = _choose()
backend: Final[Twin] = _chosen[0]
packets: Final[ModuleType] = _chosen[1]
