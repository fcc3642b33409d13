"""Detection of the server's side and of Kafka, then tracking of the connection.

Evidence in this order: the side that sent the SYN is the client; a side whose port is among the given ones is the server; a response that
answers a request; a side that sends whole requests is the client; the lower port. Until the direction is decided and the connection is
proven to be Kafka, both directions are tracked and their events buffered (`Exchange.proven`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, Literal

from kwire.protocol.events import Asked, ConnectionSummary, Direction, Event, FrameSeen, RequestCompleted
from kwire.protocol.tracking.connection import Connection
from kwire.protocol.tracking.frames import MAX_FRAME

__all__ = ["MAX_UNDECIDED", "MAX_UNPROVEN", "DecidedBy", "DirectionDetector", "not_kafka"]

# Bytes of both sides after which the lower port decides, if nothing better did. A large request and its response fit.
MAX_UNDECIDED: Final = 4 << 20
# Limit of events without a proof of Kafka.
MAX_UNPROVEN: Final = 256
# Attributes that a connection keeps if it is not Kafka.
_OF_BYTES: Final = (
    "_closed", "_closed_by", "_first_seen", "_hellos", "_last_seen", "_protocol", "_proxied", "_reset", "bytes_lost", "gaps", "received",
)  # fmt: skip

_Telling = Callable[[int, Connection], list[Event]]
DecidedBy = Literal["syn", "port", "response", "requests", "lower_port"]


class DirectionDetector:
    """Detector for a connection of two sides, 0 and 1.

    Arguments:
        port_0: port of side 0.
        port_1: port of side 1.
        ports: known server ports (`--port`).
        max_frame: longest accepted frame.
        frames: report the position of each frame (`FrameSeen`).
        asked: return the frames of this message (`MessageSeen`).
        proven: whether the sides are known to use Kafka, for example by a port among `ports`.

    Attributes:
        server_side: 0, 1, or None while undecided.
        decided_by: the evidence: `syn`, `port`, `response`, `requests` or `lower_port`; None while undecided.
    """

    def __init__(
        self,
        port_0: int,
        port_1: int,
        *,
        ports: Collection[int] | None = None,
        max_frame: int = MAX_FRAME,
        frames: bool = False,
        asked: Asked | None = None,
        proven: bool = False,
    ) -> None:
        self._frames = frames
        self._asked = asked
        named = [port in (ports or ()) for port in (port_0, port_1)]
        self._named: int | None = named.index(True) if sum(named) == 1 else None
        self._proven = proven or any(named)
        self._lower = 0 if port_0 < port_1 else 1
        self._max_frame = max_frame
        self._readings: dict[int, Connection] = {}  # by server side
        self._kept: dict[int, list[Event]] = {0: [], 1: []}
        self._bytes = 0
        self.server_side: int | None = None
        self.decided_by: DecidedBy | None = None

    @property
    def connection(self) -> Connection | None:
        """Tracked connection, None while undecided."""
        return None if self.server_side is None else self._readings.get(self.server_side)

    def opened(self, side: int, t: int, packet: int = 0) -> list[Event]:
        """Record a SYN of this side, captured or acknowledged: the side is the client, and its first byte is known."""
        if self.server_side is not None:
            return []
        if not self._readings:
            self._readings[1 - side] = self._new_reading(False)
        self._decide(1 - side, "syn")
        return self._given()

    def receive(self, side: int, data: bytes | bytearray | memoryview, t: int, packet: int = 0) -> list[Event]:
        """Receive the next bytes of a side; arguments as in `Connection.receive_request_bytes`."""
        data = bytes(data)
        if not data:
            return []
        self._join_late()
        if self.server_side is not None:
            self._give(self.server_side, side, data, t, packet)
            return self._given()
        room = max(MAX_UNDECIDED - self._bytes, 0)
        self._bytes += len(data)
        for server in (0, 1):
            self._give(server, side, data[:room], t, packet)
        self._weigh()
        if len(self._readings) > 1 and self._bytes >= MAX_UNDECIDED:
            self._decide(*self._likelier())
        if len(self._readings) == 1:
            # The reading that won has seen the bytes up to the limit.
            self._give(next(iter(self._readings)), side, data[room:], t, packet)
        return self._given()

    def lost(self, side: int, n: int, t: int, packet: int = 0, *, cut: bool = False) -> list[Event]:
        """Skip the next `n` bytes of a side, which are missing; arguments as in `Connection.lost`."""
        return self._tell(lambda server, reading: reading.lost(_direction(side, server), n, t, packet, cut=cut))

    def begins_late(self, side: int) -> None:
        """Call `Connection.begins_late`, after a SYN of the client."""
        if self.server_side is not None:
            self._readings[self.server_side].begins_late(_direction(side, self.server_side))

    def closed(self, side: int, reset: bool, t: int, packet: int = 0) -> list[Event]:
        """End a side; arguments as in `Connection.closed`."""
        return self._tell(lambda server, reading: reading.closed(_direction(side, server), reset, t, packet))

    def finish(self, t: int) -> list[Event]:
        """End the connection, or the series."""
        self._join_late()
        if self.server_side is None:
            self._decide(*self._likelier())
        events = self._tell(lambda server, reading: reading.finish(t))
        return events + self._given(ended=True)

    def summary(self) -> ConnectionSummary:
        """Return the current state of the connection; while undecided, for the more likely direction."""
        self._join_late()
        server = self.server_side if self.server_side is not None else self._likelier()[0]
        return self._readings[server].summary()

    def _new_reading(self, joined_late: bool) -> Connection:
        made = Connection(joined_late, max_frame=self._max_frame, frames=self._frames, asked=self._asked)
        made._exchange.proven = self._proven
        return made

    def _join_late(self) -> None:
        if self._readings:
            return
        for server in (0, 1):
            self._readings[server] = self._new_reading(True)
        if self._named is not None:
            self._decide(self._named, "port")

    def _give(self, server: int, side: int, data: bytes, t: int, packet: int) -> None:
        reading = self._readings[server]
        receive = reading.receive_response_bytes if side == server else reading.receive_request_bytes
        self._kept[server] += receive(data, t, packet)

    def _tell(self, what: _Telling) -> list[Event]:
        self._join_late()
        for server, reading in self._readings.items():
            self._kept[server] += what(server, reading)
        self._weigh()
        return self._given()

    def _weigh(self) -> None:
        for server in (self._lower, 1 - self._lower):
            if self.server_side is None and any(
                isinstance(event, RequestCompleted) and event.state == "answered" for event in self._kept[server]
            ):
                self._decide(server, "response")

    def _given(self, *, ended: bool = False) -> list[Event]:
        if self.server_side is None:
            return []
        reading, events = self._readings[self.server_side], self._kept[self.server_side]
        if not reading._exchange.proven:
            if reading._protocol is None and not ended and len(events) <= MAX_UNPROVEN:
                return []
            if any(reading._frames.values()) or (reading._protocol is None and reading.protocol == "unknown"):
                self._readings[self.server_side] = not_kafka(reading, self._new_reading(reading.joined_late))
            events = [event for event in events if isinstance(event, FrameSeen) and event.kind == "proxy"]
        self._kept = {0: [], 1: []}
        return events

    def _likelier(self) -> tuple[int, DecidedBy]:
        requests = [self._readings[server].summary().requests for server in (0, 1)]
        if bool(requests[0]) != bool(requests[1]):
            return (0 if requests[0] else 1), "requests"
        return self._lower, "lower_port"

    def _decide(self, server: int, by: DecidedBy) -> None:
        self.server_side = server
        self.decided_by = by
        self._readings = {server: self._readings[server]}
        self._kept[1 - server] = []

    def import_connection(self, server_side: int, decided_by: DecidedBy | None, connection: Connection) -> None:
        self.server_side, self.decided_by = server_side, decided_by
        self._readings = {server_side: connection}

    def __repr__(self) -> str:
        return f"DirectionDetector(server side {self.server_side}, by {self.decided_by})"


def not_kafka(reading: Connection, fresh: Connection) -> Connection:
    """Return an unproven connection as one of a foreign protocol; `fresh` has read no frame."""
    for name in _OF_BYTES:
        setattr(fresh, name, getattr(reading, name))
    fresh._openings = {"request": None, "response": None}
    fresh._protocol = reading._protocol or "unknown"
    fresh._stray = sum(reading.received.values())
    return fresh


def _direction(side: int, server: int) -> Direction:
    return "response" if side == server else "request"
