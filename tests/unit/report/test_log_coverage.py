"""What the page and the terminal say of request logs: where their sight ends, and no totals where there are none."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kwire.report import summarize, write_page
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.coverage import Coverage, read_coverage
from kwire.report.fleet import read_fleet
from kwire.report.inventory import by_library

START = datetime(2026, 9, 8, 10, 0, tzinfo=timezone.utc)
LOG: dict[str, Any] = {
    "capture": "kafka-request.log",
    "series": "kafka-request.log",
    "source": "request_log",
    "requests": 5,
    "connections": 2,
}
PCAP: dict[str, Any] = {
    "capture": "a.pcap", "series": "a.pcap", "source": "pcap", "packets": 9, "packets_dropped": 0, "requests": 5,
    "start": START, "end": START,
}  # fmt: skip


def coverage_of(folder: Path, tables: ModuleType, *captures: dict[str, Any]) -> Coverage:
    tables.write_tables(folder, {"captures": list(captures), "clients": [{"client_key": "k", "identity_source": "api_versions"}]})
    return read_coverage(AnalysisFolder(str(folder)))


def said(coverage: Coverage) -> dict[str, tuple[str, str]]:
    return {fact.about: (fact.level, fact.sentence) for fact in coverage.facts}


def test_a_log_says_nothing_of_packets(tmp_path: Path, analysis_tables: ModuleType) -> None:
    facts = said(coverage_of(tmp_path, analysis_tables, LOG | {"start": START, "end": START}))
    level, sentence = facts["Request logs"]
    assert level == "note"
    assert sentence.startswith(
        "1 file of request logs: requests that a broker refused or never answered, SASL exchanges and sizes are not in them"
    )
    assert facts.keys().isdisjoint(("Drops", "Cuts", "Gaps", "Opaque", "Times", "Deprecated only", "Both"))


def test_a_log_without_times_says_so(tmp_path: Path, analysis_tables: ModuleType) -> None:
    facts = said(coverage_of(tmp_path, analysis_tables, LOG, LOG | {"capture": "b"}))
    assert facts["Times"] == ("note", "2 files of request logs have no times, only durations.")
    assert facts["Time"] == ("warning", "Nothing in the input has a time.")


def test_captures_beside_logs(tmp_path: Path, analysis_tables: ModuleType) -> None:
    facts = said(coverage_of(tmp_path, analysis_tables, LOG, PCAP))
    assert facts["Both"] == ("note", "Captures and request logs were read together: a request that is in both counts twice.")
    assert facts["Drops"] == ("fine", "No packet was dropped while capturing.")


def test_a_log_of_deprecated_requests_limits_what_can_be_said(tmp_path: Path, analysis_tables: ModuleType) -> None:
    coverage = coverage_of(tmp_path, analysis_tables, LOG | {"source": "request_log_deprecated", "start": START, "end": START})
    level, sentence = said(coverage)["Deprecated only"]
    assert level == coverage.level == "warning"
    assert sentence.startswith("1 file of request logs holds requests of deprecated versions alone")


@pytest.mark.parametrize(("known", "connections", "requests"), [(False, None, None), (True, 7, 40)])
def test_totals_that_nobody_knows_are_not_shown_as_0(
    known: bool, connections: int | None, requests: int | None, tmp_path: Path, analysis_tables: ModuleType
) -> None:
    unknown = {
        "client_key": "a",
        "software_name": "sarama",
        "software_version": "v1.50.3",
        "identity_source": "api_versions",
        "client_ids": ["x"],
    }
    counted = unknown | {"client_key": "b", "connections": 7, "requests": 40, "errors": 0}
    clients = [unknown, counted] if known else [unknown]
    analysis_tables.write_tables(tmp_path, {"captures": [LOG], "clients": clients})
    (line,) = by_library(read_fleet(AnalysisFolder(str(tmp_path))))
    assert (line.clients, line.connections, line.requests) == (len(clients), connections, requests)
    assert summarize(tmp_path).libraries[0].requests == requests
    page = Path(write_page(str(tmp_path))).read_text()
    assert '<td class="number requests">?</td>' in page
