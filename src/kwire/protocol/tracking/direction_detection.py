"""Finds out which side of a detector is the server, then tracks the connection.

In this order: the side that sent the SYN is the client; a side whose port is among the given ones is the server; a response that answers a
request; a side that sends whole requests is the client; the lower port. Until it is decided both readings are tracked side by side, with
their events kept back, so nothing depends on how the bytes are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, Literal

from kwire.protocol.events import Asked, ConnectionSummary, Direction, Event, RequestCompleted
from kwire.protocol.tracking.connection import Connection
from kwire.protocol.tracking.frames import MAX_FRAME

__all__ = ["MAX_UNDECIDED", "DecidedBy", "DirectionDetector"]

# Bytes of both sides after which the lower port decides, if nothing better did. A large request and its response fit.
MAX_UNDECIDED: Final = 4 << 20

_Telling = Callable[[int, Connection], list[Event]]
DecidedBy = Literal["syn", "port", "response", "requests", "lower_port"]


class DirectionDetector:
    """The bytes of two sides, 0 and 1.

    Arguments:
        port_0, port_1: of the sides.
        ports: ports that are known to be servers' (`--port`).
        max_frame: longest frame that is believed.
        frames: say where each frame lies (`FrameSeen`).
        asked: give the frames of this message (`MessageSeen`).

    Attributes:
        server_side: 0, 1, or None while undecided.
        decided_by: the evidence: `syn`, `port`, `response`, `requests` or `lower_port`; None while undecided.
    """

    __slots__ = (
        "_asked",
        "_bytes",
        "_frames",
        "_kept",
        "_lower",
        "_max_frame",
        "_named",
        "_readings",
        "decided_by",
        "server_side",
    )

    def __init__(
        self,
        port_0: int,
        port_1: int,
        *,
        ports: Collection[int] | None = None,
        max_frame: int = MAX_FRAME,
        frames: bool = False,
        asked: Asked | None = None,
    ) -> None:
        self._frames = frames
        self._asked = asked
        named = [port in (ports or ()) for port in (port_0, port_1)]
        self._named: int | None = named.index(True) if sum(named) == 1 else None
        self._lower = 0 if port_0 < port_1 else 1
        self._max_frame = max_frame
        self._readings: dict[int, Connection] = {}  # by server side
        self._kept: dict[int, list[Event]] = {0: [], 1: []}
        self._bytes = 0
        self.server_side: int | None = None
        self.decided_by: DecidedBy | None = None

    @property
    def connection(self) -> Connection | None:
        """The tracked connection, None while undecided."""
        return None if self.server_side is None else self._readings.get(self.server_side)

    def opened(self, side: int, t: int, packet: int = 0) -> list[Event]:
        """A SYN of this side was seen, itself or through what acknowledges it: the beginning is known and the side is the client."""
        if self.server_side is not None:
            return []
        if not self._readings:
            self._readings[1 - side] = Connection(max_frame=self._max_frame, frames=self._frames, asked=self._asked)
        return self._decide(1 - side, "syn")

    def receive(self, side: int, data: bytes | bytearray | memoryview, t: int, packet: int = 0) -> list[Event]:
        """Take the next bytes of a side; arguments as in `Connection.receive_request_bytes`."""
        data = bytes(data)
        if not data:
            return []
        events = self._join_late()
        if self.server_side is not None:
            return events + self._give(self.server_side, side, data, t, packet)
        room = max(MAX_UNDECIDED - self._bytes, 0)
        self._bytes += len(data)
        for server in (0, 1):
            self._kept[server] += self._give(server, side, data[:room], t, packet)
        events = self._weigh()
        if len(self._readings) > 1 and self._bytes >= MAX_UNDECIDED:
            events = self._guess()
        if len(self._readings) == 1:
            # The reading that won has seen the bytes up to the limit.
            events += self._give(next(iter(self._readings)), side, data[room:], t, packet)
        return events

    def lost(self, side: int, n: int, t: int, packet: int = 0, *, cut: bool = False) -> list[Event]:
        """The next `n` bytes of a side are missing; arguments as in `Connection.lost`."""
        events = self._join_late()
        return events + self._tell(lambda server, reading: reading.lost(_direction(side, server), n, t, packet, cut=cut))

    def begins_late(self, side: int) -> None:
        """As `Connection.begins_late`, of a detector whose client has sent a SYN."""
        if self.server_side is not None:
            self._readings[self.server_side].begins_late(_direction(side, self.server_side))

    def closed(self, side: int, reset: bool, t: int, packet: int = 0) -> list[Event]:
        """A side ended; arguments as in `Connection.closed`."""
        events = self._join_late()
        return events + self._tell(lambda server, reading: reading.closed(_direction(side, server), reset, t, packet))

    def finish(self, t: int) -> list[Event]:
        """Nothing more will come: the connection is over, or the series."""
        events = self._join_late()
        if self.server_side is None:
            events += self._guess()
        return events + self._tell(lambda server, reading: reading.finish(t))

    def summary(self) -> ConnectionSummary:
        """What is known of the connection by now; while undecided, in the reading that is likelier."""
        self._join_late()
        server = self.server_side if self.server_side is not None else self._likelier()[0]
        return self._readings[server].summary()

    def _join_late(self) -> list[Event]:
        """The beginning was not seen."""
        if self._readings:
            return []
        if self._named is not None:
            self._readings[self._named] = Connection(True, max_frame=self._max_frame, frames=self._frames, asked=self._asked)
            return self._decide(self._named, "port")
        for server in (0, 1):
            self._readings[server] = Connection(True, max_frame=self._max_frame, frames=self._frames, asked=self._asked)
        return []

    def _give(self, server: int, side: int, data: bytes, t: int, packet: int) -> list[Event]:
        reading = self._readings[server]
        return reading.receive_response_bytes(data, t, packet) if side == server else reading.receive_request_bytes(data, t, packet)

    def _tell(self, what: _Telling) -> list[Event]:
        if self.server_side is not None:
            return what(self.server_side, self._readings[self.server_side])
        for server in (0, 1):
            self._kept[server] += what(server, self._readings[server])
        return self._weigh()

    def _weigh(self) -> list[Event]:
        for server in (self._lower, 1 - self._lower):
            if any(isinstance(event, RequestCompleted) and event.state == "answered" for event in self._kept[server]):
                return self._decide(server, "response")
        return []

    def _likelier(self) -> tuple[int, DecidedBy]:
        requests = [self._readings[server].summary().requests for server in (0, 1)]
        if bool(requests[0]) != bool(requests[1]):
            return (0 if requests[0] else 1), "requests"
        return self._lower, "lower_port"

    def _guess(self) -> list[Event]:
        return self._decide(*self._likelier())

    def _decide(self, server: int, by: DecidedBy) -> list[Event]:
        self.server_side = server
        self.decided_by = by
        self._readings = {server: self._readings[server]}
        events, self._kept = self._kept[server], {0: [], 1: []}
        return events

    def import_connection(self, server_side: int, decided_by: DecidedBy | None, connection: Connection) -> None:
        """Replace what was tracked so far by a connection whose server is known."""
        self.server_side, self.decided_by = server_side, decided_by
        self._readings = {server_side: connection}

    def __repr__(self) -> str:
        return f"DirectionDetector(server side {self.server_side}, by {self.decided_by})"


def _direction(side: int, server: int) -> Direction:
    return "response" if side == server else "request"
