"""The one place of this room that picks the twin, by the rules of `kwire.codec.impl`.

`kwire.protocol.connection` is the pure twin and the contract. Captures are read with it, and their ordinary frames by `kwire.tables`;
the compiled one is for who drives a connection, such as a proxy.
"""

from __future__ import annotations

from typing import Final

from kwire.codec.impl import Twin, load_native
from kwire.protocol.connection import Connection as PureConnection

__all__ = ["Connection", "backend"]


def _choose() -> tuple[Twin, type[PureConnection]]:
    native = load_native("protocol", "tracker", "tracker")
    return ("pure", PureConnection) if native is None else ("native", native.Connection)


_chosen: Final = _choose()
backend: Final[Twin] = _chosen[0]
Connection: Final[type[PureConnection]] = _chosen[1]
