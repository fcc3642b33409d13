"""Both twins say of a body that a string in it is not UTF-8, be it one that a row needs or one that is stepped over; and once a body."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.codec.impl import load_twin
from kwire.protocol.tracking.connection import Connection as PureConnection
from one_connection import CLIENT, SERVER, read_connection

HEAD = "00000007 0003 617070"
GROUP_STATE = "0006 537461626c65"
# request, response; what is wrong in which
PLAIN_METADATA = "0003 0001" + HEAD + "00000000"
EXCHANGES = {
    "Metadata v1: a broker's host": (PLAIN_METADATA, "00000007 00000001 00000001 0003 c328ff 00002384 ffff 00000001 00000000", "response"),
    "Metadata v1: a broker's rack": (PLAIN_METADATA, "00000007 00000001 00000001 0001 68 00002384 0002 c080 00000001 00000000", "response"),
    "Metadata v1: a topic's name": ("0003 0001" + HEAD + "00000002 0001 61 0002 edff", "00000007 00000000 ffffffff 00000000", "request"),
    "DescribeGroups v0: a member's host": (
        "000f 0000" + HEAD + "00000001 0001 67",
        "00000007 00000001 0000 0001 67" + GROUP_STATE + "0001 63 0001 72 00000001 0001 6d 0001 63 0001 ff 00000000 00000000",
        "response",
    ),
    "Heartbeat v0: the member": ("000c 0000" + HEAD + "0001 67 00000000 0002 c328", "00000007 0000", "request"),
    "all is UTF-8": (PLAIN_METADATA, "00000007 00000001 00000001 0002 c3a9 00002384 ffff 00000001 00000000", ""),
}  # fmt: skip


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


@pytest.mark.parametrize("name", EXCHANGES)
def test_the_tables_say_it(name: str) -> None:
    request, response, direction = EXCHANGES[name]
    frames = [(CLIENT, bytes.fromhex(request)), (SERVER, bytes.fromhex(response))] * 2
    found: list[list[dict[str, Any]]] = []
    for twin in ("pure", "native"):
        sink = read_connection(frames, twin)
        batches = [*sink.violations.take(whole=True)]
        found.append([row for batch in batches for row in batch.to_pylist()])
    assert found[0] == found[1]
    assert [row["rule"] for row in found[0]] == ["string_not_utf8"] * (2 if direction else 0)
    assert all(f"{direction}" in row["explanation"] for row in found[0])


@pytest.mark.parametrize("bodies", [None, (3, 12, 15)], ids=["all bodies", "some"])
@pytest.mark.parametrize("name", EXCHANGES)
def test_the_trackers_say_it(name: str, bodies: tuple[int, ...] | None) -> None:
    request, response, direction = EXCHANGES[name]
    said = []
    for make in (load_twin("protocol", "tracker", "native").Connection, PureConnection):
        one, events = make(bodies=bodies), []
        for at in range(3):
            events += one.receive_request_bytes(framed(bytes.fromhex(request)), at)
            events += one.receive_response_bytes(framed(bytes.fromhex(response)), at)
        said.append(events)
    assert said[0] == said[1]
    assert [event.rule for event in said[0] if hasattr(event, "rule")] == ["string_not_utf8"] * (3 if direction else 0)
