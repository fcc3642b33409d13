"""Random traffic with random accidents at random places: the compiled reader gives the tables that Python's rules give, row for row.

The traffic comes of a seed: some connections at once, each of many exchanges, with several requests in flight, authentication in both
forms, apis that no release has, a port that is used again. The accidents are packets that are lost, swapped, repeated or cut by snaplen,
connections that are joined late or of which one direction is missing, a capture that begins or ends anywhere. Beside the twins' agreement
this holds: the requests of a connection are numbered from 0 on without a hole, and every row names a connection that has one.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kafka_bytes import Frames, framed
from kwire.capture.packet_columns import ACK, RST
from made_packets import CLIENT, SERVER, Packet, Wire, columns_of
from read_by_twins import Reader, Tables, check, tables_of

USUAL = [(18, 3), (3, 12), (0, 9), (1, 12), (10, 4), (11, 7), (12, 4), (14, 5), (8, 8), (9, 8), (2, 7), (19, 7), (72, 0), (1, 4), (0, 3)]
SIZES = (1 << 16, 1 << 16, 1448, 100, 37, 9)  # of segments


class Accident(NamedTuple):
    kind: str
    place: int
    size: int


class Talk:
    def __init__(self, chance: random.Random, frames: Frames) -> None:
        self.chance, self.frames = chance, frames
        self.sent: list[tuple[int, bytes]] = []  # side, and bytes of a frame with its length
        self.waiting: list[bytes] = []
        self.number = chance.choice((0, 1, 0x7FFFFFF0))
        self.step = chance.choice((1, 1, 1, 0))  # pykafka gives all requests one id

    def ask(self, request: bytes, response: bytes | None) -> None:
        self.sent.append((CLIENT, framed(request)))
        if response is not None:
            self.waiting.append(framed(response))

    def answer(self) -> None:
        fate = self.chance.random()
        at = 1 if fate < 0.02 and len(self.waiting) > 1 else 0
        response = self.waiting.pop(at)
        if fate < 0.95:
            self.sent.append((SERVER, response))
        if 0.93 < fate < 0.95:
            self.sent.append((SERVER, response))  # twice

    def exchange(self) -> None:
        self.number = (self.number + self.step) & 0x7FFFFFFF
        key, version = self.chance.choice(USUAL) if self.chance.random() < 0.8 else self.chance.choice(self.frames.apis)
        request = self.frames.frame((key, version), "request", self.chance.randrange(6), self.number)
        response: bytes | None = self.frames.frame((key, version), "response", self.chance.randrange(6), self.number)
        kind = self.chance.random()
        if kind < 0.03:  # an api, or a version, that no release has
            request = struct.pack(">hhih", self.chance.choice((3, 5000)), 99, self.number, -1)
        elif kind < 0.06:
            request = request[: self.chance.randrange(len(request))]
        elif kind < 0.08:  # Produce v3 that wants no answer
            request, response = struct.pack(">hhihh", 0, 3, self.number, -1, -1) + bytes(2) + bytes(8), None
        elif kind < 0.11:
            request = self.damaged(request)
        elif kind < 0.14 and response is not None:
            response = self.damaged(response)
        self.ask(request, response)
        if kind > 0.985:  # a length that is too large
            side, data = self.sent[-1]
            self.sent[-1] = side, (int.from_bytes(data[:4], "big") + self.chance.randrange(30)).to_bytes(4, "big") + data[4:]

    def damaged(self, payload: bytes) -> bytes:
        at = self.chance.randrange(len(payload) + 1)
        if at == len(payload):
            return payload + b"?" * self.chance.randrange(1, 6)
        return payload[:at] + bytes([payload[at] ^ 1 << self.chance.randrange(8)]) + payload[at + 1 :]

    def authenticate(self) -> None:
        version = self.chance.randrange(2)
        mechanism = self.chance.choice((b"PLAIN", b"PLAIN", b"SCRAM-SHA-256", b"GSSAPI"))
        shake = struct.pack(">hhih", 17, version, 1, -1) + len(mechanism).to_bytes(2, "big") + mechanism
        self.ask(shake, struct.pack(">ih", 1, 0) + bytes(4))
        self.answer()
        for turn in range(1 if mechanism == b"PLAIN" else 2):
            token = b"\0alice\0pw" if mechanism == b"PLAIN" else b"n,,n=bob,r=1" if turn == 0 else b"c=biws,r=1,p=x"
            if version:
                answer = struct.pack(">ihh", 2 + turn, 0, -1) + bytes(4)
                self.ask(struct.pack(">hhih", 36, 0, 2 + turn, -1) + framed(token), answer)
            else:
                self.ask(token, self.chance.choice((b"", b"r=1,s=x,i=4096")))
            if self.waiting and self.chance.random() < 0.9:
                self.answer()

    def run(self) -> list[tuple[int, bytes]]:
        if self.chance.random() < 0.3:
            self.authenticate()
        depth = self.chance.choice((1, 1, 2, 5, 40))
        for _ in range(self.chance.randrange(1, 25)):
            self.exchange()
            while self.waiting and (len(self.waiting) >= depth or self.chance.random() < 0.4):
                self.answer()
        while self.waiting and self.chance.random() < 0.8:
            self.answer()
        if self.chance.random() < 0.2:  # the last frame is never finished
            side, data = self.sent[-1]
            self.sent[-1] = side, data[: self.chance.randrange(len(data))]
        return self.sent


def packets_of(key: int, sent: list[tuple[int, bytes]], chance: random.Random) -> list[Packet]:
    wire = Wire(key, (chance.randrange(1 << 32), chance.randrange(1 << 32)))
    wire.shake()
    kept = {CLIENT: b"", SERVER: b""}
    for side, data in sent:
        kept[side] += data
        if chance.random() < 0.2:
            continue  # it leaves with the next frame
        size = chance.choice(SIZES)
        while kept[side]:
            wire.send(side, kept[side][:size])
            kept[side] = kept[side][size:]
        if chance.random() < 0.1:
            wire.send(1 - side)
    end = chance.choice((CLIENT, SERVER, RST, None))
    if end == RST:
        wire.send(chance.randrange(2), flags=RST | ACK)
    elif end is not None:
        wire.close(end)
        wire.send(end)
    return wire.packets


def traffic_of(seed: int, frames: Frames) -> list[Packet]:
    """The packets of all connections, in the order of their times."""
    chance = random.Random(seed)
    streams = []
    for key in range(chance.randrange(1, 5)):
        packets: list[Packet] = []
        for _ in range(chance.choice((1, 1, 1, 2))):  # the second one uses the port again
            packets += packets_of(key, Talk(chance, frames).run(), chance)
        streams.append(packets)
    made: list[Packet] = []
    while any(streams):
        stream = chance.choice([each for each in streams if each])
        count = chance.randrange(1, 6)
        made += stream[:count]
        del stream[:count]
    return made


def lose(packets: list[Packet], at: int, size: int) -> None:
    del packets[at : at + size % 3 + 1]


def swap(packets: list[Packet], at: int, size: int) -> None:
    other = min(at + size % 3 + 1, len(packets) - 1)
    packets[at], packets[other] = packets[other], packets[at]


def repeat(packets: list[Packet], at: int, size: int) -> None:
    packets.insert(at + size % 5, packets[at])


def cut(packets: list[Packet], at: int, size: int) -> None:
    packets[at] = packets[at]._replace(kept=size % (len(packets[at].payload) + 1))


def cut_all(packets: list[Packet], at: int, size: int) -> None:
    packets[:] = [each._replace(kept=min(each.kept, 16 + size)) for each in packets]


def join_late(packets: list[Packet], at: int, size: int) -> None:
    """Of one connection nothing is there before this packet."""
    key = packets[at].key
    packets[:] = [each for number, each in enumerate(packets) if each.key != key or number >= at]


def hide(packets: list[Packet], at: int, size: int) -> None:
    """Of one connection one direction is not there, from this packet on."""
    key, side = packets[at].key, packets[at].side
    start = at if size % 2 else 0
    packets[:] = [each for number, each in enumerate(packets) if (each.key, each.side) != (key, side) or number < start]


def begin(packets: list[Packet], at: int, size: int) -> None:
    del packets[:at]


def end(packets: list[Packet], at: int, size: int) -> None:
    del packets[at + 1 :]


ACCIDENTS: dict[str, Callable[[list[Packet], int, int], None]] = {
    each.__name__: each for each in (lose, swap, repeat, cut, cut_all, join_late, hide, begin, end)
}
KINDS = ["lose", "lose", "lose", "swap", "swap", "repeat", "repeat", "cut", "cut", "cut_all", "join_late", "hide", "begin", "end"]
HAPPENED = st.lists(st.builds(Accident, st.sampled_from(KINDS), st.integers(0, 400), st.integers(0, 200)), max_size=6)


def numbers_hold(tables: Tables) -> None:
    """Requests are numbered from 0 on in each connection; every row is of a connection that there is."""
    indexes: dict[str, list[int]] = {}
    for row in tables.get("requests", []):
        indexes.setdefault(row["connection_id"], [])
        if row["state"] != "orphan_response":
            indexes[row["connection_id"]].append(row["request_index"])
        assert row["latency_us"] is None or row["latency_us"] >= 0
        assert row["latency_us"] is None or row["state"] == "answered"
    assert all(sorted(found) == list(range(len(found))) for found in indexes.values())
    ids = [row["connection_id"] for row in tables.get("connections", [])]
    assert len(set(ids)) == len(ids)
    assert indexes.keys() <= set(ids)
    assert {row["connection_id"] for row in tables.get("violations", [])} <= set(ids)


@settings(max_examples=min(150, settings.default.max_examples * 2), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 1 << 30),
    accidents=HAPPENED,
    ports=st.sampled_from(((), (9092,))),
    halves=st.integers(0, 400),
    pickled=st.booleans(),
)
@example(seed=1, accidents=[], ports=(), halves=0, pickled=False)
def test_any_accidents_in_any_traffic(
    seed: int, accidents: list[Accident], ports: tuple[int, ...], halves: int, pickled: bool, frames: Frames
) -> None:
    packets = traffic_of(seed, frames)
    for each in accidents:
        if packets:
            ACCIDENTS[each.kind](packets, each.place % len(packets), each.size)
    at = halves % (len(packets) + 1)

    def work(one: Reader) -> None:
        one.carry.sink.begin_file("a file")
        for first, part in ((0, packets[:at]), (at, packets[at:])):
            one.carry.streams.take(*columns_of(part, first + 1), one.carry.sink)
            one.take()
            if pickled:
                one.stored()

    numbers_hold(check(work, ports))


def test_the_traffic_holds_what_can_go_wrong(frames: Frames) -> None:
    """Without an accident: connections at once, ports that are used again, tokens, several in flight, answers out of order."""
    found: dict[str, Any] = {"ports": 0, "requests": 0, "states": set(), "rules": set(), "mechanisms": set()}
    for seed in range(40):
        tables = tables_of("native", traffic_of(seed, frames))
        found["ports"] += sum(row["connection_id"].endswith("-1") for row in tables["connections"])
        found["mechanisms"] |= {row["sasl_mechanism"] for row in tables["connections"]}
        found["requests"] += len(tables["requests"])
        found["states"] |= {row["state"] for row in tables["requests"]}
        found["rules"] |= {row["rule"] for row in tables.get("violations", [])}
    assert found["ports"] > 5
    assert found["requests"] > 500
    assert found["mechanisms"] >= {None, "PLAIN", "SCRAM-SHA-256", "GSSAPI"}
    assert found["states"] >= {"answered", "unanswered", "abandoned", "no_response_expected", "orphan_response"}
    assert found["rules"] >= {"response_out_of_order", "unknown_api_key", "body_too_short", "trailing_bytes", "frame_unfinished"}
