"""What one thing costs that is not regular: a gap, a late join, a frame that breaks a rule or of which more is read than its first fields.

Each is held against so many frames that are passed through, one call a frame as in `tracked frames`, as may take as long: a frame takes
0.2 us, a gap 100 us at most, which is 500 frames, a late join 50 us, any one frame 30 us. So the lines hold on any machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kwire.codec.impl import load_twin

make = load_twin("protocol", "tracker", "native").Connection
COUNT = 500
WORKS = {"a gap": 500, "a late join": 250, "an irregular frame": 150}  # frames passed through that may take as long
Exchange = tuple[bytes, bytes]


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def head(key: int, version: int, number: int, client_id: bytes = b"app") -> bytes:
    return key.to_bytes(2, "big") + version.to_bytes(2, "big") + number.to_bytes(4, "big") + len(client_id).to_bytes(2, "big") + client_id


def heartbeat(number: int, tail: bytes = b"\0\1m", client_id: bytes = b"app") -> bytes:
    return framed(head(12, 0, number, client_id) + b"\0\2g1" + bytes(4) + tail)


def answer(number: int, body: bytes = b"\0\0") -> bytes:
    return framed(number.to_bytes(4, "big") + body)


REGULAR = [(heartbeat(number), answer(number)) for number in range(COUNT)]
NAMED = framed(head(18, 3, 7) + b"\0\4kgo\3v1\0")
# An exchange with an irregular frame, and how many frames it has that are.
FRAMES: dict[str, tuple[Exchange, int]] = {
    "unknown api": ((framed(head(5000, 1, 7)), answer(7)), 2),
    "unknown version": ((framed(head(3, 99, 7)), answer(7)), 2),
    "request too long": ((heartbeat(7, b"\0\1mxx"), answer(7)), 1),
    "request too short": ((heartbeat(7, b"\0\2m"), answer(7)), 1),
    "no UTF-8": ((heartbeat(7, client_id=b"\xff\xfe"), answer(7)), 1),
    "response too long": ((heartbeat(7), answer(7, b"\0\0xx")), 1),
    "response too short": ((heartbeat(7), answer(7, b"\0")), 1),
    "ApiVersions": ((NAMED, answer(7, bytes.fromhex("0000 02 0003 0000 000c 00 00000000 00"))), 2),
    "ApiVersions refused": ((NAMED, answer(7, bytes.fromhex("0023 00000001 0012 0000 0004"))), 2),
    "SaslAuthenticate": ((framed(head(36, 0, 7) + framed(b"\0a\0b")), answer(7, b"\0\0\xff\xff" + bytes(4))), 2),
}


def play(connection: Any, exchanges: list[Exchange]) -> int:
    return sum(len(connection.receive_request_bytes(sent, 1)) + len(connection.receive_response_bytes(got, 2)) for sent, got in exchanges)


def gaps() -> int:
    """A gap in a request whose length is known, and one behind each response that takes the border with it."""
    connection, said = make(), 0
    for sent, got in REGULAR:
        connection.receive_request_bytes(sent[:20], 1)
        connection.lost("request", len(sent) - 20, 1)
        said += len(connection.receive_response_bytes(got, 2))
        connection.lost("response", 100, 2)
    return said


def late_joins() -> int:
    """The end of a request, of which nothing is known, then a whole one; the same of responses."""
    return sum(play(make(True), [(sent[9:] + sent, got[3:] + got)]) for sent, got in REGULAR)


@pytest.mark.parametrize("work", WORKS)
def test_frames_that_may_take_as_long(race: Callable[..., None], work: str) -> None:
    connection = make(bodies=())
    exchanges = REGULAR * 15

    def run() -> int:
        return play(connection, exchanges)

    assert run() >= len(exchanges)
    race(work, "frames passed", run, messages=2 * len(exchanges) // WORKS[work])


def test_gaps(race: Callable[..., None]) -> None:
    assert gaps() == COUNT  # a row each
    race("a gap", "native", gaps, messages=2 * COUNT)


def test_late_joins(race: Callable[..., None]) -> None:
    assert late_joins() == COUNT
    race("a late join", "native", late_joins, messages=COUNT)


@pytest.mark.parametrize("kind", FRAMES)
def test_irregular_frames(race: Callable[..., None], kind: str) -> None:
    exchange, irregular = FRAMES[kind]
    connection = make()
    play(connection, REGULAR[:1])

    def run() -> int:
        return play(connection, [exchange] * 100)

    assert run() >= 100
    race("an irregular frame", kind, run, messages=100 * irregular)
