"""`kwire diff`: two analyses made by hand, and what a reader would say differs."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from kwire.analysis.comparison import compare
from kwire.analysis.differences import Thresholds
from kwire.analysis.digests.of_clients import release_order
from kwire.cli.entry import commands
from kwire.report import render_report
from kwire.tables.schemas import SCHEMAS

Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture
def before(analysis_tables: ModuleType) -> Rows:
    rows: Rows = analysis_tables.tables_of(analysis_tables.FLEET)
    for usage in rows["api_usage"]:
        rows["client_hourly"].append(histogram(usage, 400, {1000: 390, 9000: 10}))
    rows["topic_access"] += [topic("fraud-scorer-3.9.2", "scores", "produce"), topic("search-feed-3.9.2", "pages", "fetch")]
    return rows


def topic(key: str, name: str, direction: str) -> dict[str, Any]:
    return {"client_key": f"key-{key}", "topic": name, "direction": direction, "requests": 5}


def histogram(usage: dict[str, Any], requests: int, buckets: dict[int, int]) -> dict[str, Any]:
    return {
        "client_key": usage["client_key"], "api_key": usage["api_key"], "api_version": usage["api_version"], "requests": requests,
        "latency_histogram": [{"up_to_us": bound, "requests": count} for bound, count in buckets.items()],
    }  # fmt: skip


def tables(rows: Rows) -> dict[str, pa.Table]:
    return {name: pa.Table.from_pylist(rows.get(name, []), schema=schema) for name, schema in SCHEMAS.items()}


def changed(before: Rows, change: Callable[[Rows], None]) -> Any:
    after = copy.deepcopy(before)
    change(after)
    return compare(tables(before), tables(after))


def of_client(rows: Rows, table: str, key: str) -> list[dict[str, Any]]:
    return [row for row in rows[table] if row["client_key"] == key]


def test_a_client_that_is_new_or_gone_is_one_line(before: Rows) -> None:
    def drop(after: Rows) -> None:
        for table in ("clients", "api_usage", "upgrade_impact", "client_hourly", "topic_access"):
            after[table] = [row for row in after[table] if row["client_key"] != "key-search-feed-3.9.2"]

    found = changed(before, drop)
    assert [(each.change, each.client, each.version_before) for each in found.clients] == [("gone", "search-feed", "3.9.2")]
    assert not found.apis
    assert not found.topics
    after = copy.deepcopy(before)
    drop(after)
    back = compare(tables(after), tables(before))
    assert [(each.change, each.client, each.version_after) for each in back.clients] == [("new", "search-feed", "3.9.2")]


def test_a_new_version_of_a_library_is_the_same_client(before: Rows) -> None:
    def upgrade(after: Rows) -> None:
        for table in ("clients", "api_usage", "upgrade_impact", "client_hourly", "topic_access"):
            for row in of_client(after, table, "key-fraud-scorer-3.9.2"):
                row["client_key"] = "key-fraud-scorer-4.1.0"
                if "software_version" in row:
                    row["software_version"] = "4.1.0"
        after["api_usage"].append({**of_client(after, "api_usage", "key-fraud-scorer-4.1.0")[0], "api_version": 13, "requests": 4})

    found = changed(before, upgrade)
    assert [(each.change, each.version_before, each.version_after) for each in found.clients] == [("version", "3.9.2", "4.1.0")]
    assert [(each.change, each.version, each.requests) for each in found.apis] == [("new", 13, 4)]
    assert not found.slower
    assert not found.verdicts


def test_errors_that_there_were_not_before(before: Rows) -> None:
    def fail(after: Rows) -> None:
        (row,) = [row for row in of_client(after, "api_usage", "key-ad-bidder-1.9.2-rdkafka-1.9.2") if row["api_name"] == "Fetch"]
        row["errors"], row["error_names"] = 2, ["TOPIC_AUTHORIZATION_FAILED"]

    (failure,) = changed(before, fail).failing
    assert (failure.client, failure.api, failure.version) == ("ad-bidder", "Fetch", 11)
    assert (failure.errors_before, failure.errors_after, failure.new_error_names) == (0, 2, ("TOPIC_AUTHORIZATION_FAILED",))


def test_only_a_client_that_was_there_is_newly_failing(before: Rows, tmp_path: Path, analysis_tables: ModuleType) -> None:
    """A new client is in the list of clients; a version that a client did not use before has no share of errors before."""
    fail = {"errors": 2, "error_names": ["TOPIC_AUTHORIZATION_FAILED"]}
    after = copy.deepcopy(before)
    (fetch,) = [row for row in of_client(after, "api_usage", "key-ad-bidder-1.9.2-rdkafka-1.9.2") if row["api_name"] == "Fetch"]
    for key in ("key-ad-bidder-1.9.2-rdkafka-1.9.2", "key-late"):
        after["api_usage"].append({**fetch, **fail, "client_key": key, "api_version": 13, "requests": 4})
    after["clients"].append({**of_client(after, "clients", fetch["client_key"])[0], "client_key": "key-late", "client_ids": ["late"]})
    found = compare(tables(before), tables(after))
    assert [(each.change, each.client) for each in found.clients] == [("new", "late")]
    assert [(each.client, each.version, each.before, each.after) for each in found.failing] == [("ad-bidder", 13, "not used", "2 of 4")]
    folders = [str(analysis_tables.write_tables(tmp_path / name, rows)) for name, rows in (("a", before), ("b", after))]
    said = CliRunner().invoke(commands, ["diff", *folders]).stdout
    assert "not used" in said
    assert "0 of 0" not in said + render_report(folders[1], "md", before=folders[0])


def test_an_error_that_was_there_counts_when_many_more_fail(before: Rows) -> None:
    def fail(count: int) -> Callable[[Rows], None]:
        def change(after: Rows) -> None:
            for row in after["api_usage"]:
                if row["api_name"] == "JoinGroup" and row["client_key"] == "key-fraud-scorer-3.9.2":
                    row["requests"], row["errors"] = 100, count

        return change

    for row in before["api_usage"]:
        if row["api_name"] == "JoinGroup":
            row["requests"], row["errors"] = 100, 10
    assert not changed(before, fail(14)).failing
    assert [each.errors_after for each in changed(before, fail(16)).failing] == [16]


def test_latencies_are_compared_by_their_histograms(before: Rows) -> None:
    def slow(buckets: dict[int, int]) -> Callable[[Rows], None]:
        def change(after: Rows) -> None:
            (usage,) = [row for row in of_client(after, "api_usage", "key-search-feed-3.9.2") if row["api_name"] == "Fetch"]
            after["client_hourly"] = [
                row for row in after["client_hourly"] if (row["client_key"], row["api_key"]) != (usage["client_key"], usage["api_key"])
            ]
            after["client_hourly"].append(histogram(usage, sum(buckets.values()), buckets))

        return change

    (found,) = changed(before, slow({1000: 300, 50_000: 100})).slower
    assert (found.client, found.api, found.p50_before_us, found.p50_after_us) == ("search-feed", "Fetch", 1000, 1000)
    assert (found.p99_before_us, found.p99_after_us) == (9000, 50_000)
    assert not changed(before, slow({1000: 390, 9900: 10})).slower, "a tenth is not slower"
    assert not changed(before, slow({1000: 60, 50_000: 39})).slower, "too few requests"
    assert not changed(before, slow({1900: 400})).slower, "less than a millisecond"


def test_a_verdict_that_got_worse(before: Rows) -> None:
    def refuse(after: Rows) -> None:
        for row in of_client(after, "upgrade_impact", "key-search-feed-3.9.2"):
            if row["api_name"] == "Produce" and row["target_release"] == "4.3.1":
                row["verdict"], row["reason"] = "breaks", "4.3.1 does not take it."

    (found,) = changed(before, refuse).verdicts
    assert (found.client, found.api, found.target_release, found.before, found.after) == (
        "search-feed",
        "Produce",
        "4.3.1",
        "compatible",
        "breaks",
    )
    after = copy.deepcopy(before)
    refuse(after)
    assert not compare(tables(after), tables(before)).verdicts, "what got better is no trouble"


def test_a_release_that_nobody_asked_about_before_says_nothing(before: Rows) -> None:
    def more(after: Rows) -> None:
        after["upgrade_impact"] += [{**row, "target_release": "5.0.0", "verdict": "breaks"} for row in after["upgrade_impact"][:20]]

    assert not changed(before, more).verdicts


def test_other_targets_are_compared_by_the_newest_of_each(before: Rows, tmp_path: Path, analysis_tables: ModuleType) -> None:
    def elsewhere(after: Rows) -> None:
        after["upgrade_impact"] = [
            {**row, "target_release": "redpanda-24.3.1"} for row in after["upgrade_impact"] if row["target_release"] == "4.3.1"
        ]
        for row in of_client(after, "upgrade_impact", "key-search-feed-3.9.2"):
            if row["api_name"] == "Produce":
                row["verdict"], row["reason"] = "breaks", "redpanda-24.3.1 does not take it."

    found = changed(before, elsewhere)
    (worse,) = found.verdicts
    newest = max((row["target_release"] for row in before["upgrade_impact"]), key=release_order)
    assert found.targets == (newest, "redpanda-24.3.1")
    assert (worse.client, worse.api, worse.target_release, worse.before, worse.after) == (
        "search-feed", "Produce", "redpanda-24.3.1", "compatible", "breaks",
    )  # fmt: skip
    assert not compare(tables(before), tables(before)).targets
    after = copy.deepcopy(before)
    elsewhere(after)
    for name, rows in (("a", before), ("b", after)):
        analysis_tables.write_tables(tmp_path / name, rows)
    folders = str(tmp_path / "a"), str(tmp_path / "b")
    said = diff(*folders).stdout
    assert said.startswith(f"No target is in both: verdicts for {newest} before, for redpanda-24.3.1 now.\n")
    assert "redpanda-24.3.1 does not take it." in said
    assert json.loads(diff(*folders, "--json").stdout)["targets"] == [newest, "redpanda-24.3.1"]
    assert "targets" not in json.loads(diff(folders[0], folders[0], "--json").stdout)
    assert "| On Kafka 4.3 | On redpanda-24.3.1 |" in render_report(folders[1], "md", before=folders[0])


def test_topics_and_rules_that_are_new(before: Rows, analysis_tables: ModuleType) -> None:
    def more(after: Rows) -> None:
        after["topic_access"][0]["topic"] = "scores-v2"
        row = analysis_tables.violation("trailing_bytes", "warning", "x")
        after["violations"] += [{**row, "client_key": "key-search-feed-3.9.2"}] * 2

    found = changed(before, more)
    assert [(each.change, each.client, each.topic) for each in found.topics] == [
        ("new", "fraud-scorer", "scores-v2"),
        ("gone", "fraud-scorer", "scores"),
    ]
    assert [(each.client, each.rule, each.count) for each in found.violations] == [("search-feed", "trailing_bytes", 2)]


def test_thresholds_can_be_moved(before: Rows) -> None:
    after = copy.deepcopy(before)
    for row in after["client_hourly"]:
        row["latency_histogram"] = [{"up_to_us": 3000, "requests": 400}]
    assert compare(tables(before), tables(after)).slower
    assert not compare(tables(before), tables(after), Thresholds(ratio=4)).slower
    assert not compare(tables(before), tables(after), Thresholds(requests=401)).slower


def diff(*arguments: str) -> Result:
    return CliRunner().invoke(commands, ["diff", *arguments])


@pytest.fixture
def folders(tmp_path: Path, before: Rows, analysis_tables: ModuleType) -> tuple[str, str]:
    after = copy.deepcopy(before)
    for row in after["api_usage"]:
        if row["api_name"] == "Fetch":
            row["errors"], row["error_names"] = 1, ["\x1b[31mUNKNOWN"]
    for name, rows in (("a", before), ("b", after)):
        analysis_tables.write_tables(tmp_path / name, rows)
    return str(tmp_path / "a"), str(tmp_path / "b")


def test_the_command_prints_and_exits_as_git_does(folders: tuple[str, str]) -> None:
    a, b = folders
    assert (diff(a, a).exit_code, diff(a, a).stdout) == (0, "No differences.\n")
    assert diff(a, a, "--exit-code").exit_code == 0
    assert diff(a, b).exit_code == 0
    result = diff(a, b, "--exit-code")
    assert result.exit_code == 1
    assert "Newly failing" in result.stdout
    assert "fraud-scorer" in result.stdout
    assert "\x1b" not in result.stdout
    said = json.loads(diff(a, b, "--json").stdout)
    assert {each["api"] for each in said["failing"]} == {"Fetch"}
    assert said["slower"] == []


def test_programs_of_the_cluster_and_peers_that_sent_nothing_are_no_clients(
    before: Rows, tmp_path: Path, analysis_tables: ModuleType
) -> None:
    """The page counts applications (`Client.kind`), and so do the differences: of the rest only the rules that it breaks are there."""
    after = copy.deepcopy(before)
    model = next(row for row in after["clients"] if row["client_key"] == "key-search-feed-3.9.2")
    connection = next(row for row in after["connections"] if row["client_key"] == "key-search-feed-3.9.2")
    for key, role, requests, protocol in (
        ("fetcher", "broker", 900, "kafka"),
        ("scanner", "client", 0, "silent"),
        ("probe", "client", 0, "http"),
    ):
        after["clients"].append({**model, "client_key": key, "client_ids": [key], "role": role, "requests": requests})
        after["connections"].append({**connection, "client_key": key, "protocol": protocol})
    for table in ("api_usage", "upgrade_impact"):
        after[table] += [{**row, "client_key": "fetcher"} for row in of_client(after, table, "key-search-feed-3.9.2")]
    for row in of_client(after, "api_usage", "fetcher"):
        row |= {"errors": 5, "error_names": ["NOT_LEADER_OR_FOLLOWER"]}
    after["violations"].append({**analysis_tables.violation("trailing_bytes", "warning", "x"), "client_key": "fetcher"})
    for name, rows in (("a", before), ("b", after)):
        analysis_tables.write_tables(tmp_path / name, rows)
    for first, second in ("ab", "ba"):
        said = json.loads(diff(str(tmp_path / first), str(tmp_path / second), "--json").stdout)
        named = {section: [each["client"] for each in rows] for section, rows in said.items() if rows}
        assert named == ({"violations": ["fetcher"]} if first == "a" else {})


def test_folders_that_cannot_be_compared_are_one_sentence(folders: tuple[str, str], tmp_path: Path) -> None:
    a, b = folders
    (tmp_path / "empty").mkdir()
    assert diff(a, str(tmp_path / "empty")).exit_code == 1
    trouble = diff(a, str(tmp_path / "empty"), "--exit-code")
    assert trouble.exit_code == 2
    assert "holds no tables" in trouble.stderr
    Path(a, "_manifest.json").write_text('{"redacted": "one"}')
    Path(b, "_manifest.json").write_text('{"redacted": "two"}')
    assert "not redacted with the same key" in diff(a, b).stderr
