"""A limit for the bytes that all relays of a process keep together, so that many connections cannot add up to more than memory."""

from __future__ import annotations

__all__ = ["HeldBudget"]


class HeldBudget:
    """Shared by any number of relays.

    Arguments:
        limit: bytes.

    Attributes:
        used: bytes that relays keep now.
    """

    __slots__ = ("limit", "used")

    def __init__(self, limit: int) -> None:
        if limit < 0:
            raise ValueError(f"a budget of {limit} bytes")
        self.limit = limit
        self.used = 0

    def take(self, count: int) -> bool:
        """Reserve so many bytes; False, with nothing reserved, when they are not left."""
        if self.used + count > self.limit:
            return False
        self.used += count
        return True

    def give(self, count: int) -> None:
        """Return bytes."""
        self.used -= count
