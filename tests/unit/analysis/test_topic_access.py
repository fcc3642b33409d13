"""Rows of topic_access from hand-made parts: names of topics that are known by id, and what several rows of one topic say together."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pyarrow as pa
import pytest

from kwire.analysis.partials import empty, merge, schema_of
from kwire.analysis.topic_access import topic_access

SEEN = datetime(2026, 9, 8, 10, tzinfo=timezone.utc)
LATER = datetime(2026, 9, 8, 11, tzinfo=timezone.utc)
ONE, OTHER = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"


def part(name: str, *rows: dict[str, Any]) -> dict[str, pa.Table]:
    return {name: pa.Table.from_pylist([dict.fromkeys(schema_of(name).names) | row for row in rows], schema=schema_of(name))}


def use(topic: str | None, topic_id: str | None, **more: Any) -> dict[str, Any]:
    known = {"client_key": "k", "client_id": "app", "direction": "fetch", "requests": 1, "errors": 0, "first_seen": SEEN, "last_seen": SEEN}
    return {**known, "topic": topic, "topic_id": topic_id, **more}


def rows(**tables: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    parts = empty()
    for name, of_table in tables.items():
        parts |= part(name, *of_table)
    return topic_access(merge([parts])).to_pylist()


def named(topic: str, topic_id: str) -> dict[str, Any]:
    return {"topic": topic, "topic_id": topic_id, "first_seen": SEEN, "last_seen": SEEN}


def test_a_topic_by_name_here_and_by_id_there_is_one_row() -> None:
    (row,) = rows(
        topic_use=(use("orders", None, records=2, last_seen=LATER), use(None, ONE, requests=4, records=3, max_batch_bytes=70)),
        topic_names=(named("orders", ONE),),
    )
    assert (row["topic"], row["topic_id"], row["requests"], row["records"], row["max_batch_bytes"]) == ("orders", ONE, 5, 5, 70)
    assert (row["first_seen"], row["last_seen"]) == (SEEN, LATER)


def test_a_topic_that_was_made_again_has_two_ids_and_the_name_alone_stays_without() -> None:
    found = rows(
        topic_use=(use("orders", None), use(None, ONE), use(None, OTHER)), topic_names=(named("orders", ONE), named("orders", OTHER))
    )
    assert [(row["topic"], row["topic_id"]) for row in found] == [("orders", None), ("orders", ONE), ("orders", OTHER)]


def test_an_id_that_nothing_names_stays_an_id() -> None:
    (row,) = rows(topic_use=(use(None, ONE),))
    assert (row["topic"], row["topic_id"]) == (None, ONE)


def test_what_no_part_knows_is_null() -> None:
    (row,) = rows(topic_use=(use("orders", None, first_seen=None, last_seen=None), use("orders", "", records=None, first_seen=None)))
    assert (row["records"], row["bytes"], row["first_seen"]) == (None, None, None)


def test_marks_are_lists_of_the_use_they_belong_to() -> None:
    def mark(kind: str, value: int, direction: str = "fetch") -> dict[str, Any]:
        whose = {"client_key": "k", "client_id": "app", "direction": direction, "topic": "orders", "topic_id": None}
        return {**whose, "mark": kind, "value": value, "connections": 1}

    (row,) = rows(
        topic_use=(use("orders", None),),
        topic_marks=(
            mark("compression", 4), mark("compression", 0), mark("compression", 9), mark("partitions", 10), mark("partitions", 9),
            mark("error_codes", 3), mark("magic", 2), mark("acks", -1, "produce"),
        ),
    )  # fmt: skip
    assert row["compression"] == ["none", "unknown 9", "zstd"]
    assert (row["partitions"], row["magic"], row["acks"]) == ([9, 10], [2], [])
    assert row["error_names"] == ["UNKNOWN_TOPIC_OR_PARTITION"]


@pytest.mark.parametrize(("direction", "groups"), [("fetch", ["billing", "shipping"]), ("produce", [])])
def test_groups_are_of_clients_that_fetch(direction: str, groups: list[str]) -> None:
    used = tuple({"client_key": "k", "client_id": "app", "group_id": group, "requests": 1} for group in ("shipping", "billing"))
    who = {"client_key": "k", "client_id": "app", "software_name": "n", "address": "10.0.0.1", "principal": "User:a"}
    (row,) = rows(topic_use=(use("orders", None, direction=direction),), group_use=used, identities=(who, {**who, "address": "10.0.0.2"}))
    assert row["group_ids"] == groups
    assert (row["software_name"], row["addresses"], row["principals"]) == ("n", ["10.0.0.1", "10.0.0.2"], ["User:a"])
