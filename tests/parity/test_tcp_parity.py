"""The native streams of a series say what `SeriesCarry` says: same events, same order, same counters, whatever the packets do."""

from __future__ import annotations

import gzip
import pickle
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.capture import impl as capture_impl
from kwire.capture.carry import SeriesCarry
from kwire.capture.flow import Flow
from kwire.capture.formats import identify
from kwire.capture.packet_columns import ACK, FIN, RST, SYN, PacketColumns
from kwire.capture.tcp import TcpConnection
from kwire.codec.impl import load_twin

KEYS = [bytes([4, 10, 0, 0, 1, 0x23, 0x84, 10, 0, 0, 9, 0x80, n]) for n in range(3)]
SECOND = 1_000_000_000


class Heard:
    """Writes down all events of all connections in one list, and every counter when a connection ends."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []
        self.ignored: set[int] = set()  # ports b whose streams nobody wants

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        connection.ignored = connection.b.port in self.ignored
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


def both_say_the_same(chunks: list[tuple[bytes, PacketColumns]], pickled: bool, ignored: set[int]) -> Any:
    pure, native = SeriesCarry(), load_twin("capture", "carry", "native").SeriesCarry()
    expected, found = Heard(), Heard()
    expected.ignored = found.ignored = ignored
    for data, columns in chunks:
        pure.take(data, columns, expected)
        native.take(data, columns, found)
        assert found.events == expected.events
        assert list(map(state_of, native.connections())) == list(map(state_of, pure.connections()))
        assert (native.strays, native.lives) == (pure.strays, pure.lives)
        if pickled:
            native = pickle.loads(pickle.dumps(native))
    pure.finish(expected)
    native.finish(found)
    assert found.events == expected.events
    assert native.connections() == []
    return native


@pytest.mark.parametrize("pickled", [False, True])
def test_streams_of_captures(capture_path: Path, pickled: bool) -> None:
    data = gzip.decompress(capture_path.read_bytes())
    known = identify(data[:24])
    assert known is not None
    state, at = known
    rng = random.Random(capture_path.name)
    borders = [0, *sorted(rng.sample(range(1, len(data)), 6)), len(data)] if pickled else [0, len(data)]
    chunks, rest = [], b""
    for start, end in pairwise(borders):
        rest += data[start:end]
        if len(rest) < at + 24:
            continue
        columns = capture_impl.packets.scan(rest, at, state)
        chunks.append((rest, columns))
        rest, at = rest[columns.consumed :], 0
    both_say_the_same(chunks, pickled, set())


# Sequence numbers about a few places, the wrap at 2**32 among them, so that packets often fit, overlap, repeat or leave a hole.
NUMBERS = st.integers(-6, 14).map(lambda n: n * 5 & 0xFFFFFFFF) | st.sampled_from([1, 2, 0x7FFFFFFF, 0x40000001, 0xFFFFFFFF])
FLAGS = st.sampled_from([ACK] * 6 + [SYN, SYN | ACK, FIN | ACK, RST, RST | ACK, 0, FIN, SYN | FIN, ACK | 8])
SIZES = st.sampled_from([0, 0, 5, 5, 5, 10, 1])
GAPS = st.sampled_from([1000] * 20 + [-500, 61 * SECOND, 200 * SECOND])
STEP = st.tuples(
    GAPS, st.integers(0, 2), st.integers(0, 1), NUMBERS, NUMBERS, FLAGS, SIZES, st.sampled_from([0] * 9 + [3]), st.integers(0, 6)
)


@settings(deadline=None)
@given(steps=st.lists(STEP, max_size=60), cut=st.integers(0, 60), pickled=st.booleans(), ignored=st.booleans(), handshake=st.booleans())
def test_streams_of_any_packets(steps: list[Any], cut: int, pickled: bool, ignored: bool, handshake: bool) -> None:
    data, now = bytes(range(64)), 1000 * SECOND
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
    chunks = [(data, columns_of(packets[:cut], 1)), (data, columns_of(packets[cut:], cut + 1))]
    both_say_the_same(chunks, pickled, {0x8001} if ignored else set())


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


def test_an_undisturbed_connection_is_not_touched_by_python() -> None:
    syn, ack = (SYN, 0), (ACK, 0)
    steps = [(1, 0, 0, *syn), (0, 0, 1, SYN | ACK, 0), (1, 1, 1, *ack), (1, 1, 1, ACK, 20), (0, 1, 21, ACK, 30), (1, 21, 31, *ack)]
    steps += [(1, 1, 31, ACK, 20), (1, 21, 31, FIN | ACK, 0), (0, 31, 22, FIN | ACK, 0), (1, 22, 32, *ack)]  # the first of them repeated
    packets = [
        (n * SECOND, 0, direction, seq, ack, flags, 0, size, size, n) for n, (direction, seq, ack, flags, size) in enumerate(steps, 1)
    ]
    both_say_the_same([(bytes(64), columns_of(packets, 1))], False, set())
