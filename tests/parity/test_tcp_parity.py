"""The native reassembly says what the pure one says: same events, same order, same counters and states, whatever the packets do."""

from __future__ import annotations

import gc
import gzip
import random
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carried_state import carried
from kwire.capture import carry as carry_module
from kwire.capture import impl as capture_impl
from kwire.capture.carry import SeriesCarry, is_of_share
from kwire.capture.files.formats import identify
from kwire.capture.flow import Flow, Fragment
from kwire.capture.packet_columns import ACK, FIN, RST, SYN, PacketColumns
from kwire.capture.tcp import TcpConnection
from kwire.codec.impl import load_twin

KEYS = [bytes([4, 10, 0, 0, 1, 0x23, 0x84, 10, 0, 0, 9, 0x80, n]) for n in range(3)]
SECOND = 1_000_000_000


class Heard:
    """Writes down all events of all connections in one list, and every counter when a connection ends."""

    def __init__(self, kept: bytes | None = None) -> None:
        self.events: list[tuple[Any, ...]] = []
        self.ignored: set[int] = set()  # ports b whose streams nobody wants
        self.kept = kept  # attachment of each connection: with bytes, half-open ones are packed

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        connection.ignored = connection.b.port in self.ignored
        connection.attachment = None if connection.ignored else self.kept
        self.events.append(("opened", connection.key, connection.n, connection.opened_by, time_ns, packet))

    def data(self, connection: TcpConnection, *data: Any) -> None:
        self.events.append(("data", connection.key, connection.n, *data))

    def lost(self, connection: TcpConnection, *lost: Any) -> None:
        self.events.append(("lost", connection.key, connection.n, *lost))

    def closed(self, connection: TcpConnection, *closed: Any) -> None:
        self.events.append(("closed", connection.key, connection.n, *closed))

    def ended(self, connection: TcpConnection) -> None:
        self.events.append(("ended", *state_of(connection)))


def state_of(connection: TcpConnection) -> tuple[Any, ...]:
    flows = [[getattr(flow, name) for name in Flow.__slots__] for flow in connection.flows]
    names = ("key", "n", "opened_by", "answered", "held", "first_ns", "last_ns", "closed_ns", "ignored")
    return (*(getattr(connection, name) for name in names), *flows)


def columns_of(packets: list[tuple[int, ...]], first: int) -> PacketColumns:
    columns = PacketColumns(keys=KEYS)
    names = ("time_ns", "key", "direction", "seq", "ack", "flags", "offset", "captured", "original", "signature")
    for number, packet in enumerate(packets, first):
        columns.number.append(number)
        for name, value in zip(names, packet, strict=True):
            getattr(columns, name).append(value)
    return columns


def both_say_the_same(chunks: list[tuple[bytes, PacketColumns]], is_carried: bool, ignored: set[int]) -> Any:
    pure, native = SeriesCarry(), load_twin("capture", "carry", "native").SeriesCarry()
    expected, found = Heard(), Heard()
    expected.ignored = found.ignored = ignored
    for data, columns in chunks:
        pure.take(data, columns, expected)
        native.take(data, columns, found)
        assert found.events == expected.events
        assert list(map(state_of, native.connections())) == list(map(state_of, pure.connections()))
        assert (native.strays, native.lives) == (pure.strays, pure.lives)
        if is_carried:
            native = carried(native)
    pure.finish(expected)
    native.finish(found)
    assert found.events == expected.events
    assert native.connections() == []
    return native


def chunks_of(data: bytes, borders: list[int]) -> list[tuple[bytes, PacketColumns]]:
    """The packets of a capture that comes in pieces with these borders."""
    known = identify(data[:24])
    assert known is not None
    state, at = known
    chunks, rest = [], b""
    for start, end in pairwise(borders):
        rest += data[start:end]
        if len(rest) < at + 24:
            continue
        columns = capture_impl.packets.scan(rest, at, state)
        chunks.append((rest, columns))
        rest, at = rest[columns.consumed :], 0
    return chunks


