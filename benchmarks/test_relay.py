"""The relay without sockets, in reads as a loop makes them: CPU time an exchange, which is a request and its response.

`relay heartbeats` has frames of about 70 bytes, `relay produces` requests of 16 KB and small responses; no rule touches them, and every
exchange is counted. The peers are the tracker over the same reads with no body read, and a copy of the same bytes.

`relay renames` adds a prefix to the topic of each Produce and takes it off in each response, by edits that need no Python.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest

import kwire
from kwire import messages
from kwire.codec import AddPrefix, Edit, EditChanges, RemovePrefix
from kwire.protocol.relay import Relay, RelayCounters, RelayPlan, RelayRule

READ = 1 << 18
Reads = tuple[list[bytes], list[bytes]]


def _framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def _heartbeat(number: int) -> bytes:
    return _framed(struct.pack(">hhih6s", 12, 0, number, 6, b"client") + struct.pack(">h20sih16s", 20, b"g" * 20, 7, 16, b"m" * 16))


def _produce(number: int) -> bytes:
    return _framed(struct.pack(">hhih6s", 0, 8, number, 6, b"client") + struct.pack(">hhi", -1, -1, 30000) + bytes(16_360))


def _reads(request: Callable[[int], bytes], count: int) -> Reads:
    requests = b"".join(request(number) for number in range(count))
    responses = b"".join(_framed(struct.pack(">iih", number, 0, 0) + bytes(56)) for number in range(count))
    return tuple([data[at : at + READ] for at in range(0, len(data), READ)] for data in (requests, responses))  # type: ignore[return-value]


def _relayed(reads: Reads, plan: RelayPlan, counters: Any) -> None:
    relay = Relay(plan, counters=counters)
    for data in reads[0]:
        relay.from_client(data, 1)
    for data in reads[1]:
        relay.from_server(data, 2)
    assert relay.is_idle


def _tracked(reads: Reads) -> None:
    connection = kwire.Connection(bodies=())
    for data in reads[0]:
        connection.receive_request_bytes(data, 1)
    for data in reads[1]:
        connection.receive_response_bytes(data, 2)


def _copied(reads: Reads, buffer: bytearray) -> None:
    for side in reads:
        for data in side:
            buffer[: len(data)] = data


@pytest.mark.parametrize("implementation", ["relay", "relay without counters", "tracker", "memcpy"])
@pytest.mark.parametrize(("work", "request_of", "count"), [("relay heartbeats", _heartbeat, 2000), ("relay produces", _produce, 200)])
def test_relay(benchmark: Any, work: str, request_of: Callable[[int], bytes], count: int, implementation: str) -> None:
    benchmark.group = f"{work}, {count} exchanges"
    reads, plan, buffer = _reads(request_of, count), RelayPlan(), bytearray(READ)
    if implementation == "relay":
        benchmark(_relayed, reads, plan, RelayCounters())
    elif implementation == "relay without counters":
        benchmark(_relayed, reads, plan, None)
    elif implementation == "tracker":
        benchmark(_tracked, reads)
    else:
        benchmark(_copied, reads, buffer)


def _named(count: int, size: int) -> Reads:
    """Produces v9 for the topic `orders` and the broker's responses, which say `acme.orders`."""
    asked, said = messages.ProduceRequest, messages.ProduceResponse
    sent = asked.TopicProduceData(name="orders", partition_data=[asked.PartitionProduceData(index=0, records=bytes(size))])
    request = kwire.encode_request(
        messages.RequestHeader(api_key=0, api_version=9, correlation_id=0, client_id="client"),
        asked(acks=-1, timeout_ms=30000, topic_data=[sent]),
    )
    answered = said.TopicProduceResponse(name="acme.orders", partition_responses=[said.PartitionProduceResponse(index=0)])
    response = kwire.encode_response(0, said(responses=[answered]), 0, 9)
    numbers = [number.to_bytes(4, "big") for number in range(count)]
    requests = b"".join(_framed(request[:4] + number + request[8:]) for number in numbers)
    responses = b"".join(_framed(number + response[4:]) for number in numbers)
    return tuple([data[at : at + READ] for at in range(0, len(data), READ)] for data in (requests, responses))  # type: ignore[return-value]


@pytest.mark.parametrize("what", ["renamed", "passed"])
@pytest.mark.parametrize(("size", "count"), [(1024, 2000), (16_384, 200)])
def test_renames(benchmark: Any, size: int, count: int, what: str) -> None:
    benchmark.group = f"relay renames, {size} bytes, {count} exchanges"
    added, removed = EditChanges(topics=AddPrefix("acme.")), EditChanges(topics=RemovePrefix("acme.", foreign="drop"))
    rules = [
        RelayRule("request", 0, (9,), Edit("request", 0, 9, added)),
        RelayRule("response", 0, (9,), Edit("response", 0, 9, removed)),
    ]
    benchmark(_relayed, _named(count, size), RelayPlan(rules if what == "renamed" else ()), RelayCounters())
