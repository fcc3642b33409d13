"""The compiled relay against the readable one: conversations with every kind of rule, cut into any pieces, whole and damaged.

Both must give the same bytes, hold the same frames and close for the same reason, at every call.
"""

from __future__ import annotations

import random
import struct
from functools import cache
from typing import Any, Final

import pytest

from kafka_bytes import Frames, framed
from kwire.codec import AddPrefix, Edit, EditChanges, VersionLimits
from kwire.codec.impl import load_twin
from kwire.errors import Truncated
from kwire.protocol.relay import CALL, CLOSE, PASS, REFUSE, Buffer, Moves, RelayPlan, RelayRule
from kwire.schema import catalog

TWINS: Final = [load_twin("protocol", "relay", twin) for twin in ("pure", "native")]
HANDSHAKE: Final = 17
KEYS: Final = (0, 1, 3, 12, 18, 36)


EDITS: Final = EditChanges(topics=AddPrefix("acme."), groups=AddPrefix("g" * 500), limits=VersionLimits({3: (1, 9)}), error_text="e")


@cache
def edits_of(direction: Any, key: int) -> list[RelayRule]:
    """Programs that the compiled relay runs without Python, and the readable one by `Edit.pieces`; responses are mostly malformed."""
    message = catalog().request(key) if direction == "request" else catalog().response(key)
    assert message is not None
    return [RelayRule(direction, key, (version,), Edit(direction, key, version, EDITS)) for version in message.valid_versions]


class Appended:
    """A program that writes bytes behind a frame, and fails for frames of an odd length when asked to."""

    def __init__(self, fails: bool) -> None:
        self.fails = fails

    def pieces(self, frame: Buffer) -> list[Buffer]:
        if self.fails and len(frame) % 2:
            raise Truncated("the bytes end", offset=len(frame))
        return [frame[:3], memoryview(frame)[3:], b"", b"more"]


def random_plan(chance: random.Random, gentle: bool) -> RelayPlan:
    """`gentle`: nothing is closed or refused."""
    rules = []
    actions: list[Any] = [PASS, CALL, CALL, Appended(False)]
    if not gentle:
        actions += [CLOSE, REFUSE, Appended(False), Appended(True), EDITS, EDITS]
    for direction in ("request", "response"):
        for key in KEYS:
            if chance.random() < 0.4:
                action: Any = chance.choice(actions)
                if action is EDITS:
                    rules += edits_of(direction, key)
                elif not (direction == "response" and action == REFUSE):
                    rules.append(RelayRule(direction, key, None, action))  # type: ignore[arg-type]
    unknown = "pass" if gentle else chance.choice(["pass", "refuse", "close"])
    return RelayPlan(rules, unknown=unknown, raw_gssapi=gentle or chance.random() < 0.7)  # type: ignore[arg-type]


def random_request(chance: random.Random, frames: Frames, number: int) -> tuple[bytes, bool]:
    """A request, and whether it is owed a response as far as a plain client knows."""
    kind = chance.random()
    if kind < 0.1:
        return struct.pack(">hhi", chance.choice([200, 10001, -1, 3, 18, 0]), chance.choice([-1, 31, 32, 99]), number) + b"xyz", True
    if kind < 0.15:
        return struct.pack(">hhih", HANDSHAKE, 0, number, -1) + chance.choice([b"\0\x05PLAIN", b"\0\x06GSSAPI", b"\0\x01X", b"\x7f"]), True
    if kind < 0.4:  # Produce with acks 0, 1 and -1: client id, then from v3 on the transactional id, compact from v9 on
        version = chance.choice([0, 2, 3, 8, 9, 11, 13])
        acks = chance.choice([0, 1, -1])
        client = chance.choice(
            [b"\xff\xff", b"\0\0", b"\0\x03abc", b"\0\x05other", b"\0\x02\xff\xfe", b"\x01\0" + b"c" * 256, b"\x0f\0" + b"c" * 3840]
        )
        text = chance.choice([None, b"", b"tx" * 90])
        if version < 3:
            before = b""
        elif version < 9:
            before = b"\xff\xff" if text is None else len(text).to_bytes(2, "big") + text
        else:
            before = b"\0" if text is None else bytes([0x80 | (len(text) + 1) & 0x7F, (len(text) + 1) >> 7]) + text
        tags = b"\0" if version >= 9 else b""
        body = before + struct.pack(">hi", acks, 30000) + chance.randbytes(chance.choice([0, 10, 700]))
        return struct.pack(">hhi", 0, version, number) + client + tags + body, acks != 0
    if kind < 0.55:  # ApiVersions v3 with a name, with tagged fields in its header, cut off
        header = struct.pack(">hhih", 18, chance.choice([3, 4]), number, 1) + b"c" + chance.choice([b"\0", b"\0", b"\1\x09\2ab"])
        name = chance.choice([b"\x05java", b"\x06other", b"\1", b"\x81\x02" + b"n" * 256, b"\x03\xff\xff", b"\x03a\0"])
        return header + name + chance.choice([b"\x024\0", b"", b"\x7fx"]), True
    api = chance.choice([api for api in frames.apis if api[0] in KEYS and api[0] != 0])
    return frames.frame(api, "request", chance.randrange(4), number), True


