"""What the report says of tables: worked out by hand from a few rows."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kwire.analysis.digests.of_clients import release_order, split_guess
from kwire.errors import InputError
from kwire.report import render_report, summarize
from kwire.report.amounts import bytes_of, compact, length_of_time, moment_after, share
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.broken_rules import FILE_RULES, FRAMES_SHOWN, read_broken_rules
from kwire.report.connection_times import BINS, read_connection_times
from kwire.report.coverage import read_coverage
from kwire.report.fleet import read_fleet
from kwire.report.inventory import by_library, population, read_clients
from kwire.report.verdicts import read_upgrade_matrix
from kwire.report.version_use import read_version_grid

START = datetime(2026, 9, 8, 10, 0, tzinfo=timezone.utc)


def _capture(**values: Any) -> dict[str, Any]:
    clean = dict.fromkeys(("packets_dropped", "bytes_cut", "bytes_lost", "bytes_opaque", "joined_late", "one_way", "unanswered"), 0)
    whole = {"capture": "a.pcap", "start": START, "end": START + timedelta(days=2), "packets": 900, "connections": 10, "requests": 50}
    return {**whole, **clean, **values}


@pytest.mark.parametrize(
    ("column", "value", "level", "words"),
    [
        ("packets_dropped", 100, "warning", "dropped 100 packets (10.0 % of all)"),
        ("packets_dropped", None, "note", "The file does not record whether packets were dropped"),
        ("bytes_cut", 2_500, "warning", "2.5 kB were cut off"),
        ("bytes_lost", 700, "warning", "700 bytes are missing inside connections"),
        ("bytes_opaque", 4_000_000, "warning", "4.0 MB could not be read as Kafka"),
        ("connections_refused", 4, "note", "4 of 10 connection attempts were refused"),
        ("joined_late", 3, "note", "3 of 10 connections were open before the capture began"),
        ("one_way", 1, "warning", "1 connection was captured in one direction only: where the answers' direction is not in the capture"),
        ("unanswered", 2, "note", "2 requests of 50 got no answer"),
        ("unseen", 40, "note", "Whether 40 requests of 50 got an answer is not in the capture"),
        ("end", START + timedelta(minutes=5, seconds=12), "note", "cover 5 min 12 s"),
    ],
)
def test_each_limit_of_a_capture_is_said(folder_of: Any, column: str, value: Any, level: str, words: str) -> None:
    named = {"client_key": "k", "identity_source": "api_versions"}
    coverage = read_coverage(folder_of(captures=[_capture(**{column: value})], clients=[named]))
    assert [(fact.level, words in fact.sentence) for fact in coverage.facts if fact.level != "fine"] == [(level, True)]
    assert coverage.level == level


def test_a_whole_capture_has_nothing_to_warn_of(folder_of: Any) -> None:
    coverage = read_coverage(folder_of(captures=[_capture()], clients=[{"client_key": "k", "identity_source": "api_versions"}]))
    assert coverage.level == "fine"
    assert coverage.length == timedelta(days=2)


def test_volumes_that_were_not_seen_are_said(folder_of: Any) -> None:
    used = [{"client_key": "k", "unseen_requests": number} for number in (3, None, 4)]
    named = {"client_key": "k", "identity_source": "api_versions"}
    coverage = read_coverage(folder_of(captures=[_capture()], clients=[named], topic_access=used))
    (fact,) = (fact for fact in coverage.facts if fact.about == "Volumes")
    assert fact.level == "note"
    assert fact.sentence.startswith("What 7 requests wrote or read is not in the capture, or not whole:")


def test_connections_that_are_not_kafka_are_named(folder_of: Any) -> None:
    spoken = ["kafka"] * 5 + ["tls"] * 3 + ["http", "silent"]
    coverage = read_coverage(folder_of(captures=[_capture(bytes_opaque=900)], connections=[{"protocol": name} for name in spoken]))
    opaque = next(fact for fact in coverage.facts if fact.about == "Opaque")
    assert opaque.level == "warning"
    assert "4 connections could not be read as Kafka (3 TLS, 1 HTTP): 900 bytes are opaque." in opaque.sentence


def test_the_confidence_says_its_reasons_in_words(folder_of: Any) -> None:
    spoken = [{"protocol": name} for name in ["kafka"] * 5 + ["tls"] * 3 + ["http"]]
    broken = [{"rule": "capture_unreadable", "severity": "error", "capture": "b.pcap", "explanation": "b.pcap is empty"}]
    answer = summarize(folder_of(captures=[_capture(bytes_opaque=900)], connections=spoken, violations=broken).path).answer
    assert answer.confidence == "low"
    assert answer.reasons == (
        "2 d captured",
        "unreadable traffic is missing here (1 file)",
        "4 connections could not be read as Kafka (3 TLS, 1 HTTP): 900 bytes are opaque",
        "no Kafka client was seen",
    )


def test_files_that_are_missing_or_not_whole_are_named(folder_of: Any) -> None:
    broken = [("capture_unreadable", f"b{n}.pcap", f"b{n}.pcap is not a capture.") for n in range(5)]
    broken += [("capture_damaged", "d.pcap", "9 bytes at offset 40 are not packet records.")]
    broken += [("capture_cut", "c.pcap", "The file ends early, at byte 40."), ("bad_length", "c.pcap", "Not about a file.")]
    rows = [{"rule": rule, "severity": "error", "capture": name, "explanation": text} for rule, name, text in broken]
    coverage = read_coverage(folder_of(captures=[_capture(bytes_damaged=9)], violations=rows))
    said = {fact.about: (fact.level, fact.sentence) for fact in coverage.facts}
    named = "b0.pcap is not a capture. b1.pcap is not a capture. b2.pcap is not a capture. And 2 more, see Problems of input files."
    assert said["Unreadable"] == ("warning", f"Unreadable traffic is missing here (5 files). {named}")
    lost = "9 bytes of files are not packet records; their contents are missing here."
    assert said["Damaged"] == ("warning", f"{lost} d.pcap: 9 bytes at offset 40 are not packet records.")
    assert said["Cut short"] == ("warning", "Not whole: 1 file. c.pcap: The file ends early, at byte 40.")
    assert "Empty" not in said


def test_how_clients_are_known_is_counted(folder_of: Any) -> None:
    sources = ["api_versions", "fingerprint", "not_sent", "not_sent", "not_observed"]
    coverage = read_coverage(
        folder_of(captures=[_capture()], clients=[{"client_key": str(n), "identity_source": s} for n, s in enumerate(sources)])
    )
    said = {fact.about: fact.sentence for fact in coverage.facts}
    assert said["Identity"].startswith("For 1 of 5 clients the exchange")
    assert said["Unnamed"].startswith("3 of 5 clients send no library name (it came with Kafka 2.4), 1 of them inferred")


def _impact(
    key: str, api: str, version: int, verdicts: dict[str, str], requests: int = 1, basis: str = "own_maximum"
) -> list[dict[str, Any]]:
    return [
        {
            "client_key": key, "api_name": api, "api_version": version, "requests": requests, "target_release": target, "verdict": verdict,
            "verdict_basis": basis, "reason": f"{target}: {verdict}",
        }
        for target, verdict in verdicts.items()
    ]  # fmt: skip


def test_a_client_is_as_bad_as_its_worst_version(folder_of: Any) -> None:
    rows = [
        *_impact("good", "Fetch", 12, {"3.9.2": "compatible", "4.0.2": "compatible", "4.10.0": "compatible"}),
        *_impact("bad", "Produce", 2, {"3.9.2": "deprecated", "4.0.2": "breaks", "4.10.0": "breaks"}, requests=7),
        *_impact("bad", "Fetch", 12, {"3.9.2": "compatible", "4.0.2": "compatible", "4.10.0": "compatible"}),
        *_impact("unsure", "Fetch", 1, {"4.10.0": "unknown"}),
    ]
    matrix = read_upgrade_matrix(folder_of(clients=[{"client_key": key} for key in ("good", "bad", "unsure")], upgrade_impact=rows))
    assert matrix.targets == ("3.9.2", "4.0.2", "4.10.0")
    assert [(line.client_key, line.verdicts) for line in matrix.clients] == [
        ("bad", {"3.9.2": "deprecated", "4.0.2": "breaks", "4.10.0": "breaks"}),
        ("unsure", {"4.10.0": "unknown"}),
        ("good", {"3.9.2": "compatible", "4.0.2": "compatible", "4.10.0": "compatible"}),
    ]
    assert matrix.count("4.10.0") == {"compatible": 1, "deprecated": 0, "unknown": 1, "breaks": 1}
    bad = matrix.clients[0]
    assert [(one.api_name, one.verdict, one.releases, one.milder, one.reason) for one in bad.findings] == [
        ("Produce", "breaks", ("4.0.2", "4.10.0"), (("deprecated", ("3.9.2",)),), "4.0.2: breaks")
    ]
    assert (bad.versions_ok, matrix.clients[2].versions_ok) == (1, 1)


def test_a_deprecation_that_later_releases_take_back_does_not_count(folder_of: Any) -> None:
    """Kafka 3.7 and 3.8 mark versions that 4.x keeps (KIP-896): nothing has to be done for them."""
    taken_back = {"3.8.1": "deprecated", "3.9.2": "compatible", "4.0.2": "compatible"}
    rows = [*_impact("kept", "Produce", 2, taken_back), *_impact("left", "Fetch", 1, {"3.8.1": "compatible", "3.9.2": "deprecated"})]
    clients = [{"client_key": key, "client_ids": [key], "role": "client"} for key in ("kept", "left")]
    matrix = read_upgrade_matrix(folder_of(clients=clients, upgrade_impact=rows))
    assert [(line.client_key, line.worst) for line in matrix.clients] == [("left", "deprecated"), ("kept", "compatible")]
    assert (matrix.fleet.worst["deprecated"], matrix.fleet.worst["compatible"]) == (1, 1)
    assert matrix.count("3.8.1")["deprecated"] == 1  # a column of the table is as it was judged


def test_the_client_ids_of_a_client_are_one_finding(folder_of: Any) -> None:
    rows = [
        row | {"client_id": name}
        for name, requests in (("gateway-1", 3), ("gateway-2", 4))
        for row in _impact("a", "Fetch", 3, {"3.9.2": "deprecated", "4.0.2": "breaks"}, requests=requests)
    ]
    rows += [row | {"client_id": "gateway-1"} for row in _impact("a", "Metadata", 5, {"3.9.2": "compatible", "4.0.2": "compatible"})]
    (client,) = read_upgrade_matrix(folder_of(upgrade_impact=rows)).clients
    (finding,) = client.findings
    assert (finding.releases, finding.milder, finding.requests) == (("4.0.2",), (("deprecated", ("3.9.2",)),), 7)
    assert finding.client_ids == ("gateway-1", "gateway-2")
    assert client.versions_ok == 1


def test_many_releases_share_columns_where_no_client_differs(folder_of: Any) -> None:
    targets = [f"3.{minor}.0" for minor in range(10)] + ["4.0.2", "4.1.2"]
    rows = _impact("a", "Fetch", 3, {target: "breaks" if target.startswith("4") else "compatible" for target in targets})
    rows += _impact("b", "Fetch", 4, {target: "deprecated" if target == "3.9.0" else "compatible" for target in targets})
    matrix = read_upgrade_matrix(folder_of(upgrade_impact=rows))
    assert matrix.columns == (tuple(targets[:9]), ("3.9.0",), ("4.0.2", "4.1.2"))


def test_few_releases_have_a_column_each(folder_of: Any) -> None:
    matrix = read_upgrade_matrix(folder_of(upgrade_impact=_impact("a", "Fetch", 3, {"4.0.2": "compatible", "4.1.2": "compatible"})))
    assert matrix.columns == (("4.0.2",), ("4.1.2",))


def test_releases_order_by_number_and_survive_any_text() -> None:
    names = ["4.10.0", "v1.50.3", "4.0", "0.8.2.2", "4.0.2", "1.9.2-rdkafka-1.9.2", "9" * 10_000, ""]
    ordered = ["", "9" * 10_000, "0.8.2.2", "1.9.2-rdkafka-1.9.2", "v1.50.3", "4.0", "4.0.2", "4.10.0"]
    assert sorted(names, key=release_order) == ordered


def test_versions_in_use_are_summed_over_clients(folder_of: Any) -> None:
    usage = [
        {"client_key": "a", "api_key": 0, "api_name": "Produce", "api_version": 2, "requests": 10, "errors": 1},
        {"client_key": "b", "api_key": 0, "api_name": "Produce", "api_version": 2, "requests": 90, "errors": 0},
        {"client_key": "b", "api_key": 1, "api_name": "Fetch", "api_version": 4, "requests": 1, "errors": 0},
        {"client_key": "c", "api_key": 1, "api_name": "Fetch", "api_version": 31_000, "requests": 6, "errors": 6},
    ]
    impact = _impact("a", "Produce", 2, {"4.0.2": "compatible"}) + _impact("b", "Produce", 2, {"4.0.2": "breaks"})
    unseen = _impact("b", "Fetch", 4, {"4.0.2": "breaks"}, requests=0)
    grid = read_version_grid(folder_of(api_usage=usage, upgrade_impact=impact + unseen), "4.0.2")
    assert grid.versions == (0, 1, 2, 3, 4)
    produce, fetch = grid.apis
    cell = produce.cells[2]
    assert cell is not None
    assert (cell.requests, cell.errors, cell.clients, cell.verdict, cell.heat) == (100, 1, 2, "breaks", 5)
    assert [one is not None for one in fetch.cells] == [False, False, False, False, True]
    assert fetch.cells[4] is not None
    assert (fetch.cells[4].verdict, fetch.cells[4].heat) == (None, 1)
    assert (fetch.requests, fetch.odd_requests) == (7, 6)


def test_open_connections_are_counted_in_each_interval(folder_of: Any) -> None:
    def connection(key: str | None, first: int, last: int, protocol: str = "kafka") -> dict[str, Any]:
        times = {"first_seen": START + timedelta(seconds=first), "last_seen": START + timedelta(seconds=last)}
        return {"client_key": key, "protocol": protocol, "state": "complete", **times}

    # BINS intervals of one second: two connections of a library that overlap in seconds 10 to 19, and a stranger to the end.
    rows = [connection("a", 0, 19), connection("b", 10, 29), connection(None, 30, BINS, "tls")]
    times = read_connection_times(folder_of(connections=rows, clients=[{"client_key": key, "software_name": "lib"} for key in "ab"]))
    assert times is not None
    library, stranger = times.series
    assert (library.label, library.connections, stranger.label, stranger.connections) == ("lib", 2, "TLS", 1)
    assert library.open == (1,) * 10 + (2,) * 10 + (1,) * 10 + (0,) * 30
    assert stranger.open == (0,) * 30 + (1,) * 30
    assert (times.peak, times.interval) == (2, timedelta(seconds=1))
    assert [(one.name, one.connections) for one in times.protocols] == [("kafka", 2), ("tls", 1)]


def test_libraries_beyond_the_colours_are_one(folder_of: Any) -> None:
    rows = [{"client_key": f"c{n}", "state": "open", "protocol": "kafka", "first_seen": START, "last_seen": START} for n in range(20)]
    clients = [{"client_key": f"c{n}", "software_name": f"lib{n:02}"} for n in range(20)]
    times = read_connection_times(folder_of(connections=rows, clients=clients))
    assert times is not None
    assert len(times.series) == 8
    assert (times.series[-1].label, times.series[-1].connections, times.peak) == ("13 others", 13, 20)


def test_violations_are_counted_whole_and_the_first_are_shown(folder_of: Any, analysis_tables: ModuleType) -> None:
    rows = [analysis_tables.violation("unanswered_request", "warning", "No answer.", index) for index in reversed(range(FRAMES_SHOWN + 5))]
    rows.append(analysis_tables.violation("bad_length", "error", "Too long."))
    first, second = read_broken_rules(folder_of(violations=rows))
    assert (first.rule, first.severity, first.times, first.connections) == ("bad_length", "error", 1, 1)
    assert (second.times, len(second.frames)) == (FRAMES_SHOWN + 5, FRAMES_SHOWN)
    assert (second.frames[1].packet_number, second.frames[1].stream_offset, second.frames[1].request_index) == (119, 2048, 1)


@pytest.mark.requirement("K511-43")
def test_violations_are_grouped_by_client(folder_of: Any, analysis_tables: ModuleType) -> None:
    broken = [("bad_length", "loader"), ("bad_length", "mailer"), ("bad_length", "loader"), ("bad_utf8", "mailer"), ("bad_length", None)]
    rows = [analysis_tables.violation(rule, "error", "Broken.", n, name) for n, (rule, name) in enumerate(broken)]
    found = {rule.rule: rule for rule in read_broken_rules(folder_of(violations=rows))}
    assert (found["bad_length"].times, found["bad_length"].clients) == (4, (("loader", 2), ("mailer", 1)))
    assert found["bad_utf8"].clients == (("mailer", 1),)


def test_a_library_that_is_inferred_is_not_self_reported_too(folder_of: Any) -> None:
    """A client may name itself `unknown` in ApiVersions."""
    named = {"client_key": "k", "client_ids": ["app"], "identity_source": "api_versions", "software_name": "unknown", "requests": 1}
    folder = folder_of(clients=[{**named, "library_guess": "platformatic-kafka 1.0"}])
    (line,) = summarize(folder.path).libraries
    assert (line.library, line.identity) == ("platformatic-kafka", "inferred")
    for form in ("md", "html"):
        text = render_report(folder.path, form)
        assert "inferred" in text
        assert "self-reported" not in text


def test_clients_group_by_library_and_version(folder_of: Any, analysis_tables: ModuleType) -> None:
    folder = folder_of(**analysis_tables.tables_of(analysis_tables.FLEET))
    assert read_clients(folder)[-1].role == "broker"
    lines = {(one.library, one.version): one for one in by_library(read_fleet(folder))}
    assert lines["apache-kafka-java", "3.9.2"].clients == 2  # the third is a broker
    assert lines["apache-kafka-java", "3.9.2"].connections == 12
    assert lines["kafka-clients", "0.9"].guessed
    assert lines["kafka-clients", "0.9"].verdicts == {"breaks": 1}
    assert lines["", ""].clients == 2  # one sends no name, of one it was not captured


def test_summary_for_the_terminal(tmp_path: Path, analysis_tables: ModuleType) -> None:
    fleet = [*analysis_tables.FLEET, analysis_tables.Used("\x1b[2Jclear", versions=analysis_tables.JAVA_09)]
    tables = analysis_tables.tables_of(fleet)
    unreadable = analysis_tables.violation("capture_unreadable", "error", "b.pcap is empty")
    tables["violations"] = [analysis_tables.violation("bad_length", "error", "Too long."), unreadable]
    summary = summarize(analysis_tables.write_tables(tmp_path, tables))
    assert summary.headline.startswith("9 clients in 1 file, ")
    assert summary.apart == "1 program of the cluster itself"
    assert summary.headline.endswith(", 5 min from 2026-09-08 10:00:00 UTC")
    assert summary.brokers == ("node 3 at broker-3.example:9092, Kafka 3.9.2",)
    newest = summary.targets[-1]
    # erp-bridge, pricing-svc, gateway-v2 and the one added here send versions that 4.x refuses; of late-reader it cannot be told.
    assert (newest.release, newest.worst) == ("4.3.1", "breaks")
    assert newest.clients == {"compatible": 4, "deprecated": 0, "unknown": 1, "breaks": 4}
    assert {one.client for one in summary.troubled} == {"erp-bridge", "pricing-svc", "gateway-v2", "late-reader", "\\x1b[2Jclear"}
    assert {one.first_release for one in summary.troubled} == {"4.0.2"}
    assert summary.violations == {"error": 1, "warning": 0, "info": 0}  # an empty file breaks no protocol
    assert any(fact.about == "Unreadable" and "b.pcap is empty" in fact.sentence for fact in summary.facts)


def test_the_rules_of_files_are_those_of_the_page_of_rules() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "violations.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)`", page.split("## Files\n")[1].split("\n## ")[0], re.MULTILINE)) == FILE_RULES


def _peers() -> dict[str, list[dict[str, Any]]]:
    """Two applications, one of them behind TLS; a broker; a refused attempt with an empty connection; a health check by HTTP."""
    app = {"client_key": "app", "client_ids": ["app"], "role": "client", "requests": 3, "identity_source": "not_sent"}
    internal = {**app, "client_key": "txn", "client_ids": ["broker-3-txn-marker-sender"], "role": "broker"}
    others = [{"client_key": key, "client_ids": [], "role": "client", "requests": 0} for key in ("secret", "nothing", "check")]
    spoken = {
        "app": ["kafka"],
        "txn": ["kafka"],
        "secret": ["tls", "silent"],
        "nothing": ["silent", "silent", "proxy"],
        "check": ["http", "silent"],
    }
    uses = [{"client_key": key, "api_name": "Fetch", "api_version": 12, "requests": 3, "target_release": "4.3.1", "verdict": "compatible"}
            for key in ("app", "txn")]  # fmt: skip
    return {
        "captures": [_capture()], "clients": [app, internal, *others], "upgrade_impact": uses,
        "connections": [{"client_key": key, "protocol": name} for key, names in spoken.items() for name in names],
    }  # fmt: skip


def test_what_is_not_an_application_is_counted_apart(folder_of: Any) -> None:
    folder = folder_of(**_peers())
    clients = read_clients(folder)
    assert {client.client_key: client.kind for client in clients} == {
        "app": "application", "secret": "application", "txn": "cluster", "nothing": "silent", "check": "stranger",
    }  # fmt: skip
    seen = population(read_fleet(folder))
    assert (seen.clients, seen.cluster, seen.silent, seen.strangers) == (2, 1, 1, 1)
    assert seen.apart == "1 program of the cluster itself, 1 peer that sent nothing, 1 peer that spoke another protocol"
    assert read_upgrade_matrix(folder).count("4.3.1") == {"compatible": 1, "deprecated": 0, "unknown": 0, "breaks": 0}


def test_no_headline_counts_what_is_not_an_application(folder_of: Any, tmp_path: Path) -> None:
    folder_of(**_peers())
    out = str(tmp_path / "out")
    summary = summarize(out)
    assert summary.headline.startswith("2 clients in 1 file")
    assert sum(line.clients for line in summary.libraries) == 2
    assert summary.targets[0].clients["compatible"] == 1
    document = json.loads(render_report(out, "json"))
    assert document["headline"].startswith("2 clients in 1 file")
    assert document["population"] == {"clients": 2, "cluster": 1, "silent": 1, "strangers": 1}
    assert document["upgrade"]["counts"]["4.3.1"]["compatible"] == 1
    assert sum(line["clients"] for line in document["libraries"]) == 2
    text, page = render_report(out, "md"), render_report(out, "html")
    assert "2 clients in 1 file" in text
    assert f"Not counted as applications: {summary.apart}." in text
    assert summary.answer.sentence == "1 of 2 applications judged compatible up to Kafka 4.3, 1 could not be read"
    assert f"<h1><bdi>{summary.answer.sentence}</bdi></h1>" in page
    assert '<dt>Applications</dt><dd><a href="#clients">2</a></dd>' in page
    assert '<dt>No verdict</dt><dd><a href="#clients" data-go="clients.is=unjudged">1</a></dd>' in page
    assert f"Not counted as applications: {summary.apart}." in page


def test_a_cluster_alone_is_not_a_client_that_can_move(folder_of: Any, tmp_path: Path) -> None:
    peers = _peers()
    folder_of(**{**peers, "clients": peers["clients"][1:2], "upgrade_impact": peers["upgrade_impact"][1:]})
    assert "<h1><bdi>No application was seen</bdi></h1>" in render_report(str(tmp_path / "out"), "html")


def test_a_folder_without_an_analysis_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no tables of an analysis.*\.$"):
        AnalysisFolder(tmp_path)
    with pytest.raises(InputError, match=r"cannot be read as the folder of an analysis.*\.$"):
        AnalysisFolder(tmp_path / "nowhere")


def test_a_column_that_an_older_analysis_lacks_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "captures").mkdir()
    pq.write_table(pa.table({"capture": ["a.pcap"], "requests": pa.array([5], pa.int64())}), tmp_path / "captures" / "part-0.parquet")
    coverage = read_coverage(AnalysisFolder(tmp_path))
    assert (coverage.totals["requests"], coverage.totals["bytes_lost"], coverage.file_count) == (5, 0, 1)


def test_a_broken_table_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients" / "part-0.parquet").write_bytes(b"not parquet")
    with pytest.raises(InputError, match=r"^The table clients in .* cannot be read: .*\.$"):
        read_clients(AnalysisFolder(tmp_path))


def test_amounts_in_words() -> None:
    assert moment_after(START + timedelta(seconds=5), START) == "10:00:05"
    assert moment_after(START + timedelta(days=1), START) == "2026-09-09 10:00:00"
    assert [compact(n) for n in (0, 999, 1_000, 1_250, 9_999, 12_345, 3_400_000)] == ["0", "999", "1k", "1.2k", "10k", "12k", "3.4M"]
    assert [bytes_of(n) for n in (0, 1, 999, 1_500, 12_345_678)] == ["0 bytes", "1 byte", "999 bytes", "1.5 kB", "12.3 MB"]
    spans = (0.25, 1, 59.6, 3_599.7, 3_661, 86_400 * 3 + 7_200)
    assert [length_of_time(timedelta(seconds=s)) for s in spans] == ["250 ms", "1 s", "1 min", "1 h", "1 h 1 min", "3 d 2 h"]
    assert [share(*pair) for pair in ((0, 5), (1, 3), (5, 5), (1, 10_000), (9_999, 10_000))] == [
        "0 %", "33.3 %", "100 %", "under 0.1 %", "over 99.9 %",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("guess", "parts"),
    [
        ("kafka-python 2.0.2", ("kafka-python", "2.0.2")),
        ("librdkafka after 0.11.6 and before 1.3.0 (tried: 1.0.0, 1.2.2)", ("librdkafka", "after 0.11.6 and before 1.3.0")),
        ("sarama (tried: 1.27.2)", ("sarama", "")),
        ("kafkajs", ("kafkajs", "")),
        ("", ("", "")),
    ],
)
def test_a_guess_is_shown_as_library_and_range(guess: str, parts: tuple[str, str]) -> None:
    assert split_guess(guess) == parts


def test_verdicts_of_a_former_folder_are_read_as_today(folder_of: Any) -> None:
    former = {"3.8.1": "ok", "3.9.2": "marked", "4.0.2": "undetermined", "4.1.2": "rejected"}
    (line,) = read_upgrade_matrix(folder_of(upgrade_impact=_impact("a", "Fetch", 3, former))).clients
    assert tuple(line.verdicts.values()) == ("compatible", "deprecated", "unknown", "breaks")
