"""What members of groups are assigned and told, on hand-worked bytes: the tasks of Connect, the status of a Streams group."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_bytes import text
from kwire import messages
from kwire.protocol.events import RequestCompleted
from kwire.protocol.tracking.group_steps import assignment_of, group_step

LEADER = b"\0\0" + text("w-1") + text("http://w1:8083/") + (7).to_bytes(8, "big")  # error, leader, its URL, offset of the configuration
SINK = text("sink") + b"\0\0\0\x03" + b"\xff\xff\xff\xff" + b"\0\0\0\0" + b"\0\0\0\1"  # CONNECTOR_TASK (-1), tasks 0 and 1
FILE = text("file") + b"\0\0\0\x01" + b"\0\0\0\x02"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        # ConnectProtocol.ASSIGNMENT_V0: eager
        (b"\0\0" + LEADER + b"\0\0\0\2" + SINK + FILE, [("file", [2]), ("sink", [-1, 0, 1])]),
        (b"\0\0" + LEADER + b"\0\0\0\0", []),
        # IncrementalCooperativeConnectProtocol.ASSIGNMENT_V1: nullable, then what is revoked, and the delay
        (b"\0\1" + LEADER + b"\0\0\0\1" + FILE + b"\xff\xff\xff\xff" + b"\0\0\0\0", [("file", [2])]),
        (b"\0\1" + LEADER + b"\xff\xff\xff\xff" * 2 + b"\0\0\0\0", None),
        (b"\0\0" + LEADER, None),  # cut
        (b"", None),
    ],
)
def test_tasks_of_connect_by_connector(data: bytes, expected: Any) -> None:
    assert assignment_of("connect", data) == expected


def test_a_sync_without_a_type_has_that_of_its_bytes() -> None:
    """SyncGroup below version 5 does not say it (KIP-559)."""
    assert assignment_of(None, b"\0\0" + LEADER + b"\0\0\0\2" + SINK + FILE) == [("file", [2]), ("sink", [-1, 0, 1])]
    consumer = b"\0\0" + b"\0\0\0\1" + text("orders") + b"\0\0\0\1" + b"\0\0\0\3" + b"\xff\xff\xff\xff"
    assert assignment_of(None, consumer) == assignment_of("", consumer) == [("orders", [3])]


def test_what_nothing_decodes_is_null() -> None:
    assert assignment_of("schema-registry", b"\0\1{}") is None


def test_a_streams_heartbeat_tells_its_status() -> None:
    request = messages.StreamsGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=3)
    status = messages.StreamsGroupHeartbeatResponse.Status
    response = messages.StreamsGroupHeartbeatResponse(
        member_id="m", member_epoch=3, status=[status(status_code=1, status_detail="topic orders is missing"), status(status_code=6)]
    )
    row = RequestCompleted(request_index=0, api_key=88, group_id="g", error_code=0)
    step = group_step(row, request, response)
    assert step is not None
    assert step.reason == "MISSING_SOURCE_TOPICS: topic orders is missing; MISSING_CLIENT_TAGS"
    response.status = None
    assert group_step(row, request, response) is None  # a heartbeat that says nothing
