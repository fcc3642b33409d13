"""Action items by fix and team, and what earlier reports of the same analysis found."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kwire.report import write_reports
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.burn_down import HISTORY, HistoryPoint, history_text, read_history
from kwire.report.contents import read_report
from kwire.report.fix_tickets import CLIENTS_LISTED, ActionItem, action_items
from kwire.report.lineage import ClientTopics
from kwire.report.owner_tasks import NO_TEAM, OwnerTask

NAMES = {"4.0.2": "4.0", "4.1.2": "4.1"}
TASK = OwnerTask(
    team="Payments", contact="#pay", client_key="k", client_ids=("billing",), library="kafka-clients", version="0.9", identity="inferred",
    principals=("User:pay",), addresses=("10.1.0.4",), topics=ClientTopics(), requests=5, verdict="breaks", first_release="4.0.2",
    deadline="4.0.2", since="4.0.2", step="upgrade",
    cures=(("Upgrade kafka-clients to 2.1.0 or later, the oldest that KIP-896 supports with 4.x brokers.", "2.1.0", "library"),),
    findings=(), is_inferred=True,
)  # fmt: skip


def task(name: str, **more: Any) -> OwnerTask:
    return replace(TASK, client_key=name, client_ids=(name,), **more)


def items_of(*tasks: OwnerTask) -> tuple[ActionItem, ...]:
    return action_items(tasks, NAMES)


def test_clients_with_the_same_fix_are_one_item_with_a_ticket_for_each_team() -> None:
    other = (("Replace pykafka with a maintained client; no pykafka version works with Kafka 4.", "", "library"),)
    items = items_of(
        task("a"), task("b", requests=9), task("c", team="Fraud", contact=""), task("d", team=NO_TEAM),
        task("e", cures=other, since="4.1.2"),
    )  # fmt: skip
    assert [(item.number, item.fix, item.clients, item.teams, item.since) for item in items] == [
        (0, "upgrade kafka-clients to 2.1.0 or later", 4, 2, "4.0.2"),
        (1, "replace pykafka with a maintained client", 1, 1, "4.1.2"),
    ]
    assert [(ticket.team, [one.name for one in ticket.tasks]) for ticket in items[0].tickets] == [
        ("Payments", ["b", "a"]), ("Fraud", ["c"]), (NO_TEAM, ["d"]),
    ]  # fmt: skip
    assert items[0].libraries == ("kafka-clients 0.9 ~",)


def test_what_breaks_comes_before_what_might_however_many_there_are() -> None:
    might = [task(f"m{n}", verdict="unknown", cures=()) for n in range(5)]
    assert [item.verdict for item in items_of(*might, task("a"))] == ["breaks", "unknown"]


def test_a_ticket_names_what_to_do_until_when_and_for_which_clients() -> None:
    ((ticket,),) = (item.tickets for item in items_of(task("a"), task("b`](x)", addresses=(), principals=())))
    assert ticket.text.splitlines() == [
        "**Upgrade kafka-clients to 2.1.0 or later: 2 Kafka clients break on Kafka 4.0**",
        "",
        "- Team: `Payments`, `#pay`",
        "- Needed before: the brokers run Kafka 4.0",
        "",
        "What to do:",
        "",
        "- Upgrade kafka-clients to 2.1.0 or later, the oldest that KIP-896 supports with 4.x brokers.",
        "",
        "Clients:",
        "",
        "- `a`: `kafka-clients 0.9` (inferred); from `10.1.0.4`; as `User:pay`",
        "- ``b`](x)``: `kafka-clients 0.9` (inferred)",
    ]


def test_a_ticket_of_many_clients_says_how_many_more_there_are() -> None:
    ((ticket,),) = (item.tickets for item in items_of(*(task(f"c{n:03}") for n in range(CLIENTS_LISTED + 7))))
    assert ticket.text.splitlines()[-1] == "- and 7 more; the report lists them"


@pytest.fixture
def fleet(tmp_path: Path, analysis_tables: ModuleType) -> Path:
    folder: Path = analysis_tables.write_tables(tmp_path / "now", analysis_tables.tables_of(analysis_tables.FLEET))
    return folder


def test_a_report_keeps_what_it_found_once_for_the_same_captures(fleet: Path) -> None:
    for _ in range(2):
        write_reports(fleet, ["md"])
    (point,) = json.loads((fleet / HISTORY).read_text())
    report = read_report(AnalysisFolder(fleet))
    assert (point["applications"], point["breaks"], point["unknown"]) == (8, report.answer.breaks, report.answer.unknown)
    assert point["breaks"] > 0


def test_earlier_states_come_from_this_folder_and_from_the_one_before(fleet: Path, tmp_path: Path, analysis_tables: ModuleType) -> None:
    before = analysis_tables.write_tables(tmp_path / "before", analysis_tables.tables_of(analysis_tables.FLEET))
    old, mine = (HistoryPoint(until=f"2026-0{month}-01T00:00:00+00:00", applications=9, breaks=6, unknown=1) for month in (7, 8))
    (before / HISTORY).write_text(history_text([old]))
    (fleet / HISTORY).write_text(history_text([mine]))
    report = read_report(AnalysisFolder(fleet), before=AnalysisFolder(before))
    assert report.history[:2] == (old, mine)
    assert len(report.history) == 3


@pytest.mark.parametrize("text", ["", "{", "{}", "[1, {}]", '[{"until": "x", "applications": "1", "breaks": 1, "unknown": 1}]', "\xff"])
def test_a_history_that_cannot_be_read_is_none(fleet: Path, text: str) -> None:
    (fleet / HISTORY).write_bytes(text.encode("latin-1"))
    assert read_history(AnalysisFolder(fleet)) == ()
