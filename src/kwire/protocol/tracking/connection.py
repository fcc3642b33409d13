"""One tracked connection: it takes bytes of both directions with their times, and returns events.

It keeps only what later bytes may need: unfinished frames, requests without response, identity and authentication, counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, Concatenate, Final, Literal, ParamSpec

from kwire.protocol.events import Asked, ConnectionSummary, Direction, Event, FrameSeen
from kwire.protocol.tls_hello import HelloReader
from kwire.protocol.tracking.exchange import Exchange
from kwire.protocol.tracking.frames import MAX_FRAME, Frame, FrameFault, FrameSplitter
from kwire.protocol.tracking.opening import Opening
from kwire.protocol.tracking.reading import peek_correlation_id
from kwire.protocol.tracking.resync import ResponseJudge

__all__ = ["TWO_THREADS", "Connection"]

TWO_THREADS: Final = "two threads use a connection at once: give a connection to one thread, or guard its calls with a lock"

_Arguments = ParamSpec("_Arguments")


def _alone(
    method: Callable[Concatenate[Connection, _Arguments], list[Event]],
) -> Callable[Concatenate[Connection, _Arguments], list[Event]]:
    """Make a method refuse to run while another thread runs one."""

    @wraps(method)
    def guarded(self: Connection, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> list[Event]:
        try:
            self._turn.pop()  # of two threads one gets it
        except IndexError:
            raise RuntimeError(TWO_THREADS) from None
        try:
            return method(self, *args, **kwargs)
        finally:
            self._turn.append(True)

    return guarded


class Connection:
    """Connection whose client side is known.

    Arguments:
        joined_late: the capture misses the beginning, so the first bytes may be in the middle of a frame.
        max_frame: longest accepted frame, in bytes.
        frames: report the position of each frame (`FrameSeen`).
        bodies: API keys whose bodies are read, None for all. For other APIs, rows have only the header's columns and times, `body` is
            `skipped`, and frames are not kept. Bodies that identify the client (SaslHandshake, ApiVersions, SaslAuthenticate,
            GetTelemetrySubscriptions) and the acks of a Produce are always read.
        asked: return the frames of this message (`MessageSeen`).

    Raises:
        RuntimeError: two threads call methods at the same time.
    """

    def __init__(
        self,
        joined_late: bool = False,
        *,
        max_frame: int = MAX_FRAME,
        frames: bool = False,
        bodies: Collection[int] | None = None,
        asked: Asked | None = None,
    ) -> None:
        self._turn = [True]  # empty while a method runs
        self.joined_late = joined_late
        self.gaps = 0
        self.bytes_lost = 0
        self.received = {"request": 0, "response": 0}
        self._exchange = Exchange(not joined_late, frames, bodies, asked)
        self._judge = ResponseJudge(self._exchange.pairing)
        self._splitters: dict[Direction, FrameSplitter] = {
            "request": self._splitter("request", max_frame, seeking=joined_late),
            "response": self._splitter("response", max_frame, seeking=joined_late),
        }
        self._openings: dict[Direction, Opening | None] = {
            "request": Opening("request", joined_late, max_frame),
            "response": Opening("response", joined_late, max_frame),
        }
        self._frames: dict[Direction, int] = {"request": 0, "response": 0}
        self._protocol: str | None = None  # of a foreign protocol, once one is recognised
        self._stray = 0  # bytes of foreign protocols
        self._proxied: str | None = None
        self._hellos: dict[Direction, HelloReader] = {}
        self._first_seen: int | None = None
        self._last_seen: int | None = None
        self._closed: dict[Direction, bool] = {"request": False, "response": False}
        self._closed_by: Literal["client", "server"] | None = None
        self._reset = False

    def __getstate__(self) -> object:
        if not self._turn:
            raise RuntimeError(TWO_THREADS)
        return self.__dict__

    def _splitter(self, direction: Direction, max_frame: int, *, seeking: bool = False, offset: int = 0) -> FrameSplitter:
        passing = self._exchange.passing
        enough = passing.request_head if direction == "request" else passing.response_head
        return FrameSplitter(seeking=seeking, max_frame=max_frame, offset=offset, enough=None if passing.bodies is None else enough)

    @_alone
    def receive_request_bytes(self, data: bytes | bytearray | memoryview, t: int, packet: int = 0) -> list[Event]:
        """Receive the next bytes from the client.

        Arguments:
            data: any contiguous buffer; it is copied.
            t: arrival time, nanoseconds since 1970 UTC.
            packet: number of the packet, for `packet_number`.
        """
        return self._receive("request", bytes(data), t, packet)

    @_alone
    def receive_response_bytes(self, data: bytes | bytearray | memoryview, t: int, packet: int = 0) -> list[Event]:
        """Receive the next bytes from the server; arguments as in `receive_request_bytes`."""
        return self._receive("response", bytes(data), t, packet)

    @_alone
    def lost(self, direction: Direction, n: int, t: int, packet: int = 0, *, cut: bool = False) -> list[Event]:
        """Skip the next `n` bytes of a direction, which the capture misses.

        Arguments:
            direction: `request` or `response`.
            n: number of missing bytes.
            t: time of the discovery.
            packet: number of the packet at which the gap was found.
            cut: whether snaplen cut them off; the packet's time is then known, so latencies stay exact.
        """
        if n <= 0:
            return []
        self._see(t)
        self.gaps += 1
        self.bytes_lost += n
        self._exchange.missing = True
        if not cut:
            self._exchange.losses += 1
        opening = self._openings[direction]
        events: list[Event] = []
        if opening is not None:
            self._openings[direction] = None
            events = self._feed_all(direction, opening.give_up())
        if self._protocol is not None:
            if direction in self._hellos:
                self._hellos[direction].done = True
            return events
        splitter = self._splitters[direction]
        for frame in splitter.lose(n, t, self._judge_of(direction), cut):
            events += self._frame(direction, frame)
        if splitter.seeking:
            if direction == "request":
                self._exchange.lost_requests()
            else:
                self._exchange.lost_responses()
        return events

    def authenticated(self, principal: str) -> None:
        """Set the principal authenticated by the layer below, such as mutual TLS; SASL may replace it."""
        self._exchange.sasl.principal = principal

    @_alone
    def begins_late(self, direction: Direction) -> list[Event]:
        """Mark a direction whose first bytes, of unknown number, are missing; call it before any of its bytes."""
        exchange = self._exchange
        exchange.missing = True
        self._openings[direction] = Opening(direction, True, self._splitters[direction].max_frame)
        self._splitters[direction].seeking = True
        if direction == "request":
            exchange.lost_requests()
        else:
            exchange.response_breaks += 1  # nothing of a known response, as far as can be seen
        return []

    @_alone
    def closed(self, direction: Direction, reset: bool, t: int, packet: int = 0) -> list[Event]:
        """End a direction, by FIN or, with `reset`, by RST.

        When both have ended, waiting requests get no answer: `abandoned` if the client ended first. After a RST, bytes in transit may still
        arrive; then `finish` ends the connection.
        """
        self._see(t)
        if self._closed_by is None:
            self._closed_by = "client" if direction == "request" else "server"
            self._exchange.left = direction == "request"
            if direction == "response":
                self._exchange.sasl.closed_by_server()
        if reset:
            self._reset = True
            return self._exchange.heard() if direction == "response" else []
        if self._closed[direction]:
            return []
        self._closed[direction] = True
        events = self._exchange.heard() if direction == "response" else []
        events += self._end(direction, t)
        if all(self._closed.values()) and not self._reset:
            events += self._exchange.end(t)
        return events

    @_alone
    def finish(self, t: int) -> list[Event]:
        """End the connection, or the series."""
        events: list[Event] = []
        for direction in self._splitters:
            if not self._closed[direction]:
                events += self._end(direction, t)
        return events + self._exchange.end(t)

    def _see(self, t: int) -> None:
        if self._first_seen is None or t < self._first_seen:
            self._first_seen = t
        if self._last_seen is None or t > self._last_seen:
            self._last_seen = t

    def _judge_of(self, direction: Direction) -> ResponseJudge:
        # Both judges have the same three methods; the request's is kept by the exchange, which finds raw tokens with it.
        return self._exchange.judge if direction == "request" else self._judge  # type: ignore[return-value]

    def _receive(self, direction: Direction, data: bytes, t: int, packet: int) -> list[Event]:
        if not data:
            return []
        self._see(t)
        self.received[direction] += len(data)
        opening = self._openings[direction]
        if opening is None:
            return self._feed(direction, data, t, packet)
        verdict = opening.take(data, t, packet)
        if opening.proxied_address is not None:
            self._proxied = opening.proxied_address
        if verdict is None:
            return []
        return self._opened(direction, opening, verdict)

    def _opened(self, direction: Direction, opening: Opening, verdict: str) -> list[Event]:
        self._openings[direction] = None
        events: list[Event] = []
        if opening.skipped and self._exchange.frames:
            events.append(FrameSeen(direction, "proxy", 0, opening.skipped))
        if verdict == "kafka":
            splitter = self._splitters[direction]
            if opening.skipped and not splitter.seeking:
                self._splitters[direction] = self._splitter(direction, splitter.max_frame, offset=opening.skipped)
        else:
            events += self._foreign(direction, opening, verdict)
        return events + self._feed_all(direction, opening.give_up())

    def _foreign(self, direction: Direction, opening: Opening, verdict: str) -> list[Event]:
        exchange = self._exchange
        first = opening.first_fault()
        if direction == "response" and exchange.is_kafka and exchange.proven:
            # The client speaks Kafka and has dialled something else.
            rule = "response_not_kafka" if verdict != "unknown" else first.rule
            events: list[Event] = [
                exchange.violation(rule, direction, first, **(first.facts if verdict == "unknown" else {"protocol": verdict}))
            ]
            self._splitters[direction].seeking = True
            return events
        self._protocol = self._protocol or verdict if verdict == "unknown" else verdict
        if verdict == "tls":
            self._hellos = {"request": HelloReader(), "response": HelloReader()}
        return [] if verdict != "unknown" or not exchange.proven else [exchange.violation(first.rule, direction, first, **first.facts)]

    def _feed_all(self, direction: Direction, chunks: list[tuple[bytes, int, int]]) -> list[Event]:
        events: list[Event] = []
        for data, t, packet in chunks:
            events += self._feed(direction, data, t, packet)
        return events

    def _feed(self, direction: Direction, data: bytes, t: int, packet: int) -> list[Event]:
        if self._protocol is not None:
            self._stray += len(data)
            if direction in self._hellos:
                self._hellos[direction].take(data)
            return []
        events: list[Event] = []
        for frame in self._splitters[direction].feed(data, t, packet, self._judge_of(direction)):
            events += self._frame(direction, frame)
        return events

    def _frame(self, direction: Direction, frame: Frame | FrameFault) -> list[Event]:
        if isinstance(frame, FrameFault):
            return self._fault(direction, frame)
        self._frames[direction] += 1
        if direction == "response":
            return self._exchange.response(frame)
        self._exchange.seeks_responses = self._splitters["response"].seeking
        return self._exchange.request(frame)

    def _fault(self, direction: Direction, fault: FrameFault) -> list[Event]:
        exchange = self._exchange
        seen = exchange.seen(direction, "length", fault)
        if fault.kind == "unfinished":
            facts: dict[str, Any] = {"have": fault.have, "length": fault.length + 4 if fault.have >= 4 else "unknown"}
            events: list[Event] = [*seen, exchange.violation("frame_unfinished", direction, fault, **facts)]
            waiting = exchange.pairing.waiting
            if direction == "response" and waiting and waiting[0].row is not None and peek_correlation_id(fault.payload) is not None:
                # The server did answer, and what came of it may say more than its correlation id; when its end came is unknown.
                exchange.losses += 1
                cut = Frame(fault.payload, fault.length, fault.offset, fault.packet, fault.time, fault.time, damaged=True, ended=False)
                cut.unfinished = True
                events += exchange.response(cut)
            return events
        if direction == "request":
            exchange.requests_lost = True
        else:
            exchange.lost_responses()
        if fault.doubtful:
            facts = {"reason": f"the frame length is {fault.length}"}
            return [*seen, exchange.violation("frame_border_lost", direction, fault, **facts)]
        if fault.kind == "negative":
            return [*seen, exchange.violation("frame_length_negative", direction, fault, length=fault.length)]
        limit = self._splitters[direction].max_frame
        return [*seen, exchange.violation("frame_length_too_large", direction, fault, length=fault.length, limit=limit)]

    def _end(self, direction: Direction, t: int) -> list[Event]:
        opening = self._openings[direction]
        events: list[Event] = []
        if opening is not None and opening.has_bytes:
            self._openings[direction] = None
            events += self._feed_all(direction, opening.give_up())
        if self._protocol is None:
            for frame in self._splitters[direction].end(t):
                events += self._frame(direction, frame)
        return events

    @property
    def protocol(self) -> str:
        """`kafka`, the name of a foreign protocol, `silent` without a byte, or `unknown`."""
        if self._exchange.is_kafka:
            return "kafka"
        if self._protocol is not None:
            return self._protocol
        opening = self._openings["request"]
        if opening is not None and opening.skipped and not opening.has_bytes:
            return "proxy"  # a PROXY header and nothing behind it
        return "unknown" if any(self.received.values()) else "silent"

    def summary(self) -> ConnectionSummary:
        """Return the current state of the connection."""
        exchange = self._exchange
        identity, sasl = exchange.identity, exchange.sasl
        hellos = self._hellos or {"request": HelloReader(), "response": HelloReader()}
        state: Literal["complete", "joined_late", "open", "reset"] = "open"
        if self.joined_late:
            state = "joined_late"
        elif self._reset:
            state = "reset"
        elif all(self._closed.values()):
            state = "complete"
        return ConnectionSummary(
            protocol=self.protocol,
            state=state,
            closed_by=self._closed_by,
            first_seen=self._first_seen,
            last_seen=self._last_seen,
            request_frames=self._frames["request"],
            response_frames=self._frames["response"],
            request_bytes=self.received["request"],
            response_bytes=self.received["response"],
            bytes_lost=self.bytes_lost,
            bytes_opaque=self._stray + sum(splitter.bytes_opaque for splitter in self._splitters.values()),
            gaps=self.gaps,
            requests=exchange.requests,
            unanswered=exchange.unanswered,
            last_api_name=exchange.last_api_name,
            proxied_address=self._proxied,
            tls_version=hellos["response"].version or hellos["request"].version,
            tls_sni=hellos["request"].server_name,
            tls_ja3=hellos["request"].ja3,
            tls_ja4=hellos["request"].ja4,
            sasl_mechanism=sasl.mechanism,
            attempted_principal=sasl.attempted_principal,
            principal=sasl.principal,
            auth_failures=sasl.failures,
            software_name=identity.software[0],
            software_version=identity.software[1],
            identity_source=identity.source,
            client_id=identity.client_id,
            client_instance_id=identity.instance_id,
            role=identity.role,
            advertised=exchange.advertised,
        )

    def __repr__(self) -> str:
        return f"Connection({self.protocol}, {self._exchange.requests} requests)"
