"""Responses that fit no request, in a connection where one request waits and where as many wait as are kept: both cost the same.

`backwards` answers the latest request each time and sends another, so that all that wait are overtaken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kwire.codec.impl import load_twin
from kwire.protocol.tracking.pairing import MAX_HELD, MAX_WAITING

ANSWERS = 500
WAITING = {"1 waits": (1, False), "native": (MAX_WAITING - 1, False), "of one id": (MAX_WAITING - 1, True)}


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def heartbeat(number: int) -> bytes:
    return framed(b"\0\x0c\0\0" + number.to_bytes(4, "big") + b"\0\3app\0\2g1" + bytes(4) + b"\0\1m")


def answer(number: int) -> bytes:
    return framed(number.to_bytes(4, "big") + b"\0\0")


def waited_for(waiting: int, one_id: bool) -> Any:
    """A connection with requests that wait and as many answers to nothing as are kept."""
    connection = load_twin("protocol", "tracker", "native").Connection()
    for number in range(waiting):
        connection.receive_request_bytes(heartbeat(7 if one_id else number), 0)
    for number in range(MAX_HELD):
        connection.receive_response_bytes(answer(10**6 + number), 0)
    return connection


@pytest.mark.parametrize("who", WAITING)
def test_strange_answers(race: Callable[..., None], who: str) -> None:
    connection = waited_for(*WAITING[who])
    strange = [answer(2 * 10**6 + number) for number in range(ANSWERS)]

    def run() -> int:
        return sum(len(connection.receive_response_bytes(each, 1)) for each in strange)

    assert run() == 2 * ANSWERS  # a row and a violation each
    race("strange answers", who, run, messages=ANSWERS, size=len(strange[0]) * ANSWERS)


@pytest.mark.parametrize("who", WAITING)
def test_answers_backwards(race: Callable[..., None], who: str) -> None:
    waiting, one_id = WAITING[who]
    connection = waited_for(waiting, one_id)
    numbers = [7 if one_id else 10**5 + number for number in range(ANSWERS)]
    pairs = [(heartbeat(number), answer(number)) for number in numbers]

    def run() -> int:
        return sum(len(connection.receive_request_bytes(sent, 1)) + len(connection.receive_response_bytes(got, 1)) for sent, got in pairs)

    assert run() >= ANSWERS
    race("answers backwards", who, run, messages=ANSWERS, size=sum(map(len, sum(pairs, ()))))
