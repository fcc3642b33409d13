"""Queue of answers owed to a relay's client, in the order of its requests.

A broker answers the requests of a connection in order (`KafkaChannel.mute` until the response is sent), so a response may only answer the
oldest waiting request. The relay's own answers are in the same queue and are sent when they are the oldest.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

from kwire.protocol.relay.observed import OTHER, UNKNOWN, Software

__all__ = ["MAX_OWED", "SASL_AUTHENTICATE", "SASL_KEYS", "Owed", "OwedQueue"]

# Requests that wait at once; behind them the client's bytes wait. Clients have a handful in flight.
MAX_OWED: Final = 4096

SASL_AUTHENTICATE: Final = 36
SASL_KEYS: Final = (17, SASL_AUTHENTICATE)

# What a broker answers before a client is authenticated: these and ApiVersions (`SaslServerAuthenticator`). It closes on all else.
_OPEN_KEYS: Final = (*SASL_KEYS, 18)

OwedKind = Literal["broker", "token", "answer"]


@dataclass(slots=True)
class Owed:
    """Owed answer; a raw token that will be answered has the API SaslAuthenticate."""

    kind: OwedKind
    api_key: int = -1
    api_version: int = 0
    correlation_id: int = 0
    time: int = 0  # arrival of the request's last byte
    frame: bytes = b""  # of an own answer, without its length
    action: int | None = None  # for the response; None for the plan's
    software: Software = (UNKNOWN, UNKNOWN)
    client: str | None = OTHER
    request_bytes: int = 0


class OwedQueue:
    """Queue of a connection; `kept` counts the bytes of the relay's own waiting answers."""

    __slots__ = ("_queue", "asked", "kept", "served")

    def __init__(self) -> None:
        self._queue: deque[Owed] = deque()
        self.kept = 0
        self.asked = self.served = False

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def first(self) -> Owed | None:
        return self._queue[0] if self._queue else None

    @property
    def ends_in_sasl(self) -> bool:
        return bool(self._queue) and self._queue[-1].api_key in SASL_KEYS

    @property
    def waiting(self) -> int:
        return sum(each.kind != "answer" for each in self._queue)

    def add(self, owed: Owed) -> None:
        self._queue.append(owed)
        self.asked |= owed.kind == "broker" and owed.api_key not in _OPEN_KEYS
        self.kept += len(owed.frame)

    def take(self) -> Owed:
        owed = self._queue.popleft()
        self.served |= owed.kind == "broker" and owed.api_key not in _OPEN_KEYS
        self.kept -= len(owed.frame)
        return owed

    def take_answers(self) -> list[bytes]:
        ready: list[bytes] = []
        while self._queue and self._queue[0].kind == "answer":
            ready.append(self.take().frame)
        return ready

    def drop_last_token(self, correlation_id: int) -> None:
        """Remove the oldest token if the request behind it has this correlation id.

        The last GSSAPI token gets no answer (`GssKrb5Server.doHandshake2` returns null); the next response answers the next request.
        """
        follower = next((each for each in self._queue if each.kind == "broker"), None)
        if follower is not None and follower.correlation_id == correlation_id:
            while self._queue[0].kind == "token":
                self._queue.popleft()
