"""A relay between one client and one broker, without sockets: bytes of either side in, pieces to send out.

    request    length | api key, version, correlation id | ...      decided after 12 bytes
    response   length | correlation id | ...                        decided after 8 bytes

A frame that the plan lets through is not kept: its bytes go out as they come. Only a Produce waits for its acks, for without them nothing
says whether an answer will come; then a frame of CALL or of a program is kept until it is whole. Pairing is strict: a response that is not
the oldest one owed closes the connection. A capture may search for borders and guess; a relay that did would answer the wrong request.

docs/internals/relay.md has the states and where each rule comes from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from kwire.errors import WireError
from kwire.protocol.events import Direction
from kwire.protocol.relay.budget import HeldBudget
from kwire.protocol.relay.frame_stream import FrameStream, Stage
from kwire.protocol.relay.heads import (
    API_VERSIONS,
    LENGTH,
    MAX_HEAD,
    PRODUCE,
    REQUEST_HEAD,
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    SHORTEST_REQUEST,
    SHORTEST_RESPONSE,
    UNSUPPORTED_VERSION,
    acks_of,
    mechanism_of,
    refusal,
)
from kwire.protocol.relay.moves import Buffer, CloseReason, Closing, Held, Moves
from kwire.protocol.relay.owed import MAX_OWED, Owed, OwedQueue
from kwire.protocol.relay.plan import CALL, CLOSE, PASS, REFUSE, RelayPlan
from kwire.protocol.relay.raw_tokens import FIRST_TOKEN, RawTokens
from kwire.protocol.tracking.frames import MAX_FRAME

__all__ = ["MAX_HELD", "Relay"]

MAX_HELD: Final = 64 << 20
_ID_AT: Final = 4  # of the correlation id in a request, behind api key and version
_ERROR_AT: Final = 4  # of the error code in the responses whose error code is read, behind the correlation id
_LARGEST: Final = (1 << 31) - 1


def _int32(data: Buffer, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big", signed=True)


class Relay:
    """One connection.

    Arguments:
        plan: what is done with each frame.
        max_frame: longest frame, in bytes without its length.
        max_held: bytes that this connection keeps at most: frames that are held, what waits behind them, own answers.
        budget: what all relays that share it keep at most; None for no such limit.
        renumber: give requests correlation ids of the relay's own, 4 bytes in place, and responses those of the client. `own_request` turns
            it on; clients that give several requests one id (pykafka) are paired more strictly with it.

    Attributes:
        plan: as given.
        closing: why the connection must be closed; None while all is well.

    Raises:
        ValueError: by `answer` and `release`, for a frame that is not held (any more).
    """

    __slots__ = (
        "_asks", "_authenticating", "_budget", "_client", "_ended", "_held", "_max_frame", "_max_held", "_moves", "_next_id", "_owed",
        "_renumber", "_requests", "_reserved", "_server", "_tokens", "closing", "plan",
    )  # fmt: skip

    def __init__(
        self,
        plan: RelayPlan,
        *,
        max_frame: int = MAX_FRAME,
        max_held: int = MAX_HELD,
        budget: HeldBudget | None = None,
        renumber: bool = False,
    ) -> None:
        self.plan = plan
        self.closing: Closing | None = None
        self._max_frame = max_frame
        self._max_held = max_held
        self._budget = budget
        self._reserved = 0  # bytes taken from the budget
        self._renumber = renumber
        self._next_id = 0
        self._client = FrameStream("request")
        self._server = FrameStream("response")
        self._held: dict[Direction, Held | None] = {"request": None, "response": None}
        self._owed = OwedQueue()
        self._asks: deque[Owed] = deque()  # own requests that wait for a border; `frame` is the request
        self._tokens = RawTokens()
        self._authenticating = False
        self._requests = 0
        self._ended: dict[Direction, bool] = {"request": False, "response": False}
        self._moves = Moves()

    # bytes

    def from_client(self, data: Buffer, t: int) -> Moves:
        """Take the next bytes of the client.

        Arguments:
            data: any contiguous buffer. Pieces may be views of it, so it must not change until they are sent.
            t: when they came, nanoseconds.
        """
        return self._take(self._client, data, t)

    def from_server(self, data: Buffer, t: int) -> Moves:
        """Take the next bytes of the broker; arguments as in `from_client`."""
        return self._take(self._server, data, t)

    def end_client(self, t: int) -> Moves:
        """The client has ended its direction (FIN). What it is owed still goes to it."""
        return self._end(self._client, t)

    def end_server(self, t: int) -> Moves:
        """The broker has ended its direction. Requests that still wait for it get no answer: `close` says `server_ended` then."""
        return self._end(self._server, t)

    # frames that are held, and the relay's own

    def release(self, held: Held, pieces: Iterable[Buffer] | None = None, *, t: int = 0, response: int | None = None) -> Moves:
        """Let a held frame go on its way; what waits behind it follows.

        Arguments:
            held: from `Moves.held`. One of kind `own` goes nowhere, it is only done with.
            pieces: the frame as it shall go out, without its length; None for as it came. Api key, version and correlation id must stay.
            t: now, nanoseconds.
            response: what is done with the response to this request, instead of what the plan says: `PASS`, `CALL`, `CLOSE` or the
                number of a program.
        """
        direction: Direction = "request" if held.kind == "request" else "response"
        self._let_go(direction, held)
        if self.closing is None:
            if held.kind == "own":
                self._answered()
            else:
                self._send(direction, held.frame, None if pieces is None else list(pieces), t, response, held)
        return self._go_on(direction, t)

    def answer(self, held: Held, frame: Buffer | None, *, t: int = 0) -> Moves:
        """Answer a held request instead of the broker. The answer goes out behind all that the client was owed before.

        Arguments:
            held: of kind `request`.
            frame: the response with its header, without its length; its correlation id is set to the request's. None for no answer at all,
                as for a request that wants none: then a frame is dropped too.
            t: now, nanoseconds.

        Raises:
            ValueError: it is not held, or no request; the frame is too short for a correlation id, or longer than frames may be.
        """
        if held.kind != "request":
            raise ValueError("only a request can be answered")
        if frame is not None and not SHORTEST_RESPONSE <= len(frame) <= self._max_frame:
            raise ValueError(f"an answer of {len(frame)} bytes")
        self._let_go("request", held)
        if frame is not None and held.wants_answer and self.closing is None:
            self._own_answer(held.correlation_id, held.correlation_id.to_bytes(4, "big", signed=True) + bytes(frame[4:]))
        return self._go_on("request", t)

    def own_request(self, frame: Buffer, *, t: int = 0, tag: object = None) -> Moves:
        """Ask the broker something on this connection. Its answer comes in `Moves.held` with kind `own`; `release` it when done.

        It goes out between two requests of the client, and not while the client authenticates (KIP-368: a broker closes then).

        Arguments:
            frame: a request that is answered, with its header and without its length; its correlation id is set here. From now on requests
                of the client are renumbered.
            t: now, nanoseconds.
            tag: given back in `Held.tag`.

        Raises:
            ValueError: the frame is too short, longer than frames may be, or the client has ended its direction.
        """
        if not SHORTEST_REQUEST <= len(frame) <= self._max_frame:
            raise ValueError(f"a request of {len(frame)} bytes")
        if self._ended["request"]:
            raise ValueError("the client's direction has ended, so nothing can be asked")
        self._renumber = True
        key, version, _ = REQUEST_HEAD.unpack_from(frame)
        self._asks.append(Owed("own", key, version, time=t, frame=bytes(frame), tag=tag))
        self._ask()
        return self._settle()

    # state

    @property
    def owed(self) -> int:
        """Answers that the client, or the relay itself, still waits for."""
        return len(self._owed)

    @property
    def kept(self) -> int:
        """Bytes that are kept now."""
        held = sum(len(each.frame) for each in self._held.values() if each is not None)
        asks = sum(len(each.frame) for each in self._asks)
        return self._client.bytes_kept + self._server.bytes_kept + held + self._owed.kept + asks

    @property
    def is_idle(self) -> bool:
        """Both directions stand between two frames and no answer is owed: a good moment to close."""
        return not (self._owed or self._asks or self._client.is_inside or self._server.is_inside or any(self._held.values()))

    @property
    def reads_client(self) -> bool:
        """Whether to read from the client: False while what it sends would only be kept."""
        return self.closing is None and not self._ended["request"] and not self._is_blocked("request")

    @property
    def reads_server(self) -> bool:
        """Whether to read from the broker."""
        return self.closing is None and not self._ended["response"] and not self._is_blocked("response")

    # taking bytes

    def _is_blocked(self, direction: Direction) -> bool:
        return self._held[direction] is not None or (direction == "request" and len(self._owed) >= MAX_OWED)

    def _take(self, stream: FrameStream, data: Buffer, t: int) -> Moves:
        if self._ended[stream.direction]:
            raise ValueError("bytes behind the end of a direction")
        self._feed(stream, memoryview(data).cast("B"), t)
        return self._settle()

    def _feed(self, stream: FrameStream, data: memoryview, t: int) -> None:
        is_request = stream.direction == "request"
        pos = 0
        while pos < len(data) and self.closing is None:
            if self._is_blocked(stream.direction):
                stream.parked += data[pos:]
                return
            if stream.left:
                taken = min(stream.left, len(data) - pos)
                if not stream.drops:
                    self._out(stream).append(data[pos : pos + taken])
                stream.left -= taken
                pos += taken
                if not stream.left:
                    self._passed(stream, t)
                continue
            taken = stream.gather(data[pos:])
            pos += taken
            while self.closing is None and stream.is_ready:
                if is_request:
                    self._look_at_request(stream, t)
                else:
                    self._look_at_response(stream, t)

    def _out(self, stream: FrameStream) -> list[Buffer]:
        return self._moves.to_server if stream.direction == "request" else self._moves.to_client

    def _check_length(self, stream: FrameStream) -> bool:
        """Whether the length of the next frame may be."""
        length = stream.length
        if 0 <= length <= self._max_frame:
            return True
        self._close("length_negative" if length < 0 else "length_too_large", stream.direction, length)
        return False

    # requests

    def _look_at_request(self, stream: FrameStream, t: int) -> None:
        kept = stream.kept
        if stream.stage == "length":
            if not self._check_length(stream):
                return
            if self._tokens.is_open or self._requests == 0:
                stream.want("token", 2)
            else:
                stream.want("head", SHORTEST_REQUEST)
        elif stream.stage == "token":
            self._look_at_token(stream, kept)
        elif stream.stage == "head":
            if stream.length < SHORTEST_REQUEST:
                self._close("length_too_short", "request", stream.length)
                return
            self._decide_request(stream, t)
        else:
            self._whole_request(stream, t)

    def _look_at_token(self, stream: FrameStream, kept: bytearray) -> None:
        """Whether the next frame is a raw SASL token."""
        if not self._tokens.is_open and self._requests == 0 and len(kept) > LENGTH and kept[LENGTH] == FIRST_TOKEN:
            self._tokens.begins()
        if self._tokens.is_open and self._tokens.is_token(bytes(kept[LENGTH : LENGTH + 2])):
            self._hold(stream, "raw")
        else:
            stream.want("head", SHORTEST_REQUEST)

    def _decide_request(self, stream: FrameStream, t: int) -> None:
        """The verdict over a request, once api, version and, of a Produce, acks are known."""
        kept = stream.kept
        key, version, number = REQUEST_HEAD.unpack_from(kept, LENGTH)
        known = self.plan.is_known(key, version)
        action = self.plan.action("request", key, version)
        if action == CLOSE or (key == PRODUCE and not known):  # of an unknown Produce nothing says whether an answer will come
            self._close("refused" if known else "unknown_api", "request", key)
            return
        silent = False
        if key == PRODUCE:
            acks = acks_of(bytes(kept[LENGTH:]), version)
            if acks is None:
                self._want_acks(stream)
                return
            silent = acks == 0
        if key in (SASL_HANDSHAKE, SASL_AUTHENTICATE):
            self._authenticating = True
        else:
            self._authenticating = False
        if action == REFUSE:
            self._refuse(stream, key, number, silent, t)
        elif action == PASS and not (key == SASL_HANDSHAKE and version == 0):
            self._requests += 1
            owed = None if silent else self._expect(key, version, number, t)
            head = bytearray(kept)
            self._renumbered(head, owed)
            self._moves.to_server.append(bytes(head))
            stream.pass_on(owed)
            if not stream.left:
                self._passed(stream, t)
        else:
            self._hold(stream, "whole", silent)

    def _want_acks(self, stream: FrameStream) -> None:
        have = len(stream.kept) - LENGTH
        if have >= stream.length:
            self._close("header_malformed", "request")
        elif have >= MAX_HEAD:
            self._close("head_too_long", "request", MAX_HEAD)
        else:
            stream.want_more(MAX_HEAD)

    def _hold(self, stream: FrameStream, stage: Stage, silent: bool = False) -> None:
        """Keep a frame until it is whole."""
        if LENGTH + stream.length > self._max_held:
            self._close("held_too_large", stream.direction, LENGTH + stream.length)
            return
        stream.silent = silent
        stream.want(stage, stream.length)

    def _refuse(self, stream: FrameStream, key: int, number: int, silent: bool, t: int) -> None:
        message = self.plan.source.request(API_VERSIONS)
        versions = None if message is None else (message.valid_versions.lowest, message.valid_versions.highest)
        self._requests += 1
        stream.drop()
        if not silent:
            self._own_answer(number, refusal(key, number, versions))
        if not stream.left:
            self._passed(stream, t)

    def _whole_request(self, stream: FrameStream, t: int) -> None:
        frame = stream.take_frame()
        self._requests += 1
        if stream.stage == "raw":
            stream.restart()
            if self._tokens.client_token(frame):
                self._owed.add(Owed("token", time=t))
            self._moves.to_server += [len(frame).to_bytes(4, "big"), frame]
            return
        key, version, number = REQUEST_HEAD.unpack_from(frame)
        action = self.plan.action("request", key, version)
        stream.restart()
        held = Held("request", frame, key, version, version, number, not stream.silent, t)
        if key == SASL_HANDSHAKE and version == 0 and not self._tokens.handshake(mechanism_of(frame)):
            self._close("sasl_unknown_mechanism", "request")
        elif action == CALL:
            self._held["request"] = held
            self._moves.held.append(held)
        else:
            self._run("request", action, held, t)

    def _run(self, direction: Direction, action: int, held: Held, t: int) -> None:
        """Send a whole frame through its program; PASS sends it as it is."""
        pieces: list[Buffer] | None = None
        if action > 0:
            try:
                pieces = list(self.plan.programs[action - 1].pieces(held.frame))
            except WireError:
                self._close("program_failed", direction)
                return
        self._send(direction, held.frame, pieces, t, None, held)

    def _send(self, direction: Direction, frame: bytes, pieces: list[Buffer] | None, t: int, response: int | None, held: Held) -> None:
        """Send a whole frame, edited or not."""
        edited: list[Buffer] = [frame] if pieces is None else pieces
        size = sum(map(len, edited))
        if size > self._max_frame:
            self._close("program_too_large", direction, size)
            return
        out = self._moves.to_server if direction == "request" else self._moves.to_client
        if direction == "request":
            owed = self._expect(held.api_key, held.api_version, held.correlation_id, held.time, response) if held.wants_answer else None
            head = bytearray(size.to_bytes(4, "big"))
            edited = _with_head(edited, LENGTH + SHORTEST_REQUEST, head)
            self._renumbered(head, owed)
        else:
            head = bytearray(size.to_bytes(4, "big"))
            edited = _with_head(edited, LENGTH + SHORTEST_RESPONSE, head)
            head[LENGTH : LENGTH + 4] = held.correlation_id.to_bytes(4, "big", signed=True)
        out.append(bytes(head))
        out.extend(edited)
        if direction == "response":
            self._answered()

    def _expect(self, key: int, version: int, number: int, t: int, action: int | None = None) -> Owed:
        owed = Owed("broker", key, version, number, number, t, action=action)
        self._owed.add(owed)
        return owed

    def _renumbered(self, head: bytearray, owed: Owed | None) -> None:
        """Set the correlation id that the broker will see; `head` begins with the length."""
        if self._renumber:
            number = self._new_id()
            head[LENGTH + _ID_AT : LENGTH + _ID_AT + 4] = number.to_bytes(4, "big")
            if owed is not None:
                owed.sent_id = number

    def _new_id(self) -> int:
        number = self._next_id
        self._next_id = 0 if number == _LARGEST else number + 1
        return number

    def _ask(self) -> None:
        """Send own requests, where the client's direction stands between two frames."""
        while self._asks and not self._client.is_passing and not self._authenticating and self.closing is None:
            own = self._asks.popleft()
            own.correlation_id = own.sent_id = self._new_id()
            head = bytearray(len(own.frame).to_bytes(4, "big") + own.frame)
            head[LENGTH + _ID_AT : LENGTH + _ID_AT + 4] = own.sent_id.to_bytes(4, "big")
            own.frame = b""
            self._owed.add(own)
            self._moves.to_server.append(bytes(head))

    # responses

    def _look_at_response(self, stream: FrameStream, t: int) -> None:
        first = self._owed.first
        if stream.stage == "length":
            if not self._check_length(stream):
                return
            if stream.length < SHORTEST_RESPONSE and (first is None or first.kind != "token"):
                self._close("length_too_short", "response", stream.length)
                return
            stream.want("head", SHORTEST_RESPONSE)
        elif stream.stage in ("head", "error"):
            self._decide_response(stream, t)
        else:
            self._whole_response(stream, t)

    def _decide_response(self, stream: FrameStream, t: int) -> None:
        """The verdict over a response: which request it answers, and what the plan says of it."""
        kept = stream.kept
        first = self._owed.first
        if first is not None and first.kind == "token":
            if stream.length >= SHORTEST_RESPONSE and self._tokens.sasl.expected is None:
                self._owed.drop_last_token(_int32(kept, LENGTH))
                first = self._owed.first
            if first is not None and first.kind == "token":
                self._hold(stream, "raw")
                return
        number = _int32(kept, LENGTH)
        if first is None:
            self._close("response_unexpected", "response", number)
            return
        if number != first.sent_id:
            self._close("response_mismatched", "response", number)
            return
        version = first.api_version
        action = self._action_of(first, version)
        if first.api_key == API_VERSIONS or (first.api_key == SASL_HANDSHAKE and version == 0 and first.kind == "broker"):
            if stream.stage == "head":
                stream.want("error", _ERROR_AT + 2)
                return
            error = int.from_bytes(kept[LENGTH + _ERROR_AT : LENGTH + _ERROR_AT + 2], "big", signed=True)
            if first.api_key == SASL_HANDSHAKE:
                self._tokens.handshake_answered(error)
            elif error == UNSUPPORTED_VERSION:
                action = self._action_of(first, 0)  # KIP-511: it comes in version 0, whatever was asked
        if first.kind == "own" or (action != PASS and action != CLOSE):
            self._hold(stream, "whole")
        elif action == CLOSE:
            self._close("refused", "response", first.api_key)
        else:
            head = bytearray(kept)
            head[LENGTH : LENGTH + 4] = first.correlation_id.to_bytes(4, "big", signed=True)
            self._moves.to_client.append(bytes(head))
            stream.pass_on(None)
            if not stream.left:
                self._passed(stream, t)

    def _action_of(self, owed: Owed, version: int) -> int:
        return self.plan.action("response", owed.api_key, version) if owed.action is None else owed.action

    def _whole_response(self, stream: FrameStream, t: int) -> None:
        first = self._owed.first
        assert first is not None
        if stream.stage == "whole":
            stream.kept[LENGTH : LENGTH + 4] = first.correlation_id.to_bytes(4, "big", signed=True)
        frame = stream.take_frame()
        if stream.stage == "raw":
            stream.restart()
            self._tokens.server_token(frame)
            self._moves.to_client += [len(frame).to_bytes(4, "big"), frame]
            self._answered()
            return
        stream.restart()
        version = first.api_version
        if first.api_key == API_VERSIONS and int.from_bytes(frame[_ERROR_AT : _ERROR_AT + 2], "big", signed=True) == UNSUPPORTED_VERSION:
            version = 0
        held = Held("response", frame, first.api_key, version, first.api_version, first.correlation_id, True, t, first.tag)
        if first.kind == "own":
            held.kind = "own"
        action = self._action_of(first, version)
        if held.kind == "own" or action == CALL:
            self._held["response"] = held
            self._moves.held.append(held)
        else:
            self._run("response", action, held, t)

    def _answered(self) -> None:
        """The oldest owed answer has gone out; own answers behind it follow."""
        self._owed.take()
        self._send_answers()

    def _own_answer(self, number: int, frame: bytes) -> None:
        self._owed.add(Owed("answer", correlation_id=number, frame=frame))
        self._send_answers()

    def _send_answers(self) -> None:
        for frame in self._owed.take_answers():
            self._moves.to_client.append(len(frame).to_bytes(4, "big") + frame)

    # ends

    def _passed(self, stream: FrameStream, t: int) -> None:
        """The last byte of a frame that is not held has come."""
        if stream.direction == "response":
            stream.restart()
            self._answered()
            return
        if stream.owed is not None:
            stream.owed.time = t
        stream.restart()

    def _let_go(self, direction: Direction, held: Held) -> None:
        if self._held[direction] is not held:
            raise ValueError("this frame is not held")
        self._held[direction] = None

    def _go_on(self, direction: Direction, t: int) -> Moves:
        self._drain("request" if direction == "request" else "response", t)
        return self._settle(t)

    def _drain(self, direction: Direction, t: int) -> None:
        """Take what waited behind a frame that was held."""
        stream = self._client if direction == "request" else self._server
        if stream.parked and not self._is_blocked(direction) and self.closing is None:
            data = memoryview(bytes(stream.parked))
            stream.parked.clear()
            self._feed(stream, data, t)

    def _end(self, stream: FrameStream, t: int) -> Moves:
        if not self._ended[stream.direction]:
            self._ended[stream.direction] = True
        return self._settle(t)

    def _close(self, reason: CloseReason, direction: Direction, value: int = 0) -> None:
        if self.closing is None:
            self.closing = Closing(reason, direction, value)

    def _settle(self, t: int = 0) -> Moves:
        """The end of every call: own requests, ends, limits; gives the moves."""
        self._drain("request", t)  # room in the queue of owed answers
        self._ask()
        self._check_ends()
        kept = 0 if self.closing is not None else self.kept
        if kept > self._max_held:
            self._close("held_too_large", "request" if self._client.bytes_kept > self._server.bytes_kept else "response", kept)
            kept = 0
        if self._budget is not None:
            self._budget.give(self._reserved)
            self._reserved = 0
            if not self._budget.take(kept):
                self._close("budget_exhausted", "request" if self._client.bytes_kept > self._server.bytes_kept else "response")
                kept = 0
            self._reserved = kept
        moves, self._moves = self._moves, Moves()
        moves.close = self.closing
        return moves

    def _check_ends(self) -> None:
        """Give an end on to the other side, once all that came before it has gone out."""
        for stream in (self._client, self._server):
            direction = stream.direction
            if (
                not self._ended[direction]
                or stream.is_over
                or self._held[direction] is not None
                or stream.parked
                or self.closing is not None
            ):
                continue
            stream.is_over = True
            if stream.is_inside:
                self._close("frame_unfinished", direction)
            elif direction == "request":
                self._moves.end_server = True
            else:
                self._moves.end_client = True
                if self._owed.waiting:
                    self._close("server_ended", "response", self._owed.waiting)


def _with_head(pieces: list[Buffer], size: int, head: bytearray) -> list[Buffer]:
    """Move the first bytes of pieces to `head`, until it has `size`; gives what is left of them."""
    rest: list[Buffer] = []
    for piece in pieces:
        taken = max(size - len(head), 0)
        head += piece[:taken]
        if len(piece) > taken:
            rest.append(memoryview(piece)[taken:])
    return rest
