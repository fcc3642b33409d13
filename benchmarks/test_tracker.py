"""The tracker, frame by frame as a proxy drives it: each call takes the bytes of one frame, and rows come out of responses.

Five works. `tracked frames` is what a proxy pays for a frame that it passes through: requests and responses of one client in the shares of
a busy cluster, no body read. `tracked frames 50 at once` has the same frames in larger pieces, `tracked frames in segments` each frame in
pieces of 1,448 bytes. In `tracked frames and identity` every connection lives for 100 exchanges and begins with ApiVersions v3, whose body
is read in both directions, and a Metadata whose body is asked for.

The peer `struct loop` is what somebody would write who needs no more than correlation: header and response id with `struct`, a dictionary,
a tuple a row. It checks nothing, carries nothing over a torn frame and knows no client.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any

import pytest

import kwire
from frames import Corpus, header
from kwire.codec.impl import load_twin
from kwire.protocol.tracking.connection import Connection as PureConnection
from kwire.schema import catalog

CLIENT = "consumer-billing-7f4c"
SEGMENT = 1448
_HEAD, _ANSWER = struct.Struct(">hhih"), struct.Struct(">ii")

Exchange = tuple[bytes, bytes]


class RecordCorpus(Corpus):
    """A corpus whose records are batches instead of made-up bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.chance = RecordChance(7)


