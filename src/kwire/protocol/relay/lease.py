"""Amounts that a relay passes without a call of a rule."""

from __future__ import annotations

from typing import Any

__all__ = ["Lease"]


class Lease:
    """Frames of one client that `plan` decides, until the amounts or the time run out or a request has another client id.

    The relay counts the frames that its own plan would hold (`CALL`), and uses that plan again afterwards. This backend's relay takes no
    lease: `is_on` stays False.

    Attributes:
        left: bytes of requests, bytes of responses, and requests; frames with their length.
        is_on: the relay counts.
    """

    __slots__ = ("is_on", "left")

    def __init__(self, plan: Any, client_id: bytes, left: tuple[int, int, int], until: int) -> None:
        self.left = left
        self.is_on = False
