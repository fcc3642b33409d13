"""What the taps of a proxy cost an exchange: Produce v9 with a batch of 1 KB and its response, each given as one read.

`tap of 1 KB exchanges` makes packets without secrets, `request log of 1 KB exchanges` lines. The peers are the readable twins: the
pure tracker, the pure blanking, and packets put together in Python; for lines, decoded messages and Python's JSON writer.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import kwire
from kwire import messages
from kwire.capture.request_logs.exchange_entries import exchange_entry, exchange_line
from kwire.codec import records
from kwire.protocol import Connection
from kwire.protocol.events import RequestCompleted
from kwire.protocol.impl import frame_blanker
from kwire.protocol.secrets.frame_blanking import FrameBlanker
from kwire.protocol.tracking.connection import Connection as PureConnection
from kwire.proxy import tapped_connection, taps
from kwire.proxy.rules.rule import Peer

COUNT = 500
PEER, LOCAL = Peer("10.0.0.9", 50_000, 1), ("10.0.0.1", 9092)
TIME = 1_700_000_000_000_000_000


class Nowhere:
    """Stands for the file."""

    def offer(self, packets: bytes) -> bool:
        return True


def _framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def _exchanges() -> list[tuple[bytes, bytes]]:
    asked, said = messages.ProduceRequest, messages.ProduceResponse
    batch = records.encode(records.RecordBatch([(b"key", bytes(230), TIME // 1_000_000)] * 4))
    sent = asked.TopicProduceData(name="orders", partition_data=[asked.PartitionProduceData(index=0, records=batch)])
    answered = said.TopicProduceResponse(name="orders", partition_responses=[said.PartitionProduceResponse(index=0, base_offset=7)])
    made = []
    for number in range(COUNT):
        header = messages.RequestHeader(api_key=0, api_version=9, correlation_id=number, client_id="client")
        request = kwire.encode_request(header, asked(acks=-1, timeout_ms=30000, topic_data=[sent]))
        made.append((_framed(request), _framed(kwire.encode_response(number, said(responses=[answered]), 0, 9))))
    return made


@pytest.mark.parametrize("who", ["native", "pure"])
def test_tap(race: Any, who: str) -> None:
    exchanges = _exchanges()

    def run() -> None:
        if who == "native":
            tap: Any = taps.TappedConnection(Nowhere(), PEER, LOCAL, 65_536, TIME)  # type: ignore[arg-type]
        else:
            tap = tapped_connection.TappedConnection(Nowhere(), PEER, LOCAL, 65_536, TIME)  # type: ignore[arg-type]
            tap._connection, tap._blanker = PureConnection(frames=True, bodies=()), FrameBlanker()
        for request, response in exchanges:
            tap.from_client(request, TIME)
            tap.to_client((response,), TIME)

    race("tap of 1 KB exchanges", who, run, COUNT, sum(len(request) + len(response) for request, response in exchanges))


@pytest.mark.parametrize("who", ["native", "decoded messages"])
def test_request_log(race: Any, who: str) -> None:
    (request, response), *_ = _exchanges()
    connection = Connection(bodies=())
    found = connection.receive_request_bytes(request, TIME) + connection.receive_response_bytes(response, TIME)
    (event,) = (each for each in found if isinstance(each, RequestCompleted))
    native, pure = frame_blanker()(), FrameBlanker()

    def run() -> None:
        for _ in range(COUNT):
            if who == "native":
                exchange_line(event, "a", request[4:], response[4:], {}, native)
            else:
                json.dumps(exchange_entry(event, "a", request[4:], response[4:], {}, pure), separators=(",", ":")).encode()

    race("request log of 1 KB exchanges", who, run, COUNT, COUNT * (len(request) + len(response)))
