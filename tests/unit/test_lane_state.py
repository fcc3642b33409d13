"""A conversation whose state was taken out and put into another goes on as if nothing had happened."""

from __future__ import annotations

import pytest

from kwire.protocol import Conversation, Event
from kwire.protocol.events import RequestCompleted
from kwire.protocol.lane_state import new_conversation, plain_state, put_back

CLIENT, SERVER = 0, 1
RANGES = bytes.fromhex("0000 00000002 0003 0000 000c 0012 0000 0004")


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def request(key: int, version: int, number: int, body: bytes, client_id: bytes = b"app") -> bytes:
    head = key.to_bytes(2, "big") + version.to_bytes(2, "big") + number.to_bytes(4, "big")
    return framed(head + len(client_id).to_bytes(2, "big") + client_id + body)


def heartbeat(number: int, client_id: bytes = b"app") -> bytes:
    """Heartbeat v0: group, generation, member."""
    return request(12, 0, number, b"\0\2g1" + bytes(4) + b"\0\1m", client_id)


def answer(number: int, body: bytes) -> bytes:
    return framed(number.to_bytes(4, "big") + body)


PLAIN_TOKEN = b"\0alice\0secret"
SCRIPT: list[tuple[int, bytes]] = [
    (CLIENT, request(18, 3, 1, b"\0\5test\0041.0\0")),
    (SERVER, answer(1, RANGES[:2] + b"\3" + bytes.fromhex("0003 0000 000c 00 0012 0000 0004 00 00000000 00"))),
    (CLIENT, request(17, 1, 2, b"\0\5PLAIN")),
    (SERVER, answer(2, bytes(2) + b"\0\0\0\1\0\5PLAIN")),
    (CLIENT, request(36, 0, 3, len(PLAIN_TOKEN).to_bytes(4, "big") + PLAIN_TOKEN)),
    (SERVER, answer(3, b"\0\0\xff\xff\0\0\0\0")),
    (CLIENT, heartbeat(4) + heartbeat(5, b"other") + heartbeat(6)),
    (SERVER, answer(4, b"\0\0") + answer(5, b"\0\x1b")),
    (CLIENT, heartbeat(7)),
    (SERVER, answer(6, b"\0\0")),
]


def play(size: int, move_from: int | None) -> tuple[list[Event], object, int]:
    """Play the script in pieces of a size; from a piece on the conversation moves whenever it can."""
    conversation = Conversation(50_000, 9092)
    events = conversation.opened(CLIENT, 0)
    moved = piece = 0
    for side, data in SCRIPT:
        for start in range(0, len(data), size):
            events += conversation.receive(side, data[start : start + size], piece, piece)
            piece += 1
            state = plain_state(conversation) if move_from is not None and piece >= move_from else None
            if state is not None:
                conversation = new_conversation(50_000, 9092, CLIENT)
                put_back(conversation, state | {"pieces": ([], [])})
                moved += 1
    events += conversation.closed(SERVER, False, piece) + conversation.finish(piece)
    return events, conversation.summary(), moved


@pytest.mark.parametrize("size", [1, 3, 7, 64, 1000])
def test_a_conversation_moves(size: int) -> None:
    events, summary, _ = play(size, None)
    assert [getattr(event, "principal", None) for event in events if getattr(event, "request_index", 0) == 6] == ["User:alice"]
    moved_events, moved_summary, moved = play(size, 0)
    assert moved >= len(SCRIPT) - 2
    assert moved_events == events
    assert moved_summary == summary


@pytest.mark.parametrize("moves", [False, True])
def test_a_damaged_frame_moves(moves: bool) -> None:
    """Its end is known although bytes of it are cut off: it is in step."""
    frame = request(18, 3, 1, b"\0\5test\0041.0\0")
    conversation = Conversation(50_000, 9092)
    events = conversation.opened(CLIENT, 0)
    events += conversation.receive(CLIENT, frame[:20], 1, 1)
    events += conversation.lost(CLIENT, len(frame) - 23, 2, 2, cut=True)
    if moves:
        state = plain_state(conversation)
        assert state is not None
        assert state["buffers"][0] == (0, frame[:20], 1, 1, False, (3, 2))
        conversation = new_conversation(50_000, 9092, CLIENT)
        put_back(conversation, state | {"pieces": ([], [])})
    events += conversation.receive(CLIENT, frame[-3:] + heartbeat(2), 3, 3) + conversation.finish(4)
    rows = [event for event in events if isinstance(event, RequestCompleted)]
    assert [(row.api_key, row.request_time, row.body, row.software_name) for row in rows] == [
        (18, 3, "truncated", "unknown"), (12, 3, "decoded", None),
    ]  # fmt: skip
    assert conversation.summary().bytes_lost == len(frame) - 23


def test_what_is_irregular_stays() -> None:
    undecided = Conversation(1, 2)
    undecided.receive(0, heartbeat(1), 0)
    assert plain_state(undecided) is None
    for data in (b"GET / HTTP/1.1\r\n", request(17, 0, 1, b"\0\5PLAIN")):  # a stranger; tokens without headers follow
        conversation = Conversation(50_000, 9092)
        conversation.opened(CLIENT, 0)
        conversation.receive(CLIENT, data, 0)
        assert plain_state(conversation) is None
    seeking = Conversation(50_000, 9092)
    seeking.opened(CLIENT, 0)
    seeking.receive(CLIENT, heartbeat(1)[:2], 0)
    seeking.lost(CLIENT, 100, 0)
    assert plain_state(seeking) is None


def test_client_ids_beyond_those_that_a_lane_counts() -> None:
    conversation = Conversation(50_000, 9092)
    conversation.opened(CLIENT, 0)
    for number in range(4):
        conversation.receive(CLIENT, heartbeat(number, b"app-%d" % number), 0)
    assert plain_state(conversation) is not None
    conversation.receive(CLIENT, heartbeat(4, b"app-4"), 0)
    assert plain_state(conversation) is None
