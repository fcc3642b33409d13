"""Topics with their writers and readers, and what they lose, worked out by hand from a few rows."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.report.lineage import ClientTopics, SideRisk, Topic, read_lineage, read_topics_of_clients, topics_at_risk


@pytest.fixture
def topics_of(folder_of: Any) -> Any:
    def make(rows: list[dict[str, Any]], verdicts: dict[str, str] | None = None) -> tuple[Topic, ...]:
        judged = [{"client_key": key, "api_name": "Fetch", "api_version": 1, "target_release": "4.0.2", "verdict": verdict}
                  for key, verdict in (verdicts or {}).items()]  # fmt: skip
        return read_lineage(folder_of(topic_access=rows, upgrade_impact=judged))

    return make


def access(client: str, topic: str | None, direction: str, records: int, **more: Any) -> dict[str, Any]:
    whole = {"client_key": f"key-{client}", "client_id": client, "topic": topic, "direction": direction, "records": records}
    return {**whole, "bytes": records * 10, **more}


ROWS = [
    access("writer", "orders", "produce", 5, compression=["zstd", "none"], magic=[1, 2]),
    access("other", "orders", "produce", 9),
    access("reader", "orders", "fetch", 7, group_ids=["g", "h"]),
    access("reader", "quiet", "fetch", 0, group_ids=["h"]),
    access("", None, "fetch", 1, topic_id="AAAAAAAAAAAAAAAAAAAAAQ"),
]


def test_a_topic_has_its_writers_and_readers_the_busiest_first(topics_of: Any) -> None:
    orders, nameless, quiet = topics_of(ROWS)
    assert (orders.name, orders.records_written, orders.bytes_written, orders.records_read) == ("orders", 14, 140, 7)
    assert [use.client for use in orders.writers] == ["other", "writer"]
    assert [(use.client, use.groups) for use in orders.readers] == [("reader", ("g", "h"))]
    assert orders.formats == ("message format v1", "uncompressed", "zstd")
    assert (nameless.name, nameless.resolved, nameless.readers[0].client) == ("id AAAAAAAAAAAAAAAAAAAAAQ", False, "without a name")
    assert (quiet.name, quiet.writers, quiet.resolved) == ("quiet", (), True)


def test_a_client_has_its_topics_and_groups_each_once(folder_of: Any) -> None:
    clients = [{"client_key": f"key-{name}"} for name in ("writer", "other", "reader")]
    found = read_topics_of_clients(folder_of(topic_access=ROWS, clients=clients))
    assert found["key-reader"] == ClientTopics(reads=("orders", "quiet"), groups=("g", "h"))
    assert found["key-writer"] == ClientTopics(writes=("orders",))


def test_a_topic_says_how_many_producers_and_consumers_break(topics_of: Any) -> None:
    verdicts = {"key-writer": "breaks", "key-other": "compatible", "key-reader": "unknown"}
    risks = {risk.name: risk for risk in topics_at_risk(topics_of(ROWS, verdicts))}
    orders = risks["orders"]
    assert orders.producers == SideRisk(clients=2, breaks=1, unknown=0)
    assert orders.consumers == SideRisk(clients=1, breaks=0, unknown=1)
    assert (orders.worst, orders.is_stopped) == ("breaks", False)
    assert (risks["quiet"].worst, risks["id AAAAAAAAAAAAAAAAAAAAAQ"].worst) == ("unknown", "compatible")


def test_topics_that_stop_come_first_then_those_that_lose_most(topics_of: Any) -> None:
    rows = [
        *(access(f"old{n}", "busy", "produce", 900) for n in range(3)), access("new", "busy", "produce", 900),
        access("old0", "stops", "produce", 1), access("new", "stops", "fetch", 1), access("new", "safe", "produce", 5_000),
    ]  # fmt: skip
    verdicts = {**{f"key-old{n}": "breaks" for n in range(3)}, "key-new": "compatible"}
    risks = topics_at_risk(topics_of(rows, verdicts))
    assert [(risk.name, risk.breaks, risk.is_stopped) for risk in risks] == [
        ("stops", 1, True), ("busy", 3, False), ("safe", 0, False),
    ]  # fmt: skip
