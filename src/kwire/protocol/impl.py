"""The one place of this room that picks the twin, by the rules of `kwire.codec.impl`.

`kwire.protocol.connection` is the pure twin and the contract. Captures are read with it, and their ordinary frames by `kwire.tables`;
the compiled one is for who drives a connection, such as a proxy.
"""

from __future__ import annotations

import os
from typing import Final

from kwire.codec.impl import Twin, load_twin
from kwire.protocol.connection import Connection as PureConnection

__all__ = ["Connection", "backend"]


def _choose() -> tuple[Twin, type[PureConnection]]:
    if os.environ.get("KWIRE_PURE") == "1":
        return "pure", PureConnection
    try:
        return "native", load_twin("protocol", "tracker", "native").Connection
    except ImportError as error:
        if os.environ.get("KWIRE_REQUIRE_NATIVE") == "1":
            raise ImportError(f"kwire's compiled tracker cannot be loaded although KWIRE_REQUIRE_NATIVE=1 asks for it ({error})") from error
        return "pure", PureConnection


_chosen: Final = _choose()
backend: Final[Twin] = _chosen[0]
Connection: Final[type[PureConnection]] = _chosen[1]
