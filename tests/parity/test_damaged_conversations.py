"""Conversations of real captures, damaged in any way and cut into any pieces: the compiled tracker says of them what the readable one says.

A conversation is taken apart into its frames. Some of these are damaged, repeated, left out or put elsewhere; then each direction's bytes
come in pieces that know nothing of frames, some of them not at all, and both twins must say the same at every call.
"""

from __future__ import annotations

import gzip
import io
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kafka_bytes import api_versions, framed, head, heartbeat, produce
from kwire.capture.carry import SeriesCarry
from kwire.capture.reader import read_piece
from kwire.capture.tcp import TcpConnection
from kwire.codec.impl import load_twin
from kwire.protocol.events import Asked, RequestCompleted
from kwire.protocol.tracking.connection import Connection as PureConnection
from kwire.protocol.tracking.pairing import ORDINARY_TEXT

TESTS = Path(__file__).parents[1]
# Groups and transactions, authentication, topic ids, telemetry, and clients from 0.8 on with record batches of all kinds.
CAPTURES = [
    *(
        TESTS / "captures" / "data" / f"{name}.gz"
        for name in ("groups.pcapng", "sasl.pcap", "topicids.pcap", "telemetry.pcapng", "seed.pcap")
    ),
    TESTS.parent / "examples" / "upgrade-fleet.pcap.gz",
]
MOST_FRAMES = 60  # of a conversation, from its beginning on
MOST_BYTES = 20_000  # of a frame; longer ones are cut, which is damage of its own

Frame = tuple[bool, bytes]  # from the client?, with its length


class Damage(NamedTuple):
    """A function of `DAMAGES`, the frame and the byte in it (both modulo their number), and how much, or what."""

    kind: str
    place: int
    at: int
    size: int


class Frames:
    def __init__(self) -> None:
        self.conversations: dict[tuple[bytes, int], list[Frame]] = {}
        self._kept: dict[tuple[bytes, int, int], bytes] = {}

    def opened(self, connection: TcpConnection, *_: Any) -> None:
        self.conversations[connection.key, connection.n] = []

    def data(self, connection: TcpConnection, direction: int, data: bytes, *_: Any) -> None:
        conversation = self.conversations.get((connection.key, connection.n))
        if conversation is None or connection.opened_by is None:
            return
        kept = self._kept.get((connection.key, connection.n, direction), b"") + data
        while len(kept) >= 4 and len(kept) >= (end := 4 + int.from_bytes(kept[:4], "big")):
            conversation.append((direction == connection.opened_by, kept[:end][:MOST_BYTES]))
            kept = kept[end:]
        self._kept[connection.key, connection.n, direction] = kept

    def lost(self, *_: Any) -> None: ...

    closed = ended = lost


@cache
def conversations() -> list[list[Frame]]:
    found = []
    for path in CAPTURES:
        frames, carry = Frames(), SeriesCarry()
        read_piece(io.BytesIO(gzip.decompress(path.read_bytes())), carry, frames)
        carry.finish(frames)
        found += [each[:MOST_FRAMES] for each in frames.conversations.values() if len(each) > 3]
    return found


