"""Error codes that are steps of the protocol are no errors: in the column, in sums, and in the table for readers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from kafka_bytes import api_versions, framed, head, heartbeat, ok
from kwire.codec.impl import Twin
from kwire.protocol.expected_errors import EXPECTED_ERRORS, are_errors, is_error
from kwire.schema import catalog, error_name
from made_packets import CLIENT, SERVER, Wire
from read_by_twins import tables_of

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "captures.md"
# by api key and code, from the texts of the KIPs and of org.apache.kafka.common.protocol.Errors
SAMPLES = [
    (11, 79, False),  # MEMBER_ID_REQUIRED (KIP-394)
    (12, 27, False),  # REBALANCE_IN_PROGRESS
    (8, 14, False),  # COORDINATOR_LOAD_IN_PROGRESS
    (18, 35, False),  # KIP-511
    (1, 35, True),  # a broker that does not convert messages down
    (1, 70, False),  # KIP-227
    (1, 71, False),
    (24, 51, False),  # CONCURRENT_TRANSACTIONS: the markers of the last transaction are being written
    (26, 51, True),
    (12, 25, True),  # UNKNOWN_MEMBER_ID
    (0, 6, True),  # NOT_LEADER_OR_FOLLOWER
    (0, -1, True),  # UNKNOWN_SERVER_ERROR
    (3, 0, False),
]


@pytest.mark.parametrize(("api_key", "code", "expected"), SAMPLES)
def test_one_code(api_key: int, code: int, expected: bool) -> None:
    assert is_error(api_key, code) is expected


def test_columns() -> None:
    keys, codes, expected = (np.array(column) for column in zip(*SAMPLES, strict=True))
    assert are_errors(keys.astype(np.int32), codes.astype(np.int32)).tolist() == expected.tolist()
    assert is_error(3, None) is None


def test_the_column_of_requests(twin: Twin) -> None:
    """ApiVersions v3 refused, JoinGroup v5 told its member id, Heartbeat told of a rebalance, then fenced, then not answered."""
    join = b"\0\1g" + bytes(4) * 2 + b"\0\0" + b"\xff\xff" + b"\0\1c" + bytes(4)
    member = bytes(4) + b"\0\x4f" + b"\xff\xff\xff\xff" + b"\0\0" * 2 + b"\0\1m" + bytes(4)
    wire = Wire()
    wire.shake()
    for request, response in (
        (api_versions(1, 3), framed(b"\0\0\0\1" + b"\0\x23" + b"\0\0\0\1\0\x12\0\0\0\3")),
        (framed(head(11, 5, 2) + join), framed(b"\0\0\0\2" + member)),
        (heartbeat(3), ok(3, 27)),
        (heartbeat(4), ok(4, 25)),
        (heartbeat(5), ok(5)),
        (heartbeat(6), b""),
    ):
        wire.send(CLIENT, request)
        if response:
            wire.send(SERVER, response)
    found = sorted(tables_of(twin, wire.packets)["requests"], key=lambda row: row["packet_number"])
    assert [(row["error_name"], row["is_error"]) for row in found] == [
        ("UNSUPPORTED_VERSION", False), ("MEMBER_ID_REQUIRED", False), ("REBALANCE_IN_PROGRESS", False), ("UNKNOWN_MEMBER_ID", True),
        ("NONE", False), (None, None),
    ]  # fmt: skip


def test_the_table_for_readers_has_every_step() -> None:
    """A line names the code, and the APIs if not all answer it so."""
    listed = re.findall(r"^\| `([A-Z_]+)` \| ([^|]*) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert listed == [
        (error_name(each.code), ", ".join(catalog().api_name(key) or "" for key in each.apis) or "all") for each in EXPECTED_ERRORS
    ]