def random_streams(chance: random.Random, frames: Frames, gentle: bool) -> tuple[list[tuple[int, bytes]], bool]:
    """Pieces of both sides in an order in which they may come: (side, bytes)."""
    sides: list[tuple[int, bytes]] = []
    owed: list[bytes] = []
    for number in range(chance.randrange(1, 12)):
        correlation_id = chance.choice([number, number, -number, 0])
        request, wants = random_request(chance, frames, correlation_id)
        sides.append((0, framed(request)))
        if wants:
            owed.append(
                correlation_id.to_bytes(4, "big", signed=True) + chance.choice([b"", b"\0\x23", b"\0\0", chance.randbytes(40), b"\1"])
            )
        while owed and chance.random() < 0.6:
            sides.append((1, framed(owed.pop(0))))
    sides += [(1, framed(each)) for each in owed]
    if not gentle and chance.random() < 0.5:  # damage: a byte changed, bytes removed, bytes put in
        at = chance.randrange(len(sides))
        side, data = sides[at]
        place = chance.randrange(min(len(data), 16))
        damaged = bytearray(data)
        if chance.random() < 0.5:
            damaged[place] = chance.choice([0, 1, 0x60, 0x7F, 0x80, 0xFF])
        else:
            damaged[place : place + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
        sides[at] = (side, bytes(damaged))
    pieces = []
    joins = chance.random() < 0.3
    if joins:
        sides = [(0, b"".join(data for side, data in sides if side == 0)), (1, b"".join(data for side, data in sides if side == 1))]
    most = chance.choice([1, 3, 20, 5000])
    for side, data in sides:
        while data:
            size = min(len(data), chance.randrange(1, most + 1))
            pieces.append((side, data[:size]))
            data = data[size:]
    return pieces, joins


def shown(relay: Any, moves: Moves) -> tuple[object, ...]:
    seen = (
        b"".join(moves.to_server), b"".join(moves.to_client), moves.end_server, moves.end_client, moves.close,
        [
            (held.kind, held.frame, held.api_key, held.api_version, held.asked_version, held.correlation_id, held.wants_answer, held.time,
             held.asked, held.served, held.was_asked_for) for held in moves.held
        ],
    )  # fmt: skip
    state = (relay.reads_client, relay.reads_server, relay.closing)
    return seen + state if moves.close is not None else (*seen, *state, relay.owed, relay.kept, relay.is_idle, relay.inside_request)


class Pair:
    def __init__(self, chance: random.Random, gentle: bool, plan: RelayPlan | None = None) -> None:
        plan = plan or random_plan(chance, gentle)
        limits = {
            "max_frame": 1 << 20 if gentle else chance.choice([1 << 20, 1 << 20, 600]),
            "max_held": 1 << 20 if gentle else chance.choice([1 << 20, 1 << 20, 500, 60]),
        }  # fmt: skip
        self.budgets = [twin.HeldBudget(chance.choice([400]) if limits["max_held"] == 500 else 1 << 20) for twin in TWINS]
        caps = {
            "max_clients": chance.choice([1, 2, 100]),
            "max_software": chance.choice([1, 100]),
            "max_series": chance.choice([2, 4, 100]),
        }
        self.counters = [twin.RelayCounters(**caps) for twin in TWINS]
        both = zip(TWINS, self.budgets, self.counters, strict=True)
        self.relays = [twin.Relay(plan, budget=budget, counters=counters, **limits) for twin, budget, counters in both]
        self.held: list[list[Any]] = [[], []]

    def call(self, name: str, *args: Any, **kwargs: Any) -> Moves:
        moves = [getattr(relay, name)(*args, **kwargs) for relay in self.relays]
        return self.compare(moves)

    def compare(self, moves: list[Moves]) -> Moves:
        first, second = (shown(relay, each) for relay, each in zip(self.relays, moves, strict=True))
        assert first == second
        assert self.budgets[0].used == self.budgets[1].used
        assert self.counters[0].dropped == self.counters[1].dropped
        assert self.counters[0].rows() == self.counters[1].rows()
        for held, each in zip(self.held, moves, strict=True):
            held += each.held
        return moves[0]

    def end_held(self, chance: random.Random, gentle: bool) -> None:
        at = chance.randrange(len(self.held[0]))
        both = [held.pop(at) for held in self.held]
        if not gentle and both[0].kind == "request" and chance.random() < 0.5:
            frame = chance.choice([None, b"\0\0\0\0answer", b"1234"])
            self.compare([relay.answer(held, frame, t=5) for relay, held in zip(self.relays, both, strict=True)])
            return
        pieces = (
            None
            if gentle
            else chance.choice([None, None, [both[0].frame, b"tail"], [b"\0\1"], [bytes(700)], [both[0].frame[:1], both[0].frame[1:]]])
        )
        response = chance.choice([None, None, PASS, CALL] if gentle else [None, None, PASS, CALL, CLOSE])
        self.compare([relay.release(held, pieces, t=6, response=response) for relay, held in zip(self.relays, both, strict=True)])


def converse(seed: int, frames: Frames) -> str:
    chance = random.Random(seed)
    gentle = seed % 2 == 0
    pair = Pair(chance, gentle)
    return relay_pieces(pair, chance, gentle, random_streams(chance, frames, gentle)[0])


def relay_pieces(pair: Pair, chance: random.Random, gentle: bool, pieces: list[tuple[int, bytes]]) -> str:
    """Pieces of both sides through both relays, to the end of both sides; gives why they closed."""
    last = -1 if gentle else chance.randrange(2 * len(pieces))  # of a request
    for t, (side, data) in enumerate(pieces):
        given = chance.choice([data, bytearray(data), memoryview(b"?" + data)[1:]])
        pair.call("from_client" if side == 0 else "from_server", given, t)
        while pair.held[0] and chance.random() < 0.7:
            pair.end_held(chance, gentle)
        if t == last:
            for relay in pair.relays:
                relay.end_requests()
    if chance.random() < 0.7:
        pair.call("end_client", 100)
    while pair.held[0]:
        pair.end_held(chance, gentle)
    pair.call("end_server", 101)
    closing = pair.relays[0].closing
    return "" if closing is None else closing.reason


@pytest.mark.parametrize("block", [0, 1, 2, *(pytest.param(each, marks=pytest.mark.whole) for each in range(3, 8))])
def test_conversations(block: int, frames: Frames) -> None:
    reasons = {converse(seed, frames) for seed in range(block * 25, block * 25 + 25)}
    assert "" in reasons  # some come to their end
    assert len(reasons) > 3  # others close, for several reasons


@pytest.mark.parametrize("most", [1, 7, 100_000])
def test_every_message_passes_as_it_came(most: int, frames: Frames) -> None:
    """Without a rule, for every api and version: the bytes that go out are those that came, in pieces of any size."""
    apis = [api for api in frames.apis if api != (HANDSHAKE, 0)]
    for twin in TWINS:
        relay = twin.Relay(RelayPlan())
        for number, api in enumerate(apis):
            request = framed(frames.frame(api, "request", number, number))
            response = framed(frames.frame(api, "response", number, number))
            for name, data in (("from_client", request), ("from_server", response)):
                out = b""
                if name == "from_server" and not relay.owed:
                    assert api[0] == 0  # a Produce with acks 0
                    continue
                for at in range(0, len(data), most):
                    moves = getattr(relay, name)(data[at : at + most], 1)
                    assert moves.close is None, (api, name)
                    out += b"".join(moves.to_server if name == "from_client" else moves.to_client)
                assert out == data
        assert relay.is_idle