class RecordChance(random.Random):
    def randbytes(self, n: int) -> bytes:
        """A record batch of about so many bytes, where there is room for one."""
        if n < 200:
            return super().randbytes(n)
        value = super().randbytes(100)
        return kwire.records.encode(kwire.records.RecordBatch([(b"key", value, 1_700_000_000_000)] * (n // 115)))


class StructLoop:
    """Correlation and nothing else."""

    def __init__(self, bodies: tuple[int, ...] = ()) -> None:
        self.waiting: dict[int, tuple[Any, ...]] = {}

    def receive_request_bytes(self, data: bytes, t: int, packet: int = 0) -> tuple[Any, ...]:
        key, version, number, size = _HEAD.unpack_from(data, 4)
        self.waiting[number] = key, version, data[14 : 14 + size].decode(), t, len(data)
        return ()

    def receive_response_bytes(self, data: bytes, t: int, packet: int = 0) -> list[tuple[Any, ...]]:
        _, number = _ANSWER.unpack_from(data)
        asked = self.waiting.pop(number)
        return [(*asked, t, t - asked[3], len(data))]


def makers() -> dict[str, Callable[..., Any]]:
    return {
        "native": load_twin("protocol", "tracker", "native").Connection,
        "pure": PureConnection,
        "struct loop": StructLoop,
    }


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def answer_to(corpus: Corpus, key: int, version: int, number: int) -> bytes:
    bodies = {1: lambda: corpus.fetch_response(1, 2), 3: lambda: corpus.metadata_response(5, 4), 18: corpus.api_versions_response}
    message = catalog().response(key)
    assert message is not None
    body = bodies[key]() if key in bodies else kwire.encode(getattr(kwire.messages, message.name)(), version)
    return framed(number.to_bytes(4, "big") + (b"" if key == 18 else b"\0") + body)


def of_one_client(corpus: Corpus, count: int, skip: tuple[int, ...]) -> list[Exchange]:
    made: list[Exchange] = []
    while len(made) < count:
        for frame in corpus.request_stream(count):
            key, version, _, size = _HEAD.unpack_from(frame)
            if key in skip or len(made) == count:
                continue
            request = header(key, version, len(made), CLIENT) + frame[_HEAD.size + size + 1 :]
            made.append((framed(request), answer_to(corpus, key, version, len(made))))
    return made


@pytest.fixture(scope="module")
def exchanges() -> list[Exchange]:
    return of_one_client(Corpus(), 1000, skip=(18,))


def warmed(make: Callable[..., Any], first: Exchange, bodies: tuple[int, ...] = ()) -> Any:
    connection = make(bodies=bodies)
    connection.receive_request_bytes(first[0], 0)
    connection.receive_response_bytes(first[1], 0)
    return connection


def fed(connection: Any, pieces: list[Exchange]) -> int:
    """Hand pieces of both directions to a connection in turns; gives how many events it told."""
    events = 0
    for at, (requests, responses) in enumerate(pieces):
        events += len(connection.receive_request_bytes(requests, at, at))
        events += len(connection.receive_response_bytes(responses, at, at))
    return events


@pytest.mark.parametrize("who", ["native", "pure", "struct loop"])
def test_frames_passed_through(race: Callable[..., None], exchanges: list[Exchange], who: str) -> None:
    connection = warmed(makers()[who], exchanges[0])

    def run() -> int:
        return fed(connection, exchanges)

    assert run() == len(exchanges)
    race("tracked frames", who, run, messages=2 * len(exchanges), size=sum(map(len, sum(exchanges, ()))))


@pytest.mark.parametrize("who", ["native", "pure"])
def test_many_frames_in_a_piece(race: Callable[..., None], exchanges: list[Exchange], who: str) -> None:
    connection = warmed(makers()[who], exchanges[0])
    pieces = [
        (b"".join(each[0] for each in exchanges[at : at + 50]), b"".join(each[1] for each in exchanges[at : at + 50]))
        for at in range(0, len(exchanges), 50)
    ]

    def run() -> int:
        return fed(connection, pieces)

    assert run() == len(exchanges)
    race("tracked frames 50 at once", who, run, messages=2 * len(exchanges), size=sum(map(len, sum(pieces, ()))))


@pytest.mark.parametrize("who", ["native", "pure"])
def test_frames_in_segments(race: Callable[..., None], exchanges: list[Exchange], who: str) -> None:
    connection = warmed(makers()[who], exchanges[0])
    cut = [tuple([data[at : at + SEGMENT] for at in range(0, len(data), SEGMENT)] for data in exchange) for exchange in exchanges]

    def run() -> int:
        rows = 0
        for at, (requests, responses) in enumerate(cut):
            for piece in requests:
                rows += len(connection.receive_request_bytes(piece, at, at))
            for piece in responses:
                rows += len(connection.receive_response_bytes(piece, at, at))
        return rows

    assert run() == len(exchanges)
    race("tracked frames in segments", who, run, messages=2 * len(exchanges), size=sum(map(len, sum(exchanges, ()))))


@pytest.mark.parametrize("who", ["native", "pure"])
def test_connections_with_identity(race: Callable[..., None], who: str) -> None:
    """Ten connections of a hundred exchanges, of which two are read."""
    corpus = Corpus()
    make = makers()[who]
    opening = framed(header(18, 3, 0, CLIENT) + corpus.api_versions_request()), answer_to(corpus, 18, 3, 0)
    metadata = framed(header(3, 12, 1, CLIENT) + corpus.metadata_request()), answer_to(corpus, 3, 12, 1)
    played = [opening, metadata, *of_one_client(corpus, 98, skip=(3, 18))]

    def run() -> int:
        rows = 0
        for _ in range(10):
            connection = make(bodies=(3,))
            rows += fed(connection, played)
            assert connection.summary().software_name == "apache-kafka-java"
        return rows

    assert run() > 1000
    race("tracked frames and identity", who, run, messages=2000, size=10 * sum(map(len, sum(played, ()))))


@pytest.mark.parametrize("who", ["native", "pure"])
def test_frames_with_bodies(race: Callable[..., None], who: str) -> None:
    exchanges = of_one_client(RecordCorpus(), 1000, skip=(18,))
    connection = makers()[who](bodies=None)

    def run() -> int:
        return fed(connection, exchanges)

    assert run() > len(exchanges)
    race("tracked frames and bodies", who, run, messages=2 * len(exchanges), size=sum(map(len, sum(exchanges, ()))))
