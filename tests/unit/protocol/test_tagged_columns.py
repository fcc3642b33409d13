"""Columns of `requests` that lie in tagged fields: hand-worked Fetch v15 with and without the tags, through both trackers.

The table of columns is read once a process, so a process of its own has one in which three columns come from other fields.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import pytest

FIELDS = {
    "rack_id": ("request", "cluster_id"),  # tag 0, null without it
    "max_wait_ms": ("request", "replica_state.replica_id"),  # tag 1 holds the struct; -1 without it
    "throttle_time_ms": ("response", "responses.partitions.current_leader.leader_id"),  # tag 1 of each partition; -1 without it
}

READER = """
import json, sys
from kwire.protocol import row_columns
fields = json.loads(sys.argv[1])
made = tuple(
    each._replace(source=row_columns.Body(fields[each.name][0], fields[each.name][1], api="Fetch")) if each.name in fields else each
    for each in row_columns.REQUEST_COLUMNS
)
row_columns.REQUEST_COLUMNS = made
row_columns.BODY_COLUMNS = tuple(each for each in made if isinstance(each.source, row_columns.Body))
row_columns.REQUEST_BODIES, row_columns.RESPONSE_BODIES = row_columns._bodies("request"), row_columns._bodies("response")

from kwire.codec.impl import load_twin
from kwire.protocol.tracking import exchange
from kwire.protocol.tracking.connection import Connection

def read_in_python(message, fields):
    raise AssertionError("the native tracker leaves this body to Python")

def framed(text):
    frame = bytes.fromhex(text)
    return len(frame).to_bytes(4, "big") + frame

first = framed("000c 0000 00000000 0003 617070 0002 6731 00000000 0001 6d"), framed("00000000 0000")
column_values = exchange.column_values
found = {}
for twin, make in ("pure", Connection), ("native", load_twin("protocol", "tracker", "native").Connection):
    found[twin] = []
    for request, response in json.loads(sys.argv[2]):
        tracker = make()
        exchange.column_values = column_values  # the first request of a connection decides who the client is, which is Python's
        tracker.receive_request_bytes(first[0], 0)
        tracker.receive_response_bytes(first[1], 0)
        if twin == "native":
            exchange.column_values = read_in_python
        events = tracker.receive_request_bytes(framed(request), 0) + tracker.receive_response_bytes(framed(response), 0)
        row, = (each for each in events if type(each).__name__ == "RequestCompleted")
        found[twin].append([row.rack_id, row.max_wait_ms, row.throttle_time_ms])
print(json.dumps(found))
"""

# Header version 2: api 1, version 15, correlation id 1, client id `app`, no tags. Body: max wait, least, most bytes, isolation level,
# session and its epoch, no topics, no forgotten topics, rack `r`
REQUEST = "0001 000f 00000001 0003 617070 00  00000064 00000001 00100000 00 00000000 ffffffff 01 01 02 72"
CLUSTER = "00 03 03 6b77"  # tag 0, 3 bytes: the compact string `kw`
REPLICA = "01 0d 00000007 0000000000000001 00"  # tag 1, 13 bytes: replica 7, epoch 1, no tags
# Header version 1: correlation id, no tags. Body: throttle time, error code, session, one topic
RESPONSE = "00000001 00  00000000 0000 00000000 02 00112233445566778899aabbccddeeff"
# Index, error code, high watermark, last stable and first offset, aborted: null, preferred replica, records: null
PARTITION = "00000000 0000 0000000000000009 0000000000000009 0000000000000000 00 ffffffff 00"
LEADER = "01 01 09 00000005 00000002 00"  # one tag: 1, 9 bytes: leader 5, epoch 2, no tags

CASES = {
    "no tags": ("00", "01 00", "00", [None, -1, None]),
    "a cluster id": ("01 " + CLUSTER, "01 00", "00", ["kw", -1, None]),
    "a null cluster id": ("01 00 01 00", "01 00", "00", [None, -1, None]),
    "a replica": ("01 " + REPLICA, "01 00", "00", [None, 7, None]),
    "both, and a tag of no version": (f"03 {CLUSTER} {REPLICA} 09 01 ff", "01 00", "00", ["kw", 7, None]),
    "a partition without its leader": ("00", f"02 {PARTITION} 00 00", "00", [None, -1, -1]),
    "a partition with its leader": ("00", f"02 {PARTITION} {LEADER} 00", "00", [None, -1, 5]),
    "the first partition counts": ("00", f"03 {PARTITION} 00 {PARTITION} {LEADER} 00", "00", [None, -1, -1]),
}


@cache
def rows() -> dict[str, list[list[str | int | None]]]:
    frames = [(f"{REQUEST} {tags}", f"{RESPONSE} {partitions} {end}") for tags, partitions, end, _ in CASES.values()]
    done = subprocess.run(
        [sys.executable, "-c", READER, json.dumps(FIELDS), json.dumps(frames)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[list[str | int | None]]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_column_of_a_tagged_field(twin: str, case: str) -> None:
    assert rows()[twin][[*CASES].index(case)] == CASES[case][3]
