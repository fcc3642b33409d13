"""Columns `rack_id` and `max_wait_ms` of `requests`: what a Fetch says of the rack of who fetches and of how long the broker may wait."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kwire.analysis.redaction import Redaction, Redactor
from kwire.tables import read_series
from made_packets import CLIENT
from read_by_twins import read_connection

# Key 1, version, correlation id 7, client id "c"; from version 12 on (header version 2) an empty section of tagged fields.
HEAD = "0001 {:04x} 00000007 0001 63"

# Replica id -1 up to version 14, 500 ms, at least 1 byte; from 3 on at most 1 MiB, from 4 on the isolation level, from 7 on id and epoch of
# a session; no topics, from 7 on no forgotten topics; from 11 on the rack (KIP-392), "" or "eu-1a".
FETCHES = [
    (0, "ffffffff 000001f4 00000001 00000000", None),
    (4, "ffffffff 000001f4 00000001 00100000 00 00000000", None),
    (10, "ffffffff 000001f4 00000001 00100000 00 00000000 ffffffff 00000000 00000000", None),
    (11, "ffffffff 000001f4 00000001 00100000 00 00000000 ffffffff 00000000 00000000 0005 65752d3161", "eu-1a"),
    (11, "ffffffff 000001f4 00000001 00100000 00 00000000 ffffffff 00000000 00000000 0000", ""),
    (12, "00 ffffffff 000001f4 00000001 00100000 00 00000000 ffffffff 01 01 06 65752d3161 00", "eu-1a"),
    (15, "00 000001f4 00000001 00100000 00 00000000 ffffffff 01 01 06 65752d3161 00", "eu-1a"),
    (17, "00 000001f4 00000001 00100000 00 00000000 ffffffff 01 01 01 00", ""),
]


def frame(version: int, body: str) -> bytes:
    return bytes.fromhex(HEAD.format(version) + body)


def row_of(frames: list[bytes], twin: str, snaplen: int = 1 << 16) -> dict[str, Any]:
    sink = read_connection([(CLIENT, each) for each in frames], twin, snaplen)
    rows: list[dict[str, Any]] = pa.Table.from_batches(sink.take("requests", whole=True)).to_pylist()
    assert len(rows) == len(frames)
    return max(rows, key=lambda row: row["request_index"])


@pytest.mark.parametrize(("version", "body", "rack"), FETCHES)
def test_a_fetch_of_a_capture(version: int, body: str, rack: str | None, twin: str) -> None:
    row = row_of([frame(version, body)], twin)
    assert (row["api_version"], row["body"]) == (version, "decoded")
    assert (row["rack_id"], row["max_wait_ms"]) == (rack, 500)


def test_other_requests_have_neither(twin: str) -> None:
    heartbeat = bytes.fromhex("000c 0000 00000008 0001 63 0001 67 00000001 0001 6d")  # v0: group "g", generation 1, member "m"
    row = row_of([frame(*FETCHES[3][:2]), heartbeat], twin)
    assert (row["api_name"], row["group_id"], row["rack_id"], row["max_wait_ms"]) == ("Heartbeat", "g", None, None)


def test_a_fetch_that_was_cut(twin: str) -> None:
    """Of the 55 bytes of a payload: length 4, header 11, replica id 4, max wait 4, 4 + 4 + 1 + 4 + 4 + 4 + 4, then 2 + 5 of the rack."""
    whole = frame(*FETCHES[3][:2])
    known = {}
    for kept in (18, 22, 23, 50, len(whole) + 3, len(whole) + 4):
        # a Heartbeat before it shows that the connection is Kafka's
        row = row_of([bytes.fromhex("000c 0000 00000006 0001 63 0001 67 00000001 0001 6d"), whole], twin, snaplen=kept)
        known[kept] = (row["rack_id"], row["max_wait_ms"])
    behind_rack = len(whole) + 4
    assert known == {
        18: (None, None), 22: (None, None), 23: (None, 500), 50: (None, 500), behind_rack - 1: (None, 500), behind_rack: ("eu-1a", 500),
    }  # fmt: skip


@pytest.mark.parametrize(("version", "rack"), [(4, None), (11, "eu-1a"), (12, "eu-1a")])
@pytest.mark.parametrize("form", ["json", "text"])
def test_a_fetch_of_a_request_log(form: str, version: int, rack: str | None, tmp_path: Path) -> None:
    body: dict[str, Any] = {"replicaId": -1, "maxWaitMs": 500, "minBytes": 1, "maxBytes": 1048576, "isolationLevel": 0, "topics": []}
    if version >= 7:
        body |= {"sessionId": 0, "sessionEpoch": -1, "forgottenTopicsData": []}
    if version >= 11:
        body |= {"rackId": "eu-1a"}
    header = {"requestApiKey": 1, "requestApiVersion": version, "correlationId": 7, "clientId": "c"}
    line = json.dumps(
        {
            "requestHeader": header, "request": body, "response": {"throttleTimeMs": 0, "responses": []},
            "connection": "10.0.0.1:9092-10.0.0.2:5000-0-1", "totalTimeMs": 2.5, "principal": "User:ANONYMOUS",
        }
    )  # fmt: skip
    if form == "text":  # as Kafka 2.4 to 2.7 printed them
        fields = f"replica_id=-1,max_wait_time=500,min_bytes=1,topics=[]{',rack_id=eu-1a' if rack else ''}"
        line = (
            f"Completed request:RequestHeader(apiKey=FETCH, apiVersion={version}, clientId=c, correlationId=7) -- {{{fields}}}"
            ",response:{throttle_time_ms=0,responses=[]} from connection 10.0.0.1:9092-10.0.0.2:5000-0;totalTime:2.5,requestQueueTime:0.1,"
            "localTime:2.0,remoteTime:0.0,responseQueueTime:0.1,sendTime:0.1,securityProtocol:PLAINTEXT,principal:User:ANONYMOUS,listener:PLAINTEXT"
        )
    log = tmp_path / "requests.log"
    log.write_text(f"[2026-01-01 00:00:00,000] DEBUG {line} (kafka.request.logger)\n")
    with read_series([str(log)]) as rows:
        (row,) = rows.table("requests").to_pylist()
    assert (row["rack_id"], row["max_wait_ms"]) == (rack, 500)


def test_racks_are_hashed() -> None:
    rows = pa.table({"rack_id": pa.array(["eu-1a", "", None]), "max_wait_ms": pa.array([500, 500, None], pa.int32())})
    redacted = Redactor(Redaction(key=b"0123456789abcdef")).batch("requests", rows.to_batches()[0])
    tokens = redacted.column("rack_id").to_pylist()
    assert tokens[0].startswith("rack-")
    assert "eu-1a" not in tokens[0]
    assert tokens[1:] == ["", None]
    assert redacted.column("max_wait_ms").to_pylist() == [500, 500, None]
