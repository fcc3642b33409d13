"""What the page and the terminal say of request logs: where their sight ends, and no totals where there are none."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kwire.report import summarize, write_page
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.coverage import read_coverage
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


TIMED = LOG | {"start": START, "end": START}
MISSING = "requests that a broker refused or never answered, SASL exchanges and sizes are not in them, nor when a connection ends."
TWICE = "Captures and request logs were read together: a request that is in both counts twice."
ALONE = (
    "1 file of request logs holds requests of deprecated versions alone, as the request logger writes them at level INFO. Clients that "
    "were seen nowhere else have no totals and are not cleared; who is not listed may still be there."
)


@pytest.mark.parametrize(
    ("captures", "level", "wanted"),
    [
        ([TIMED], "note", {"Request logs": ("note", f"1 file of request logs: {MISSING}")}),
        ([TIMED | {"source": "request_log_deprecated"}], "warning", {"Deprecated only": ("warning", ALONE)}),
        ([LOG, LOG | {"capture": "b"}], "warning", {
            "Times": ("note", "2 files of request logs have no times, only durations."),
            "Time": ("warning", "The input has no timestamps."),
        }),
        ([TIMED, PCAP], "note", {"Both": ("note", TWICE), "Drops": ("fine", "No packet was dropped while capturing.")}),
    ],
)  # fmt: skip
def test_limits_of_request_logs(folder_of: Any, captures: list[Any], level: str, wanted: dict[str, tuple[str, str]]) -> None:
    coverage = read_coverage(folder_of(captures=captures, clients=[{"client_key": "k", "identity_source": "api_versions"}]))
    facts = {fact.about: (fact.level, fact.sentence) for fact in coverage.facts}
    assert coverage.level == level
    assert wanted.items() <= facts.items()
    packets = {"Drops", "Cuts", "Gaps", "Opaque"} if PCAP not in captures else set()
    assert facts.keys().isdisjoint(packets | {"Times", "Deprecated only", "Both"} - wanted.keys())


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
