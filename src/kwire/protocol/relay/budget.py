"""Shared limit of the bytes buffered by all relays of a process."""

from __future__ import annotations

__all__ = ["HeldBudget"]


class HeldBudget:
    """Budget shared by relays; `used` is the number of buffered bytes."""

    __slots__ = ("limit", "used")

    def __init__(self, limit: int) -> None:
        if limit < 0:
            raise ValueError(f"a budget of {limit} bytes")
        self.limit = limit
        self.used = 0

    def take(self, count: int) -> bool:
        if self.used + count > self.limit:
            return False
        self.used += count
        return True

    def give(self, count: int) -> None:
        self.used -= count
