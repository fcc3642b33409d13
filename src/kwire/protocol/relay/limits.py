"""Limits of one connection of a relay."""

from __future__ import annotations

from typing import Final

from kwire.protocol.relay.owed import MAX_OWED
from kwire.protocol.tracking.frames import MAX_FRAME

__all__ = ["MAX_FRAME", "MAX_HELD", "MAX_OWED", "MOST_EXPLAINED"]

# Bytes that a connection keeps at most: room for a response of fetch.max.bytes, 55 MB by default.
MAX_HELD: Final = 64 << 20

# Bytes of a frame whose program is run again for the text of its error.
MOST_EXPLAINED: Final = 1 << 20