def flip(frames: list[Frame], place: int, at: int, size: int) -> None:
    """One bit in the first bytes of a frame, or anywhere in it."""
    side, data = frames[place]
    changed = bytearray(data)
    changed[(at % 64 if size % 2 else at) % len(data)] ^= 1 << (size // 2 % 8)
    frames[place] = side, bytes(changed)


def cut(frames: list[Frame], place: int, at: int, size: int) -> None:
    """Some bytes of a frame are not there, though its length says so."""
    side, data = frames[place]
    at %= len(data)
    frames[place] = side, data[:at] + data[at + size % 40 + 1 :]


def shorten(frames: list[Frame], place: int, at: int, size: int) -> None:
    side, data = frames[place]
    frames[place] = side, framed(data[4 : 4 + at % len(data)])


def lengthen(frames: list[Frame], place: int, at: int, size: int) -> None:
    side, data = frames[place]
    frames[place] = side, framed(data[4:] + bytes([at % 256]) * (size % 9 + 1))


def overwrite(frames: list[Frame], place: int, at: int, size: int) -> None:
    """Two bytes that are a length or a number become another one."""
    side, data = frames[place]
    at %= max(len(data) - 1, 1)
    value = (0, 1, 0x7FFF, 0x8000, 0xFFFF, 0xFFFE, 0x0100)[size % 7]
    frames[place] = side, data[:at] + value.to_bytes(2, "big") + data[at + 2 :]


def repeat(frames: list[Frame], place: int, at: int, size: int) -> None:
    frames.insert((place + size % 4) % len(frames), frames[place])


def leave_out(frames: list[Frame], place: int, at: int, size: int) -> None:
    if len(frames) > 1:
        del frames[place]


def swap(frames: list[Frame], place: int, at: int, size: int) -> None:
    other = (place + size % 5 + 1) % len(frames)
    frames[place], frames[other] = frames[other], frames[place]


def turn(frames: list[Frame], place: int, at: int, size: int) -> None:
    side, data = frames[place]
    frames[place] = not side, data


DAMAGES: dict[str, Callable[[list[Frame], int, int, int], None]] = {
    each.__name__: each for each in (flip, cut, shorten, lengthen, overwrite, repeat, leave_out, swap, turn)
}
damages = st.lists(
    st.builds(Damage, st.sampled_from(sorted(DAMAGES)), st.integers(0, MOST_FRAMES), st.integers(0, MOST_BYTES), st.integers(0, 255)),
    max_size=6,
)
bodies = st.sampled_from((None, None, (), (3,), (0, 1, 11, 12)))
wishes = st.sampled_from(({}, {}, {"frames": True}, {"max_frame": 300}, {"asked": Asked("response", 12, 4)}))


def pieces_of(frames: list[Frame], sizes: list[int]) -> list[Frame]:
    """The bytes of both directions in pieces: each a frame or several, a part of one, or the end of one and the beginning of the next."""
    waiting, pieces = {True: b"", False: b""}, []
    for number, (side, data) in enumerate(frames):
        waiting[side] += data
        for _ in range(4):
            size = sizes[(len(pieces) + number) % len(sizes)] or len(waiting[side])
            if size > len(waiting[side]) or not waiting[side]:
                break
            pieces.append((side, waiting[side][:size]))
            waiting[side] = waiting[side][size:]
    return pieces + [(side, rest) for side, rest in waiting.items() if rest]


def looks(said: list[Any]) -> str:
    return "\n".join(map(repr, said))


def compare(twins: list[Any], pieces: list[Frame], lost: int) -> None:
    """Both twins read these pieces, of which every `lost`-th is not there, and say the same at each call."""
    for number, (side, data) in enumerate(pieces):
        if lost and number % lost == lost - 1:
            said = [twin.lost("request" if side else "response", len(data), number, cut=number % 2 == 0) for twin in twins]
        else:
            said = [(twin.receive_request_bytes if side else twin.receive_response_bytes)(data, number * 1000, number) for twin in twins]
        assert said[0] == said[1] or looks(said[0]) == looks(said[1])
        if number % 11 == 10:
            assert twins[0].summary() == twins[1].summary()
            twins = [pickle.loads(pickle.dumps(twin)) for twin in twins]
    said = [twin.closed("request", False, 10**9) + twin.finish(10**9) for twin in twins]
    assert said[0] == said[1] or looks(said[0]) == looks(said[1])
    assert twins[0].summary() == twins[1].summary()


@pytest.fixture(scope="module")
def native() -> Callable[..., Any]:
    return load_twin("protocol", "tracker", "native").Connection


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    st.integers(0, 10_000),
    damages,
    st.lists(st.sampled_from((0, 0, 1, 3, 4, 7, 8, 13, 60, 300, 1448)), min_size=1, max_size=9),
    bodies,
    st.booleans(),
    st.sampled_from((0, 0, 5, 17)),
    wishes,
)
@example(which=3695, damage=[Damage("cut", 2, 12, 0)], sizes=[0, 0, 4], read=None, late=False, lost=0, wish={})
@example(which=741, damage=[], sizes=[0, 0, 1], read=None, late=False, lost=0, wish={"max_frame": 300})
@example(which=7571, damage=[Damage("repeat", 60, 0, 0)], sizes=[1448], read=None, late=False, lost=0, wish={"max_frame": 300})
def test_damaged_conversations(
    native: Callable[..., Any],
    which: int,
    damage: list[Damage],
    sizes: list[int],
    read: tuple[int, ...] | None,
    late: bool,
    lost: int,
    wish: dict[str, Any],
) -> None:
    frames = list(conversations()[which % len(conversations())])
    for each in damage:
        DAMAGES[each.kind](frames, each.place % len(frames), each.at, each.size)
        frames = [(side, data) for side, data in frames if data] or [(True, b"\0")]
    twins = [make(late and bool(which % 3 == 0), bodies=read, **wish) for make in (native, PureConnection)]
    compare(twins, pieces_of(frames, sizes), lost)