@pytest.mark.parametrize("is_carried", [False, True])
def test_streams_of_captures(capture_path: Path, is_carried: bool) -> None:
    data = gzip.decompress(capture_path.read_bytes())
    rng = random.Random(capture_path.name)
    borders = [0, *sorted(rng.sample(range(1, len(data)), 6)), len(data)] if is_carried else [0, len(data)]
    both_say_the_same(chunks_of(data, borders), is_carried, set())


# Sequence numbers about a few places, the wrap at 2**32 among them, so that packets often fit, overlap, repeat or leave a hole.
NUMBERS = st.integers(-6, 14).map(lambda n: n * 5 & 0xFFFFFFFF) | st.sampled_from([1, 2, 0x7FFFFFFF, 0x40000001, 0xFFFFFFFF])
FLAGS = st.sampled_from([ACK] * 6 + [SYN, SYN | ACK, FIN | ACK, RST, RST | ACK, 0, FIN, SYN | FIN, ACK | 8])
SIZES = st.sampled_from([0, 0, 5, 5, 5, 10, 1])
GAPS = st.sampled_from([1000] * 20 + [-500, 61 * SECOND, 200 * SECOND])
STEP = st.tuples(
    GAPS, st.integers(0, 2), st.integers(0, 1), NUMBERS, NUMBERS, FLAGS, SIZES, st.sampled_from([0] * 9 + [3]), st.integers(0, 6)
)


def packets_of(steps: list[Any], handshake: bool) -> list[tuple[int, ...]]:
    """Rows of packets, which may follow the handshakes of three connections."""
    now = 1000 * SECOND
    packets: list[tuple[int, ...]] = []
    if handshake:
        for key in range(3):
            packets += [
                (now, key, 1, 0, 0, SYN, 0, 0, 0, 1),
                (now, key, 0, 0, 1, SYN | ACK, 0, 0, 0, 1),
                (now, key, 1, 1, 1, ACK, 0, 0, 0, 2),
            ]
    for gap, key, direction, seq, ack, flags, size, missing, signature in steps:
        now += gap
        if handshake:
            seq, ack = seq + 1 & 0xFFFFFFFF, ack + 1 & 0xFFFFFFFF
        packets.append((now, key, direction, seq, ack, flags, signature, max(size - missing, 0), size, signature))
    return packets


@settings(deadline=None)
@given(steps=st.lists(STEP, max_size=60), cut=st.integers(0, 60), is_carried=st.booleans(), ignored=st.booleans(), handshake=st.booleans())
def test_streams_of_any_packets(steps: list[Any], cut: int, is_carried: bool, ignored: bool, handshake: bool) -> None:
    packets = packets_of(steps, handshake)
    data = bytes(range(64))
    chunks = [(data, columns_of(packets[:cut], 1)), (data, columns_of(packets[cut:], cut + 1))]
    both_say_the_same(chunks, is_carried, {0x8001} if ignored else set())


