"""Relay between one client and one broker, without sockets: it takes bytes of either side and returns pieces to send.

    request    length | api key, version, correlation id | ...      decided after 12 bytes
    response   length | correlation id | ...                        decided after 8 bytes

Pairing is strict: a response that is not the oldest one owed closes the connection. A capture reader may search for frame borders and
guess; a relay must not, or it would answer the wrong request. docs/internals/relay.md has the states and the sources of each rule.
"""

from __future__ import annotations

from collections.abc import Iterable

from kwire.protocol.events import Direction
from kwire.protocol.relay.budget import HeldBudget
from kwire.protocol.relay.connection_state import ConnectionState
from kwire.protocol.relay.counters import RelayCounters
from kwire.protocol.relay.frame_stream import FrameStream
from kwire.protocol.relay.heads import SHORTEST_RESPONSE
from kwire.protocol.relay.lease import Lease
from kwire.protocol.relay.limits import MAX_FRAME, MAX_HELD, MAX_OWED
from kwire.protocol.relay.moves import Buffer, Closing, Held, Moves
from kwire.protocol.relay.plan import RelayPlan
from kwire.protocol.relay.request_side import RequestSide
from kwire.protocol.relay.response_side import ResponseSide

__all__ = ["Relay"]


class Relay:
    """Relay of one connection. `max_held` limits its held frames, the bytes behind them and its own answers; `budget` limits them for all
    relays that share it."""

    __slots__ = ("_budget", "_client", "_ended", "_requests_ended", "_reserved", "_server", "_state")

    def __init__(
        self,
        plan: RelayPlan,
        *,
        max_frame: int = MAX_FRAME,
        max_held: int = MAX_HELD,
        budget: HeldBudget | None = None,
        counters: RelayCounters | None = None,
    ) -> None:
        self._state = ConnectionState(plan, max_frame, max_held, counters)
        self._client = RequestSide(self._state)
        self._server = ResponseSide(self._state, self._client.stream)
        self._ended: dict[Direction, bool] = {"request": False, "response": False}
        self._requests_ended = False
        self._budget = budget
        self._reserved = 0  # bytes taken from the budget

    # bytes

    def from_client(self, data: Buffer, t: int) -> Moves:
        """Receive bytes from the client, which must not change until all pieces are sent; raise `ValueError` after `end_client`."""
        return self._take(self._client, data, t)

    def from_server(self, data: Buffer, t: int) -> Moves:
        """Receive bytes from the broker, as `from_client` does."""
        return self._take(self._server, data, t)

    def end_client(self, t: int) -> Moves:
        """Handle the end of the client's direction (FIN). The client still gets its owed answers."""
        self._ended["request"] = True
        return self._finish(t)

    def end_server(self, t: int) -> Moves:
        """Handle the end of the broker's direction; if requests are unanswered, `close` is `server_ended`."""
        self._ended["response"] = True
        return self._finish(t)

    def end_requests(self) -> None:
        """Begin no further request: the client is read only for the rest of one that was sent on in part."""
        self._requests_ended = True

    def use_plan(self, plan: RelayPlan, lease: Lease | None = None) -> None:
        """Use another plan from the next frame on; behind the lease if the backend takes one."""
        self._state.plan = plan

    # frames that are held

    def release(self, held: Held, pieces: Iterable[Buffer] | None = None, *, t: int = 0, response: int | None = None) -> Moves:
        """Send a held frame, or `pieces` (without a length) in its place, then the bytes behind it; raise `ValueError` if it is not held.

        API key and version must not change; the correlation id is set here. `response` is the action for the response instead of the
        plan's: `PASS`, `CALL`, `CLOSE` or the number of a program.
        """
        self._let_go(held)
        if self._state.closing is None:
            whole: list[Buffer] = [held.frame] if pieces is None else list(pieces)
            if held.kind == "request":
                self._client.send(held, whole, response)
            else:
                self._server.send(held, whole)
        return self._go_on(held.kind, t)

    def answer(self, held: Held, frame: Buffer | None, *, t: int = 0) -> Moves:
        """Answer a held request instead of the broker, after all earlier owed answers; None for no answer.

        `frame` has a header and no length; its correlation id is set here. Raises `ValueError` if the request is not held or the frame is
        too long.
        """
        if held.kind != "request":
            raise ValueError("only a request can be answered")
        if frame is not None and not SHORTEST_RESPONSE <= len(frame) <= self._state.max_frame:
            raise ValueError(f"an answer of {len(frame)} bytes")
        self._let_go(held)
        if frame is not None and held.wants_answer and self._state.closing is None:
            self._state.answer(held.correlation_id, held.correlation_id.to_bytes(4, "big", signed=True) + bytes(frame[4:]))
        return self._go_on("request", t)

    # state

    @property
    def plan(self) -> RelayPlan:
        return self._state.plan

    @property
    def closing(self) -> Closing | None:
        return self._state.closing

    @property
    def owed(self) -> int:
        return len(self._state.owed)

    @property
    def kept(self) -> int:
        held = sum(len(each.frame) for each in self._state.held.values() if each is not None)
        return self._client.stream.bytes_kept + self._server.stream.bytes_kept + held + self._state.owed.kept

    @property
    def is_idle(self) -> bool:
        """True between two frames in both directions while no answer is owed: a good moment to close.

        After `end_requests`, a request of which nothing was sent on does not count.
        """
        client = self._client.stream
        asks = bool(client.left) if self._requests_ended else client.is_inside
        return not (asks or self._server.stream.is_inside or any(self._state.held.values()) or self._state.owed)

    @property
    def inside_request(self) -> bool:
        return self._client.stream.is_inside

    @property
    def reads_client(self) -> bool:
        """True if the client is to be read; False while its bytes would only be buffered."""
        return self.closing is None and not self._ended["request"] and not self._is_blocked("request")

    @property
    def reads_server(self) -> bool:
        return self.closing is None and not self._ended["response"] and not self._is_blocked("response")

    # taking bytes

    def _is_blocked(self, direction: Direction) -> bool:
        if self._state.held[direction] is not None:
            return True
        if direction == "response" or self._client.stream.left:
            return False
        owed = self._state.owed
        return self._requests_ended or len(owed) >= MAX_OWED or owed.ends_in_sasl

    def _take(self, side: RequestSide | ResponseSide, data: Buffer, t: int) -> Moves:
        if self._ended[side.stream.direction]:
            raise ValueError("bytes received after the end of their direction")
        self._feed(side, memoryview(data).cast("B"), t)
        return self._finish(t)

    def _feed(self, side: RequestSide | ResponseSide, data: memoryview, t: int) -> None:
        stream = side.stream
        pos = 0
        while pos < len(data) and self._state.closing is None:
            if self._is_blocked(stream.direction):
                stream.parked += data[pos:]
                return
            if stream.left:
                taken = min(stream.left, len(data) - pos)
                self._pass(stream, data[pos : pos + taken])
                side.passed(t)
            else:
                taken = stream.gather(data[pos:])
                while self._state.closing is None and stream.is_ready:
                    side.look(t)
            pos += taken

    def _pass(self, stream: FrameStream, data: memoryview) -> None:
        if not stream.drops:
            out = self._state.moves.to_server if stream.direction == "request" else self._state.moves.to_client
            out.append(data)
        stream.see(data)

    def _let_go(self, held: Held) -> None:
        if self._state.held[held.kind] is not held:
            raise ValueError("this frame is not held")
        self._state.held[held.kind] = None

    def _go_on(self, direction: Direction, t: int) -> Moves:
        self._drain(self._client if direction == "request" else self._server, t)
        return self._finish(t)

    def _drain(self, side: RequestSide | ResponseSide, t: int) -> None:
        stream = side.stream
        if stream.parked and not self._is_blocked(stream.direction) and self._state.closing is None:
            data = memoryview(bytes(stream.parked))
            stream.parked.clear()
            self._feed(side, data, t)

    # the end of a call

    def _finish(self, t: int) -> Moves:
        self._drain(self._client, t)  # there may be room in the queue of owed answers
        self._give_ends()
        self._keep_limits()
        moves, self._state.moves = self._state.moves, Moves()
        moves.close = self._state.closing
        return moves

    def _keep_limits(self) -> None:
        state = self._state
        kept = 0 if state.closing is not None else self.kept
        fuller: Direction = "request" if self._client.stream.bytes_kept > self._server.stream.bytes_kept else "response"
        if kept > state.max_held:
            state.close("held_too_large", fuller, kept)
            kept = 0
        if self._budget is None:
            return
        self._budget.give(self._reserved)
        self._reserved = kept if self._budget.take(kept) else 0
        if self._reserved < kept:
            state.close("budget_exhausted", fuller)

    def _give_ends(self) -> None:
        state = self._state
        for stream in (self._client.stream, self._server.stream):
            direction = stream.direction
            if (
                not self._ended[direction]
                or stream.is_over
                or state.held[direction] is not None
                or stream.parked
                or state.closing is not None
            ):
                continue
            stream.is_over = True
            if stream.is_inside:
                state.close("frame_unfinished", direction)
            elif direction == "request":
                state.moves.end_server = True
            else:
                state.moves.end_client = True
                if state.owed.waiting:
                    state.close("server_ended", "response", state.owed.waiting)