@st.composite
def exchanges(draw: st.DrawFn) -> list[Frame]:
    """Requests and what answers them, as a client with several in flight has it; now and then an answer that does not fit."""
    sent: list[int] = []
    made: list[Frame] = []
    for number in range(draw(st.integers(1, 25))):
        client_id = draw(st.sampled_from(("app", "app", "app", "app-2", "", "né", "x" * (ORDINARY_TEXT + 1)))).encode()
        acks = draw(st.sampled_from((0, 1, -1)))
        kinds = {
            "heartbeat": heartbeat(number, client_id),
            "produce": produce(number, acks, client_id=client_id),
            "api versions": api_versions(number, 3),
            "unknown api": framed(head(5000, 1, number)),
            "fetch": framed(head(1, 12, number, client_id) + bytes(1) + draw(st.binary(max_size=90))),
        }
        kind = draw(st.sampled_from((*kinds, "heartbeat", "heartbeat", "fetch")))
        made.append((True, kinds[kind]))
        sent += [] if kind == "produce" and acks == 0 else [number]
        while sent and draw(st.booleans()):
            answered = sent.pop(0) if draw(st.integers(0, 12)) else 77
            made.append((False, framed(answered.to_bytes(4, "big") + draw(st.binary(max_size=120)))))
    return made


@settings(deadline=None)
@given(exchanges(), bodies, st.lists(st.integers(1, 200), min_size=1, max_size=6), st.sampled_from((0, 37)))
def test_any_exchanges_in_any_pieces(
    native: Callable[..., Any], made: list[Frame], read: tuple[int, ...] | None, sizes: list[int], lost: int
) -> None:
    compare([make(bodies=read) for make in (native, PureConnection)], pieces_of(made, sizes), lost)


def test_the_conversations_hold_what_is_worth_damaging() -> None:
    """Without damage they are read: each of the apis that a busy cluster sees, with answers."""
    answered: dict[str | None, int] = {}
    for frames in conversations():
        connection = PureConnection()
        for number, (side, data) in enumerate(frames):
            for event in (connection.receive_request_bytes if side else connection.receive_response_bytes)(data, number):
                if isinstance(event, RequestCompleted) and event.state == "answered":
                    answered[event.api_name] = answered.get(event.api_name, 0) + 1
    assert len(conversations()) > 100
    assert len(answered) > 20
    assert all(
        answered[name] > 20 for name in ("Produce", "Fetch", "Metadata", "Heartbeat", "OffsetCommit", "JoinGroup", "SaslAuthenticate")
    )