def talk(rng: random.Random, key: int, start: int) -> list[tuple[int, ...]]:
    """A connection of its own time: opened, some data, sometimes a loss or a repetition, closed in one way or none."""
    now, numbers = start, [rng.randrange(1 << 32), rng.randrange(1 << 32)]
    packets = []

    def add(direction: int, flags: int, size: int = 0, shift: int = 0) -> None:
        nonlocal now
        now += rng.randrange(1, SECOND // 10)
        seq, ack = numbers[direction] + shift & 0xFFFFFFFF, numbers[1 - direction] & 0xFFFFFFFF
        packets.append((now, key, direction, seq, ack if flags & ACK else 0, flags, 0, size, size, rng.randrange(1 << 32)))
        if not shift:
            numbers[direction] += size + bool(flags & (SYN | FIN))

    add(1, SYN)
    if rng.random() < 0.1:
        return packets
    add(0, SYN | ACK)
    for _ in range(rng.randrange(12)):
        add(rng.randrange(2), ACK, rng.choice([0, 1, 20, 64]))
        if rng.random() < 0.05:
            add(rng.randrange(2), ACK, 10, rng.choice([-10, 7]))
    kind = rng.random()
    if kind < 0.2:
        add(rng.randrange(2), RST)
    elif kind < 0.8:
        for direction in (0, 1):
            add(direction, FIN | ACK)
        add(0, ACK)
    return packets


def test_sweeps_end_the_same_connections_at_the_same_packets(request: pytest.FixtureRequest) -> None:
    rng = random.Random(5)
    packets: list[tuple[int, ...]] = []
    start = 0
    while len(packets) < (140_000 if request.config.getoption("--whole") else 40_000):
        start += rng.choice([SECOND, 2 * SECOND, 30 * SECOND])
        packets += talk(rng, rng.randrange(3), start)
    data = bytes(64)
    both_say_the_same([(data, columns_of(packets[at : at + 50_000], at + 1)) for at in range(0, len(packets), 50_000)], False, set())


@settings(deadline=None)
@given(
    seed=st.integers(0, 1 << 32),
    kinds=st.lists(st.sampled_from(["drop", "repeat", "swap", "pause"]), max_size=4, unique=True),
    cut=st.integers(1, 60),
)
def test_half_open_connections_that_are_packed_say_the_same(seed: int, kinds: list[str], cut: int) -> None:
    """The reference is a sink whose attachments are no bytes: its connections stay objects."""
    rng = random.Random(seed)
    traffic = Accidents(rng)
    for at in range(9):
        if rng.random() < 0.5:
            traffic.connection(rng.randrange(3), (1000 + 40 * at) * SECOND)
        else:
            traffic.attempt(rng.randrange(3), (1000 + 40 * at) * SECOND)
    packets = traffic.damaged(kinds)
    carries: dict[str, Any] = {
        "objects": SeriesCarry(),
        "pure": SeriesCarry(),
        "native": load_twin("capture", "carry", "native").SeriesCarry(),
    }
    heard = {name: Heard(None if name == "objects" else b"kept") for name in carries}
    for first, last in pairwise(sorted({0, min(cut, len(packets)), len(packets)})):
        for name, carry in carries.items():
            carry.take(bytes(range(64)), columns_of(packets[first:last], first + 1), heard[name])
        assert carries["native"].half_open == carries["pure"].half_open
        assert len(carries["pure"].live) + len(carries["pure"].half_open) == len(carries["objects"].live)
        for name in ("pure", "native"):
            carries[name] = carried(carries[name])
    for name, carry in carries.items():
        carry.finish(heard[name])
        assert not carry.half_open
    assert heard["native"].events == heard["pure"].events == heard["objects"].events


@pytest.mark.parametrize("kept", [b"kept", None])
def test_the_oldest_connections_are_ended_early(kept: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 9 connections at most 8 stay; the first one was heard again in between, so the second one goes, unless they are half-open."""
    monkeypatch.setattr(carry_module, "MAX_OPEN", 8)
    keys = [bytes([4, 10, 0, 0, 1, 0x23, 0x84, 10, 0, 0, 9, 0x80, n]) for n in range(9)]
    order = [0, 1, 2, 0, 3, 4, 5, 6, 7, 8]
    for carry in (SeriesCarry(), load_twin("capture", "carry", "native").SeriesCarry()):
        heard = Heard(kept)
        columns = columns_of([(at * SECOND, key, 1, 7, 0, SYN, 0, 0, 0, 1) for at, key in enumerate(order)], 1)
        columns.keys = keys
        carry.take(b"", columns, heard)
        assert [event[1] for event in heard.events if event[0] == "ended"] == [keys[0 if kept else 1]]
        assert carry.ended_early == 1
        assert len(carry.half_open if kept else carry.live) == 8


def test_a_half_open_connection_that_is_cut_is_refused() -> None:
    """A state lies in a folder that others may write to."""
    for made in (SeriesCarry(), load_twin("capture", "carry", "native").SeriesCarry()):
        made.half_open[KEYS[0]] = bytes(20)
        with pytest.raises((ValueError, struct.error)):
            made.finish(Heard())


def test_an_undisturbed_connection() -> None:
    syn, ack = (SYN, 0), (ACK, 0)
    steps = [(1, 0, 0, *syn), (0, 0, 1, SYN | ACK, 0), (1, 1, 1, *ack), (1, 1, 1, ACK, 20), (0, 1, 21, ACK, 30), (1, 21, 31, *ack)]
    steps += [(1, 1, 31, ACK, 20), (1, 21, 31, FIN | ACK, 0), (0, 31, 22, FIN | ACK, 0), (1, 22, 32, *ack)]  # the first of them repeated
    packets = [
        (n * SECOND, 0, direction, seq, ack, flags, 0, size, size, n) for n, (direction, seq, ack, flags, size) in enumerate(steps, 1)
    ]
    both_say_the_same([(bytes(64), columns_of(packets, 1))], False, set())


class Accidents:
    """Connections as stacks send them, then what captures do to their packets; all from one random number generator."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.sent: list[tuple[int, ...]] = []  # rows of PacketColumns without number

    def connection(self, key: int, start: int) -> None:
        rng, now = self.rng, start
        numbers = [rng.choice([0, 1 << 31, (1 << 32) - 30, rng.randrange(1 << 32)]) for _ in range(2)]
        mark = rng.randrange(1 << 30)

        def send(direction: int, flags: int, size: int = 0, back: int = 0, cut: int = 0) -> None:
            nonlocal now, mark
            now, mark = now + rng.choice([1000, 1000, 50_000]), mark + 1
            seq, ack = numbers[direction] - back & 0xFFFFFFFF, numbers[1 - direction] & 0xFFFFFFFF
            at = (direction * 32 + back) % 40
            self.sent.append((now, key, direction, seq, ack if flags & ACK else 0, flags, at, size - min(size, cut), size, mark))
            if not back:
                numbers[direction] = numbers[direction] + size + bool(flags & (SYN | FIN)) & 0xFFFFFFFF

        send(1, SYN, rng.choice([0] * 9 + [5]))
        if rng.random() < 0.1:
            send(0, RST | ACK)
            return
        send(0, SYN | ACK)
        send(1, ACK)
        for _ in range(rng.randrange(14)):
            for direction in (1, 0):
                for _ in range(rng.choice([1, 1, 1, 3])):
                    send(direction, ACK, rng.randrange(1, 24), cut=rng.choice([0] * 9 + [4, 99]))
            if rng.random() < 0.3:
                send(1, ACK)
            if rng.random() < 0.2:
                send(rng.randrange(2), ACK, rng.choice([1, 6, 20]), back=rng.choice([1, 6, 15]))  # a probe, a retransmission, an overlap
        ending = rng.random()
        if ending < 0.2:
            send(rng.randrange(2), RST | ACK, 0)
            send(rng.randrange(2), ACK, 5)
        elif ending < 0.8:
            first = rng.randrange(2)
            send(first, FIN | ACK, rng.choice([0, 7]))
            send(1 - first, FIN | ACK, rng.choice([0, 7]))
            send(first, ACK)

    def attempt(self, key: int, start: int) -> None:
        """A SYN, its copies, and sometimes a refusal, with what should not come behind it."""
        rng, number = self.rng, self.rng.randrange(1 << 32)
        for at in range(rng.choice([1, 1, 2, 3])):
            self.sent.append((start + at * SECOND, key, 1, number, 0, SYN, 0, 0, 0, rng.randrange(1 << 30)))
        if rng.random() < 0.6:
            for at in range(rng.choice([1, 1, 2])):
                ack = number + 1 & 0xFFFFFFFF
                direction, flags = rng.choice([(0, RST | ACK)] * 4 + [(0, RST), (1, RST), (1, RST | ACK)])
                self.sent.append((start + 4 * SECOND + at, key, direction, 0 if direction == 0 else ack, ack, flags, 0, 0, 0, 1))
        if rng.random() < 0.2:
            self.sent.append((start + rng.choice([5, 70, 190]) * SECOND, key, 1, number + 1 & 0xFFFFFFFF, 1, ACK, 0, 5, 5, 9))

    def damaged(self, kinds: list[str]) -> list[tuple[int, ...]]:
        """What is left of the packets, each kind of accident to about one in ten."""
        rng, found = self.rng, sorted(self.sent, key=lambda row: row[0])
        if "late" in kinds:
            found = found[rng.randrange(len(found)) :]
        if "one-way" in kinds:
            found = [row for row in found if row[1] or row[2]]
        if "drop" in kinds:
            found = [row for row in found if rng.random() > 0.1]
        if "lose-opening" in kinds:
            found = [row for row in found if not row[5] & SYN or rng.random() > 0.5]
        if "repeat" in kinds:
            found = [row for row in found for _ in range(1 + (rng.random() < 0.1))]
        if "swap" in kinds:
            for at in range(len(found) - 1):
                far = min(len(found) - 1, at + rng.choice([1, 1, 3, 12]))
                if rng.random() < 0.1:
                    found[at], found[far] = found[far], found[at]
        if "pause" in kinds:
            shift, moved = 0, []
            for row in found:
                shift += rng.choice([0] * 30 + [10 * SECOND, 61 * SECOND, 181 * SECOND])
                moved.append((row[0] + shift, *row[1:]))
            found = moved
        return found


KINDS = ["late", "one-way", "drop", "lose-opening", "repeat", "swap", "pause"]


@settings(deadline=None)
@given(
    seed=st.integers(0, 1 << 32),
    kinds=st.lists(st.sampled_from(KINDS), max_size=4, unique=True),
    cuts=st.lists(st.integers(0, 400), max_size=6),
    written_by=st.sampled_from(["pure", "native"]),
)
def test_accidents_to_real_conversations(seed: int, kinds: list[str], cuts: list[int], written_by: str) -> None:
    """Ports are used again, sequence numbers wrap, and between two chunks the carry goes through the state of either backend."""
    rng = random.Random(seed)
    traffic = Accidents(rng)
    start = 1000 * SECOND
    for _ in range(rng.randrange(1, 8)):
        traffic.connection(rng.randrange(3), start)
        start += rng.choice([0, 200_000, 30 * SECOND, 70 * SECOND])
    packets = traffic.damaged(kinds)
    data = bytes(range(64))
    borders = sorted({0, len(packets), *(cut for cut in cuts if cut < len(packets))})
    carries: dict[str, Any] = {"pure": SeriesCarry(), "native": load_twin("capture", "carry", "native").SeriesCarry()}
    heard = {"pure": Heard(), "native": Heard()}
    for first, last in pairwise(borders):
        for twin, carry in carries.items():
            carry.take(data, columns_of(packets[first:last], first + 1), heard[twin])
        assert heard["native"].events == heard["pure"].events
        states = {twin: [state_of(each) for each in carry.connections()] for twin, carry in carries.items()}
        assert states["native"] == states["pure"]
        for name in ("share", "packets", "latest_ns", "strays", "scan", "lives"):
            assert getattr(carries["native"], name) == getattr(carries["pure"], name), name
        assert list(carries["native"].live) == list(carries["pure"].live)
        assert sorted(carries["native"].watched) == sorted(carries["pure"].watched)
        carries = {twin: carried(carries[written_by], type(carry)) for twin, carry in carries.items()}
    for twin, carry in carries.items():
        carry.finish(heard[twin])
        assert carry.connections() == []
        assert dict(carry.watched) == {}
    assert heard["native"].events == heard["pure"].events


@settings(deadline=None)
@given(seed=st.integers(0, 1 << 32), by_hosts=st.booleans())
def test_shares_of_a_series(seed: int, by_hosts: bool) -> None:
    """Each share knows its own connections alone, and its sweeps come at the packets at which all sweeps come."""
    rng = random.Random(seed)
    traffic = Accidents(rng)
    for at in range(6):
        traffic.connection(rng.randrange(3), (1000 + 40 * at) * SECOND)
    packets = traffic.damaged(["pause", "drop"])
    for share in ((0, 2), (1, 2)):
        pure, native = SeriesCarry(share, by_hosts), load_twin("capture", "carry", "native").SeriesCarry(share, by_hosts)
        expected, found = Heard(), Heard()
        for carry, heard in ((pure, expected), (native, found)):
            carry.take(bytes(64), columns_of(packets, 1), heard)
            carry.finish(heard)
        assert found.events == expected.events
        assert all(is_of_share(event[1], share, by_hosts) for event in found.events)


@pytest.mark.parametrize("host", [b"\4" + bytes((10, 0, 0, 1)), b"\6" + bytes(15) + b"\1"])
def test_connections_between_two_hosts_are_in_one_share_whatever_their_ports(host: bytes) -> None:
    """A client resumes a TLS session with the host that gave it (RFC 8446, 2.2), from another port."""
    for n in range(2, 9):
        keys = [host + port.to_bytes(2, "big") + host[1:-1] + b"\2" + (9093).to_bytes(2, "big") for port in range(40_000, 40_020)]
        assert {tuple(is_of_share(key, (k, n), by_hosts=True) for k in range(n)) for key in keys} == {
            tuple(is_of_share(keys[0], (k, n), by_hosts=True) for k in range(n))
        }
        assert sum(is_of_share(keys[0], (k, n), by_hosts=True) for k in range(n)) == 1


def test_an_error_of_a_sink_comes_out_and_leaves_nothing_behind() -> None:
    class Broken(Heard):
        def data(self, connection: TcpConnection, *data: Any) -> None:
            raise RuntimeError("full")

    packets = [(SECOND, 0, 1, 0, 0, SYN, 0, 0, 0, 1), (SECOND, 0, 1, 1, 0, 0, 0, 4, 4, 2), (SECOND, 0, 1, 5, 0, 0, 0, 4, 4, 3)]
    carry = load_twin("capture", "carry", "native").SeriesCarry()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="full"):
            carry.take(bytes(64), columns_of(packets, 1), Broken())
    again = carried(carry)
    assert list(map(state_of, again.connections())) == list(map(state_of, carry.connections()))


def test_packets_that_lie_outside_of_their_chunk_are_refused() -> None:
    carry = load_twin("capture", "carry", "native").SeriesCarry()
    rows = [(SECOND, 0, 1, 0, 0, SYN, 60, 5, 5, 1)]
    with pytest.raises(ValueError, match="does not lie in its chunk"):
        carry.take(bytes(64), columns_of(rows, 1), Heard())
    with pytest.raises(TypeError):
        carry.take("no bytes", columns_of(rows, 1), Heard())
    assert carry.connections() == []


def test_a_carry_that_makes_no_sense_is_refused() -> None:
    """Fragments of another length than their bytes, or that overlap, would be read outside of them."""
    native = load_twin("capture", "connection", "native").TcpConnection
    plain = TcpConnection(KEYS[0], 0, 0)
    for waiting in (
        [Fragment(5, 9, b"abc", 0, 0)],
        [Fragment(5, 8, b"abc", 0, 0), Fragment(7, 9, None, 0, 0)],
        [Fragment(5, 5, b"", 0, 0)],
    ):
        plain.flows[0].waiting = waiting
        with pytest.raises(ValueError, match="fragments overlap"):
            native.of(plain)
    plain.flows[0].waiting = [Fragment(5, 8, [1, 2, 3], 0, 0)]  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="holds no bytes"):
        native.of(plain)


def test_what_python_sees_of_a_connection_outlives_its_carry() -> None:
    carry = load_twin("capture", "carry", "native").SeriesCarry()
    carry.take(bytes(64), columns_of([(SECOND, 0, 1, 0, 0, SYN, 0, 0, 0, 1), (SECOND, 0, 1, 9, 0, 0, 3, 4, 4, 2)], 1), Heard())
    connection = carry.connections()[0]
    flow = connection.flows[1]
    plain = connection.plain()
    del carry
    gc.collect()
    assert connection.last_ns == SECOND
    assert [piece.data for piece in flow.waiting] == [bytes(4)]
    assert state_of(plain) == state_of(connection)
    assert (plain.flows[1].next, plain.flows[1].waiting_bytes) == (1, 260)
    del connection
    assert flow.position == 0
