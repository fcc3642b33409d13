"""Digests: what a report shows, in tables with a bound; all is counted, whatever is left out, and any division gives the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from kwire.analysis.digests import (
    EVERYTHING,
    PAGE,
    TIME_COLUMNS,
    Digest,
    Limits,
    RowDigest,
    Wanted,
    digest_of_answers,
    merge_digests,
    openings_of,
)
from kwire.analysis.digests.storing import DIGEST_FILE
from kwire.report import render_report
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.fleet import read_fleet
from kwire.report.group_lines import read_group_lines
from kwire.report.inventory import read_clients
from kwire.report.lineage import read_lineage
from kwire.report.verdicts import read_upgrade_matrix
from kwire.tables.schemas import SCHEMAS

START = datetime(2026, 9, 8, 10, 0, tzinfo=timezone.utc)
KEYS = [f"key-{number}" for number in range(6)]


def impact(key: str, verdict: str, target: str = "4.0.2", requests: int = 1, version: int = 1) -> dict[str, Any]:
    return {
        "client_key": key, "api_name": "Fetch", "api_version": version, "requests": requests, "target_release": target, "verdict": verdict,
    }  # fmt: skip


def table(name: str, rows: Sequence[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist([dict.fromkeys(SCHEMAS[name].names) | row for row in rows], schema=SCHEMAS[name])


def digest_of(limits: Limits = PAGE, connections: Sequence[dict[str, Any]] = (), **tables: Sequence[dict[str, Any]]) -> Digest:
    answers = {name: table(name, rows) for name, rows in tables.items()}
    return digest_of_answers(answers, openings_of(table("connections", connections)), limits)


def counts(fleet: pa.Table) -> dict[tuple[str, str], int]:
    return {(row["kind"], row["verdicts"]): row["clients"] for row in fleet.to_pylist()}


def test_all_clients_are_counted_and_the_worst_are_kept() -> None:
    """Six clients of one verdict each; the two places go to the ones that break, in the order of their requests."""
    verdicts = ("compatible", "breaks", "deprecated", "breaks", "unknown", "breaks")
    rows = [impact(key, verdict, requests=number) for number, (key, verdict) in enumerate(zip(KEYS, verdicts, strict=True))]
    clients = [{"client_key": key, "requests": 1, "role": "client"} for key in KEYS]
    digest = digest_of(replace(PAGE, listed=2, urgent=0, drawn=0), clients=clients, upgrade_impact=rows)
    assert digest["clients"].column("client_key").to_pylist() == ["key-3", "key-5"]
    assert digest["findings"].column("client_key").to_pylist() == ["key-3", "key-5"]
    assert counts(digest["fleet"]) == {
        ("application", "4.0.2=compatible"): 1, ("application", "4.0.2=deprecated"): 1, ("application", "4.0.2=unknown"): 1,
        ("application", "4.0.2=breaks"): 3,
    }  # fmt: skip


def test_a_client_that_breaks_is_kept_though_the_list_is_full() -> None:
    """It has an action item."""
    rows = [impact(key, "breaks") for key in KEYS]
    clients = [{"client_key": key, "role": "client"} for key in KEYS]
    digest = digest_of(replace(PAGE, listed=2, urgent=5, drawn=0), clients=clients, upgrade_impact=rows)
    assert digest["clients"].num_rows == 5


def test_verdicts_are_the_worst_at_each_release() -> None:
    """4.0.2 before 4.10.0: releases are not in the order of their letters. Two uses at one release: the worse one counts."""
    rows = [
        impact("key-0", "compatible", "4.10.0"), impact("key-0", "deprecated", "4.10.0", version=2), impact("key-0", "compatible", "4.0.2"),
        impact("key-1", "breaks", "4.10.0"),
    ]  # fmt: skip
    digest = digest_of(upgrade_impact=rows)
    found = dict(zip(*(digest["clients"].column(name).to_pylist() for name in ("client_key", "verdicts")), strict=True))
    assert found == {"key-0": "4.0.2=compatible 4.10.0=deprecated", "key-1": "4.10.0=breaks"}
    (ok,) = (row["versions_ok"] for row in digest["clients"].to_pylist() if row["client_key"] == "key-0")
    assert ok == 1  # version 1 of two


@pytest.mark.parametrize("buckets", [2, 6])
def test_buckets_come_together_to_the_whole(buckets: int) -> None:
    """A client is in one bucket with all that it does; what adds up does so over buckets, and top lists are those of all."""
    clients = [{"client_key": key, "software_name": "lib", "requests": 7, "connections": 2, "role": "client"} for key in KEYS]
    rows = [impact(key, ("compatible", "breaks")[number % 2], requests=number) for number, key in enumerate(KEYS)]
    topics = [
        {"client_key": key, "client_id": key, "topic": "orders", "direction": ("produce", "fetch")[number % 2], "records": number}
        for number, key in enumerate(KEYS)
    ]
    usage = [
        {"client_key": key, "api_key": 3, "api_name": "Metadata", "api_version": 9, "requests": 100 * (number + 1), "errors": 0,
         "first_seen": START, "last_seen": START + timedelta(minutes=10)}
        for number, key in enumerate(KEYS)
    ]  # fmt: skip
    opened = [{"client_key": key, "protocol": "kafka", "first_seen": START} for key in KEYS for _ in range(25)]

    def digest(keys: Sequence[str]) -> Digest:
        of_keys = [[row for row in listed if row["client_key"] in keys] for listed in (clients, rows, topics, usage, opened)]
        names = ("clients", "upgrade_impact", "topic_access", "api_usage", "connections")
        return digest_of(limits, **dict(zip(names, of_keys, strict=True)))

    limits = replace(PAGE, listed=3, urgent=0, drawn=0, incidents=2)
    whole = merge_digests([digest(KEYS)], limits)
    merged = merge_digests([digest(KEYS[at::buckets]) for at in range(buckets)], limits)
    assert merged.keys() == whole.keys()
    for name, expected in whole.items():
        if name not in ("life_ends", "totals"):
            order = [(column, "ascending") for column in expected.column_names if not pa.types.is_list(expected.schema.field(column).type)]
            assert merged[name].sort_by(order).equals(expected.sort_by(order)), name
    assert whole["metadata"].column("client_key").to_pylist() == ["key-5", "key-4"]
    (orders,) = whole["topics"].to_pylist()
    assert (orders["writers"], orders["readers"], orders["readers_break"], orders["records_read"]) == (3, 3, 3, 9)


def test_a_group_with_a_hundred_thousand_steps_keeps_few(tmp_path: Path, analysis_tables: ModuleType) -> None:
    steps = [
        {"group_id": "restless", "event": "rebalance", "members_before": 1, "members_after": 2, "duration_us": 1, "reason": "joined",
         "time": START + timedelta(milliseconds=number)}
        for number in range(100_000)
    ]  # fmt: skip
    digest = digest_of(group_events=[*steps, {**steps[0], "group_id": "calm"}])
    assert digest["group_lives"].num_rows < 150
    (restless,) = (row for row in digest["groups"].to_pylist() if row["group_id"] == "restless")
    assert restless["again"] == 100_000
    folder = AnalysisFolder(analysis_tables.write_tables(tmp_path, {"group_events": [*steps[:9], {**steps[0], "group_id": "calm"}]}))
    folder.limits = replace(PAGE, groups=1)
    lines = read_group_lines(folder)
    assert ([line.group_id for line in lines.groups], lines.count) == (["restless"], 2)


def test_topics_that_lose_clients_are_listed_before_busy_ones(tmp_path: Path, analysis_tables: ModuleType) -> None:
    uses = [
        {"client_key": "key-0", "client_id": "a", "topic": "busy", "direction": "produce", "records": 900},
        {"client_key": "key-1", "client_id": "b", "topic": "stops", "direction": "produce", "records": 1},
    ]
    tables = {"topic_access": uses, "upgrade_impact": [impact("key-0", "compatible"), impact("key-1", "breaks")]}
    folder = AnalysisFolder(analysis_tables.write_tables(tmp_path, tables))
    folder.limits = replace(PAGE, topics=1)
    assert [topic.name for topic in read_lineage(folder)] == ["stops"]
    assert folder.digest["topics"].num_rows == 2


def test_programs_read_everything(tmp_path: Path, analysis_tables: ModuleType) -> None:
    clients = [{"client_key": f"k{number:05}", "requests": 1, "role": "client"} for number in range(PAGE.listed + 5)]
    tables = {"clients": clients, "upgrade_impact": [impact(row["client_key"], "compatible") for row in clients]}
    out = analysis_tables.write_tables(tmp_path, tables)
    assert len(read_clients(AnalysisFolder(out))) == PAGE.listed
    assert len(read_upgrade_matrix(AnalysisFolder(out, EVERYTHING)).clients) == len(clients)
    assert read_fleet(AnalysisFolder(out)).kinds["application"] == len(clients)
    assert len(render_report(out, "csv").splitlines()) == len(clients) + 1
    assert "And 5 more clients, in the table <code>clients</code>." in render_report(out, "html")


@pytest.fixture
def stored(tmp_path: Path, analysis_tables: ModuleType) -> Path:
    """A folder with a digest of other tables: it would show a client that is not there."""
    from kwire.analysis.digests.storing import write_digest

    out = Path(analysis_tables.write_tables(tmp_path / "out", {"clients": [{"client_key": "there"}]}))
    other = AnalysisFolder(analysis_tables.write_tables(tmp_path / "other", {"clients": [{"client_key": "elsewhere"}]}))
    folder = AnalysisFolder(out)
    write_digest(folder.filesystem, folder.path, other.digest, {})
    return out


def listed(out: Path) -> list[str]:
    return [client.client_key for client in read_clients(AnalysisFolder(out))]


def test_a_digest_beside_its_tables_is_read(stored: Path) -> None:
    assert listed(stored) == ["elsewhere"]


def test_a_digest_of_other_tables_is_passed_over(stored: Path) -> None:
    (part,) = (stored / "clients").iterdir()
    part.rename(part.with_name("part-9.parquet"))
    assert listed(stored) == ["there"]


def test_a_digest_that_is_not_whole_is_passed_over(stored: Path) -> None:
    path = stored / DIGEST_FILE
    data = path.read_bytes()
    for end in (0, 20, 60, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:end])
        assert listed(stored) == ["there"]


def test_openings_count_by_the_minute() -> None:
    rows = [{"client_key": "a", "protocol": "kafka", "first_seen": START + timedelta(seconds=second)} for second in (0, 59, 60)] + [
        {"client_key": "a", "protocol": "kafka", "first_seen": None}
    ]
    found = openings_of(table("connections", rows)).sort_by("first_seen")
    assert found.column("connections").to_pylist() == [2, 1, 1]
    assert pc.sum(found.column("connections")).as_py() == 4


def test_known_times_of_parts_stand_for_their_rows() -> None:
    """720 parts of an hour over 60 intervals: only parts over a border of two intervals are read again."""
    month = datetime(2026, 11, 1, tzinfo=timezone.utc)
    schema = pa.schema([SCHEMAS["connections"].field(name) for name in TIME_COLUMNS])
    parts = {}
    for hour in range(720):
        begins = [month + timedelta(hours=hour, minutes=30 + minute) for minute in range(0, 60, 7)]
        keys, protocols = ["a", "b", None] * 3, ["kafka", None, "tls"] * 3
        rows = [keys, protocols, begins, [time + timedelta(minutes=3) for time in begins[:-1]] + [None]]
        parts[f"connections/part-{hour:05d}"] = pa.RecordBatch.from_arrays(
            [pa.array(column, field.type) for column, field in zip(rows, schema, strict=True)], schema=schema
        )
    wanted = Wanted(
        limits=PAGE, libraries=pa.table({"client_key": ["a"], "library": ["sarama"]}), clients=pa.array([], pa.string()),
        findings=pa.table({"connection_id": [], "request_index": []}), topics=pa.table({"topic": [], "topic_id": []}),
        span=(month, month + timedelta(days=30)),
    )  # fmt: skip
    whole, noted, known = RowDigest(wanted), RowDigest(wanted), RowDigest(wanted)
    for part, rows in parts.items():
        whole.add_times(rows)
        noted.add_part_times(part, rows)
    told = known.add_known_times(noted.result()["part_times"])
    for part in parts.keys() - told:
        known.add_times(parts[part])
    assert 0 < len(parts) - len(told) <= 60
    assert known.result()["open_connections"].to_pylist() == whole.result()["open_connections"].to_pylist()
