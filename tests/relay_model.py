"""Both relays between a client that sends anything in any order and a model of Kafka's broker, checked at every step.

The broker is `SocketServer.Processor` with `SaslServerAuthenticator`: it takes one request after the other, and what a frame is depends on
what it has answered before. Each frame of the client has a number of its own behind the 8 bytes of its head, which answers repeat.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from kafka_bytes import framed
from kwire.codec.impl import load_twin
from kwire.protocol.relay import CALL, CLOSE, REFUSE, Buffer, Held, Moves, RelayPlan, RelayRule
from parity.test_relay_parity import shown

TWINS: Final = [load_twin("protocol", "relay", twin) for twin in ("pure", "native")]
PRODUCE, FETCH, METADATA, HEARTBEAT, LEAVE_GROUP, HANDSHAKE, API_VERSIONS, DELETE_TOPICS, AUTHENTICATE, UNKNOWN = (
    0, 1, 3, 12, 13, 17, 18, 20, 36, 200,
)  # fmt: skip
SERVED: Final = (PRODUCE, FETCH, METADATA, HEARTBEAT, HANDSHAKE, API_VERSIONS, AUTHENTICATE)
NUMBER: Final = slice(10, 18)  # of a request's client id
NO_ERROR, ILLEGAL_SASL_STATE, UNSUPPORTED_MECHANISM, NO_SUCH_SESSION = 0, 34, 33, 70
TOKENS: Final = {b"PLAIN": 1, b"SCRAM-SHA-256": 2, b"OAUTHBEARER": 1, b"GSSAPI": 2}
HEADS: Final = {b"PLAIN": b"\0use", b"SCRAM-SHA-256": b"n,,n", b"OAUTHBEARER": b"n,,\1", b"GSSAPI": b"\x60\x82\1\2"}
WRAPPED: Final = b"\5\4\4\xff"  # how the last token of GSSAPI begins
EDITED, SEEN, OWN = b"edited", b"seen", b"own"
KINDS: Final = (
    *("heartbeat", "metadata", "fetch", "produce", "refused", "versions", "handshake", "raw login", "raw login", "login") * 3,
    "authenticate", "token", "wrapped", "short", "unknown", "closed",
)  # fmt: skip
MOST_KEPT: Final = 2000  # bytes of all relays that share it


class Edited:
    def pieces(self, frame: Buffer) -> list[Buffer]:
        return [frame, EDITED]


@cache
def plan(called: bool, unknown: Any, raw_gssapi: bool) -> RelayPlan:
    """`called`: SASL is held too."""
    rules = [
        RelayRule("request", METADATA, None, Edited()),
        RelayRule("response", METADATA, None, Edited()),
        RelayRule("request", FETCH, None, CALL),
        RelayRule("response", FETCH, None, CALL),
        RelayRule("request", LEAVE_GROUP, None, REFUSE),
        RelayRule("request", DELETE_TOPICS, None, CLOSE),
    ]
    if called:
        rules += [RelayRule(direction, key, None, CALL) for direction in ("request", "response") for key in (HANDSHAKE, AUTHENTICATE)]  # type: ignore[arg-type]
    return RelayPlan(rules, unknown=unknown, raw_gssapi=raw_gssapi)


class Cut:
    def __init__(self) -> None:
        self._bytes = b""

    def take(self, data: bytes) -> list[bytes]:
        self._bytes += data
        found = []
        while len(self._bytes) >= 4 and len(self._bytes) >= (size := 4 + int.from_bytes(self._bytes[:4], "big")):
            found.append(self._bytes[4:size])
            self._bytes = self._bytes[size:]
        return found


class Broker:
    """What a broker makes of the frames that reach it.

    Attributes:
        phase: `first`, `headers` and `raw`: of SASL; `ready`; `bad`: the next frame closes; `closed`.
        answers: that the client has not got: the client's number, the api (None for a token), the frame with the client's id.
        unanswered: the last token of GSSAPI was taken and nothing was sent since.
        refused: an OAUTHBEARER client may send one token more, which is none of those that are counted.
        is_odd: it took a token where the relay had answered a request before, and so saw a request of an unknown api; then it may close.
    """

    def __init__(self, talk: Talk, *, sasl: bool, again: bool, kerberos: bool, mechanisms: Sequence[bytes]) -> None:
        self.talk = talk
        self.phase = "first" if sasl else "ready"
        self.sasl, self.again, self.kerberos, self.mechanisms = sasl, again, kerberos, mechanisms
        self.mechanism = b""
        self.tokens = 0
        self.served = 0
        self.inbox: deque[bytes] = deque()
        self.out = b""
        self.answers: deque[tuple[int | None, int | None, bytes]] = deque()
        self.unanswered = self.refused = self.is_odd = False

    def serve(self, accepts: bool) -> None:
        """The next frame; `accepts`: what is in it is right."""
        frame, first = self.inbox.popleft(), self.served == 0
        self.served += 1
        if self.phase == "first" and first and self.kerberos and frame[:1] == b"\x60":
            self._begin(b"GSSAPI", 0)
            self.is_odd = int(frame[NUMBER]) > 1
        if self.phase == "raw":
            self._take_token(frame, accepts)
        elif self.phase == "bad":
            self.phase = "closed"
        else:
            self._take_request(frame, accepts)

    def _take_request(self, frame: bytes, accepts: bool) -> None:
        self.talk.check_request(frame)
        if len(frame) < 18:
            self.phase = "closed"
            return
        key, version = struct.unpack_from(">hh", frame)
        if key not in SERVED or (self.phase == "first" and key not in (API_VERSIONS, HANDSHAKE)):
            self.phase = "closed"
        elif self.phase == "headers" and key != AUTHENTICATE:
            self._answer(frame, key, ILLEGAL_SASL_STATE)
            self.phase = "closed"
        elif key == HANDSHAKE:
            self._shake(frame, version)
        elif key == AUTHENTICATE and self.phase == "headers":
            self.tokens += 1
            self._answer(frame, key, NO_ERROR if accepts else 58)
            self.phase = "closed" if not accepts else "ready" if self.tokens >= TOKENS[self.mechanism] else "headers"
        elif key == AUTHENTICATE:
            self._answer(frame, key, ILLEGAL_SASL_STATE)
        else:
            self._answer(frame, key, NO_ERROR)

    def _shake(self, frame: bytes, version: int) -> None:
        mechanism = frame[20 : 20 + frame[19]]
        if self.phase == "ready" and not (self.sasl and self.again):
            self._answer(frame, HANDSHAKE, ILLEGAL_SASL_STATE)
        elif mechanism not in self.mechanisms:
            self._answer(frame, HANDSHAKE, UNSUPPORTED_MECHANISM)
            self.phase = "closed"
        else:
            self._answer(frame, HANDSHAKE, NO_ERROR)
            if self.phase == "ready" and self.mechanism != mechanism:
                self.phase = "bad"  # KIP-368: the same mechanism again
            else:
                self._begin(mechanism, version)

    def _begin(self, mechanism: bytes, version: int) -> None:
        self.phase = "headers" if version else "raw"
        self.mechanism, self.tokens = mechanism, 0

    def _take_token(self, frame: bytes, accepts: bool) -> None:
        if self.mechanism == b"GSSAPI" and not (len(frame) < 2 or frame[:1] == b"\x60" or frame[:2] == WRAPPED[:2]):
            accepts = False
        if not accepts and self.mechanism == b"OAUTHBEARER" and not self.refused:
            self.refused = True
            self._send(frame, None, b'{"status":"invalid_token"}')
            return
        if not accepts or self.refused:
            self.phase = "closed"
            return
        self.tokens += 1
        if self.tokens >= TOKENS[self.mechanism]:
            self.phase = "ready"
        if self.mechanism == b"GSSAPI" and self.phase == "ready":
            self.unanswered = True
        else:
            self._send(frame, None, b"" if self.mechanism in (b"PLAIN", b"OAUTHBEARER") else frame[:2] + b"of the broker")

    def _answer(self, frame: bytes, key: int, error: int) -> None:
        if key == PRODUCE and frame[20:22] == b"\0\0":  # acks
            return
        tail = error.to_bytes(2, "big") + frame[NUMBER] + (self.talk.granted(frame) if key == FETCH else b"")
        self._send(frame, key, self.talk.id_of(frame) + tail)

    def _send(self, frame: bytes, key: int | None, answer: bytes) -> None:
        self.unanswered = False
        self.answers.append((int(frame[NUMBER]) if len(frame) >= 18 else None, key, answer))
        self.out += framed(answer)


class Talk:
    """A conversation whose correlation ids begin with `base`; some look like tokens."""

    def __init__(
        self, *, sasl: bool, again: bool, kerberos: bool, mechanisms: Sequence[bytes], called: bool, unknown: Any, raw_gssapi: bool,
        base: int, max_held: int,
    ) -> None:  # fmt: skip
        self.broker = Broker(self, sasl=sasl, again=again, kerberos=kerberos, mechanisms=mechanisms)
        self.called, self.base = called, base
        self.budgets = [twin.HeldBudget(MOST_KEPT) for twin in TWINS]
        used = plan(called, unknown, raw_gssapi)
        self.relays = [twin.Relay(used, max_held=max_held, budget=budget) for twin, budget in zip(TWINS, self.budgets, strict=True)]
        self.count = self.time = self.last = 0
        self.outbox = b""
        self.held: list[list[Held]] = []
        self.looked_up: set[bytes] = set()
        self.own: dict[bytes, int] = {}  # the relay's own answers to the client's frames
        self.sessions = {0}
        self.to_broker, self.to_client = Cut(), Cut()
        self.ended = [False, False]

    # frames of the client

    def frame(self, head: bytes, body: bytes = b"") -> bytes:
        self.count += 1
        number = self.base + self.count
        refusal = number.to_bytes(4, "big") + b"\0\x23"
        self.own[refusal] = self.count
        return framed(head + number.to_bytes(4, "big") + b"\0\x08" + b"%8d" % self.count + body)

    def request(self, key: int, version: int, body: bytes = b"") -> bytes:
        return self.frame(struct.pack(">hh", key, version), body)

    def queue(self, kind: str, mechanism: bytes, number: int) -> None:
        produce = b"\xff\xff" + number.to_bytes(2, "big") + bytes(8)
        made = {
            "heartbeat": lambda: self.request(HEARTBEAT, 0),
            "metadata": lambda: self.request(METADATA, 1),
            "fetch": lambda: self.request(FETCH, 7, number.to_bytes(4, "big")),
            "produce": lambda: self.request(PRODUCE, 3, produce),
            "refused": lambda: self.request(LEAVE_GROUP, 0),
            "closed": lambda: self.request(DELETE_TOPICS, 1),
            "unknown": lambda: self.request(UNKNOWN, 0),
            "versions": lambda: self.request(API_VERSIONS, 0),
            "handshake": lambda: self.request(HANDSHAKE, number % 2, len(mechanism).to_bytes(2, "big") + mechanism),
            "authenticate": lambda: self.request(AUTHENTICATE, 0, bytes(4)),
            "token": lambda: self.frame(HEADS[mechanism]),
            "wrapped": lambda: self.frame(WRAPPED),
            "short": lambda: framed(b"\1"[: number % 2]),
        }
        if kind == "raw login":
            self.outbox += self.request(HANDSHAKE, 0, len(mechanism).to_bytes(2, "big") + mechanism)
            for token in range(TOKENS[mechanism]):
                self.outbox += self.frame(WRAPPED if mechanism == b"GSSAPI" and token else HEADS[mechanism])
        elif kind == "login":
            self.outbox += self.request(HANDSHAKE, 1, len(mechanism).to_bytes(2, "big") + mechanism)
            for _ in range(TOKENS[mechanism]):
                self.outbox += self.request(AUTHENTICATE, 0, bytes(4))
        else:
            self.outbox += made[kind]()

    # steps

    @property
    def relay(self) -> Any:
        return self.relays[0]

    @property
    def is_over(self) -> bool:
        return self.relay.closing is not None

    def client_writes(self, size: int) -> None:
        if self.outbox and self.relay.reads_client:
            data, self.outbox = self.outbox[:size], self.outbox[size:]
            self.call("from_client", data)

    def broker_serves(self, accepts: bool) -> None:
        if self.broker.inbox and self.broker.phase != "closed":
            self.broker.serve(accepts)

    def broker_writes(self, size: int) -> None:
        if self.broker.out and self.relay.reads_server:
            data, self.broker.out = self.broker.out[:size], self.broker.out[size:]
            self.call("from_server", data)

    def ends(self, side: int) -> None:
        if not self.ended[side] and not (self.broker.out if side else self.outbox):
            self.ended[side] = True
            self.call("end_server" if side else "end_client")

    def end_requests(self) -> None:
        for relay in self.relays:
            relay.end_requests()

    def settle(self, at: int, answers: bool) -> None:
        if not self.held:
            return
        both = self.held.pop(at % len(self.held))
        first = both[0]
        if first.kind == "response":
            if first.api_key == FETCH and first.frame[4:6] == b"\0\0":
                self.sessions.add(int.from_bytes(first.frame[14:18], "big"))
            self.each("release", both, [first.frame, SEEN])
        else:
            self.looked_up.add(first.frame[NUMBER])
            session = int.from_bytes(first.frame[18:22], "big")
            if answers or (first.api_key == FETCH and session not in self.sessions):
                answer = (
                    first.correlation_id.to_bytes(4, "big") + (NO_SUCH_SESSION if first.api_key == FETCH else 0).to_bytes(2, "big") + OWN
                )
                self.own[answer] = int(first.frame[NUMBER])
                self.each("answer", both, answer)
            else:
                self.each("release", both, [first.frame])

    def call(self, name: str, *args: Any) -> None:
        self.time += 1
        self.compare([getattr(relay, name)(*args, self.time) for relay in self.relays])

    def each(self, name: str, both: list[Held], *args: Any) -> None:
        self.time += 1
        self.compare([getattr(relay, name)(held, *args, t=self.time) for relay, held in zip(self.relays, both, strict=True)])

    # checks

    def compare(self, moves: list[Moves]) -> None:
        first, second = (shown(relay, each) for relay, each in zip(self.relays, moves, strict=True))
        assert first == second
        assert self.budgets[0].used == self.budgets[1].used == (0 if self.is_over else self.relay.kept) <= MOST_KEPT
        self.held += [list(each) for each in zip(*(each.held for each in moves), strict=True)]
        self.broker.inbox += self.to_broker.take(b"".join(moves[0].to_server))
        for frame in self.to_client.take(b"".join(moves[0].to_client)):
            self.check_answer(frame)
        if self.is_over:
            closing = self.relay.closing
            wrong = closing.reason in ("response_unexpected", "response_mismatched", "program_failed", "program_too_large") or (
                closing.direction == "response" and closing.reason.startswith("length_")
            )
            assert not wrong or self.broker.is_odd, closing

    def check_request(self, frame: bytes) -> None:
        if len(frame) < 18:
            return
        key = int.from_bytes(frame[:2], "big")
        assert key not in (LEAVE_GROUP, DELETE_TOPICS)
        assert frame.endswith(EDITED) is (key == METADATA)
        if key == FETCH or (self.called and key in (HANDSHAKE, AUTHENTICATE)):
            assert frame[NUMBER] in self.looked_up
        if key == FETCH:
            assert int.from_bytes(frame[18:22], "big") in self.sessions

    def check_answer(self, frame: bytes) -> None:
        """A frame reached the client: the answer to a later frame than the one before, as the rules have it."""
        number = self.own.pop(frame, None)
        if number is None:
            number, key, answer = self.broker.answers.popleft()
            is_called = key == FETCH or (self.called and key in (HANDSHAKE, AUTHENTICATE))
            assert frame == answer + (EDITED if key == METADATA else SEEN if is_called else b"")
        if number is not None:
            assert number > self.last
            self.last = number

    def id_of(self, frame: bytes) -> bytes:
        return (self.base + int(frame[NUMBER])).to_bytes(4, "big")

    def granted(self, frame: bytes) -> bytes:
        """The session of a Fetch response: a new one where the request has none."""
        session = int.from_bytes(frame[18:22], "big")
        return (session or 1 + int(frame[NUMBER]) % 4).to_bytes(4, "big")

    def finish(self) -> None:
        """All go on until nothing is left; then nothing is kept, and each answer has come."""
        before = None
        while not self.is_over and before != (before := (self.time, self.broker.served)):
            self.client_writes(1 << 20)
            self.broker_serves(True)
            self.broker_writes(1 << 20)
            self.settle(0, False)
        if self.is_over:
            return
        waiting = [relay.kept for relay in self.relays]
        if self.broker.phase != "closed":
            assert not self.broker.answers
            assert self.relay.owed <= self.broker.unanswered
        if not self.broker.inbox and self.relay.reads_client:
            assert waiting == [0, 0]
        self.ends(0)
        self.ends(1)
