"""What the steps of a group say together: the protocol type of a sync that does not tell it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kwire.analysis.group_events import group_events
from kwire.analysis.row_sums import STEPS

NO_NAMES = pa.table({"topic_id": pa.array([], pa.string()), "topic": pa.array([], pa.string())})


def step(group: str, time: int, event: str, protocol_type: str | None, assignment: list[str] | None = None) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(STEPS.names)
    return row | {
        "group_id": group, "time": time, "event": event, "protocol": "classic", "protocol_type": protocol_type, "assignment": assignment,
        "connection_id": "c", "request_index": time, "error_code": 0,
    }  # fmt: skip


def test_a_sync_that_does_not_tell_its_type_has_that_of_the_join_before() -> None:
    spelled = ["orders-0"]
    steps = [
        step("billing", 1, "join", "consumer"), step("billing", 2, "sync", None, spelled), step("billing", 3, "leave", None),
        step("connect", 1, "join", "connect"), step("connect", 2, "sync", None, spelled),
        step("registry", 1, "sync", None, spelled),  # nobody has told it yet
        step("registry", 2, "join", "sr"), step("registry", 3, "sync", None, spelled), step("registry", 4, "sync", "sr"),
        step("registry", 5, "join", "consumer"), step("registry", 6, "sync", None, spelled),
        step("other", 1, "sync", None, spelled),
    ]  # fmt: skip
    rows = group_events({"group_steps": pa.Table.from_pylist(steps, schema=STEPS), "topic_names": NO_NAMES}).to_pylist()
    told = [(row["group_id"], row["protocol_type"], row["assignment"]) for row in rows if row["event"] in ("sync", "leave")]
    assert told == [
        ("billing", "consumer", spelled), ("billing", None, None),
        ("connect", "connect", spelled), ("other", None, spelled),
        ("registry", None, spelled), ("registry", "sr", None), ("registry", "sr", None), ("registry", "consumer", spelled),
    ]  # fmt: skip


def test_no_steps() -> None:
    assert group_events({"group_steps": STEPS.empty_table(), "topic_names": NO_NAMES}).num_rows == 0


def test_assignments_by_topic_id_have_the_names_that_the_captures_tell() -> None:
    """KIP-848 and KIP-932 assign partitions of topic ids; a subtopology of KIP-1071 and a topic of a classic group are no ids."""
    given = ["AAAAAAAAAAAAAAAAAAAAAQ:0,1", "AAAAAAAAAAAAAAAAAAAAAg:2"]
    steps = [
        step("g", time, "consumer_heartbeat", None, assignment) | {"protocol": protocol}
        for time, (protocol, assignment) in enumerate(
            [("consumer", given), ("share", given[:1]), ("streams", given), ("classic", given), ("consumer", None), ("consumer", [])]
        )
    ]
    names = pa.table({"topic_id": ["AAAAAAAAAAAAAAAAAAAAAQ"], "topic": ["orders"]})
    rows = group_events({"group_steps": pa.Table.from_pylist(steps, schema=STEPS), "topic_names": names}).to_pylist()
    assert [row["assignment"] for row in rows if row["event"] == "consumer_heartbeat"] == [
        ["orders:0,1", given[1]], ["orders:0,1"], given, given, None, [],
    ]  # fmt: skip
