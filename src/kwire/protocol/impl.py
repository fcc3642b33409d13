"""The one place of this room that picks the twin, by the rules of `kwire.codec.impl`.

`kwire.protocol.tracking.connection` is the pure twin and the contract. `kwire.tables` makes rows of
captures with the same native state.
"""

from __future__ import annotations

from typing import Final

from kwire.codec.impl import Twin, load_native
from kwire.protocol.tracking.connection import Connection as PureConnection

__all__ = ["Connection", "backend"]


def _choose() -> tuple[Twin, type[PureConnection]]:
    native = load_native("protocol", "tracker", "tracker")
    return ("pure", PureConnection) if native is None else ("native", native.Connection)


_chosen: Final = _choose()
backend: Final[Twin] = _chosen[0]
Connection: Final[type[PureConnection]] = _chosen[1]
