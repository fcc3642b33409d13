"""Detection of TLS by the first bytes of a connection."""

from __future__ import annotations

from kwire.protocol.tracking.frames import MAX_FRAME
from kwire.protocol.tracking.opening import Opening

__all__ = ["Chunk", "TlsOpening"]

Chunk = tuple[int, bytes, int, int]  # side, bytes, time, packet


class TlsOpening:
    """First bytes of both sides, until they decide whether this is TLS; then `before` has them by side, without PROXY headers."""

    __slots__ = ("_openings", "before")

    def __init__(self, joined_late: bool) -> None:
        self._openings = tuple(Opening("request", joined_late, MAX_FRAME) for _ in range(2))
        self.before: list[Chunk] = []

    @property
    def has_bytes(self) -> bool:
        """True if the bytes so far are not decisive."""
        return any(opening.has_bytes for opening in self._openings)

    def take(self, side: int, data: bytes, t: int, packet: int) -> bool | None:
        """Add bytes of a side; return None while they are not decisive."""
        verdict = self._openings[side].take(data, t, packet)
        if verdict is None:
            return None
        if verdict != "tls":
            return False
        for each in (side, 1 - side):
            self.before += [(each, *chunk) for chunk in self._openings[each].give_up()]
        return True
