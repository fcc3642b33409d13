"""What owners have to do: who gets which task by when, and the text of a ticket, word for word."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kwire.report.contents import read_report
from kwire.report.fix_tickets import action_items
from kwire.report.formats import FORMATS
from kwire.report.owner_tasks import NO_TEAM
from kwire.report.tickets import cure_sentence, ticket


@pytest.fixture
def report_of(folder_of: Any) -> Any:
    return lambda **tables: read_report(folder_of(**tables))


def client(key: str, owner: str | None = None, role: str = "client", **more: Any) -> dict[str, Any]:
    whole = {"client_key": key, "client_ids": [key], "role": role, "owner": owner, "contact": owner and f"#{owner}", "requests": 9}
    return {**whole, "software_name": "apache-kafka-java", "software_version": "0.9", "identity_source": "api_versions", **more}


def use(key: str, api: str, version: int, verdicts: dict[str, str], **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "client_key": key, "client_id": key, "api_name": api, "api_version": version, "requests": 3, "target_release": target,
            "verdict": verdict, "reason": None if verdict == "compatible" else f"{api} v{version} is below v4.", "remedy": "Upgrade it.",
            "evidence_connection_id": "10.0.0.3:9092-10.1.0.4:40000-0", "evidence_request_index": 1_234, **more,
        }
        for target, verdict in verdicts.items()
    ]  # fmt: skip


REFUSED = {"3.9.2": "deprecated", "4.0.2": "breaks", "4.1.0": "breaks"}


def test_a_task_has_the_first_release_that_is_as_bad_as_its_worst(report_of: Any) -> None:
    impact = [
        *use("refused", "Fetch", 1, REFUSED),
        *use("late", "Fetch", 3, {"3.9.2": "compatible", "4.0.2": "deprecated", "4.1.0": "breaks"}),
        *use("unsure", "Fetch", 12, {"3.9.2": "compatible", "4.0.2": "unknown", "4.1.0": "unknown"}),
        *use("noted", "Metadata", 2, {"3.9.2": "compatible", "4.0.2": "compatible", "4.1.0": "compatible"}, remedy=None),
        *use("fine", "Fetch", 17, {"3.9.2": "compatible", "4.0.2": "compatible", "4.1.0": "compatible"}),
    ]
    found = report_of(clients=[client(key) for key in ("refused", "late", "unsure", "noted", "fine")], upgrade_impact=impact).tasks
    assert [(task.name, task.verdict, task.deadline) for task in found] == [
        ("refused", "breaks", "4.0.2"), ("late", "breaks", "4.1.0"), ("unsure", "unknown", "4.0.2"),
    ]  # fmt: skip


def test_the_task_of_a_deprecated_client_names_the_release_that_rejects_it(report_of: Any) -> None:
    """3.8 marks Metadata v0 to v3 and Fetch v0 to v3; 4.0 accepts the former and rejects the latter (KIP-896)."""
    fine, only = {"3.8.1": "compatible"}, {"3.8.1": "deprecated"}
    impact = [
        *use("fine", "Metadata", 1, fine, remedy=None),
        *use("later", "Fetch", 3, only, refused_by="4.0"),
        *use("later", "Metadata", 1, fine, remedy=None),
    ]
    report = report_of(clients=[client("fine"), client("later")], upgrade_impact=impact)
    (task,) = report.tasks
    assert (task.name, task.verdict, task.deadline, task.refused_by) == ("later", "deprecated", "3.8.1", "4.0")
    lines = ticket(task, report.names).splitlines()
    assert lines[0] == "**Kafka client `later` is deprecated by Kafka 3.8 and breaks on Kafka 4.0**"
    assert "- Deadline: before the brokers move to Kafka 4.0, which rejects this client; Kafka 3.8 still accepts it" in lines
    assert [line for line in lines if line.startswith("- Metadata")] == []
    assert [team.deadline for team in report.teams] == ["4.0"]


def _brokers(*running: str) -> list[dict[str, Any]]:
    return [{"node_id": number, "host": "b", "port": 9092, "release_guess": release} for number, release in enumerate(running)]


def test_a_client_that_brokers_reject_today_has_no_deadline_and_comes_first(report_of: Any) -> None:
    """Brokers run 4.0: its version rejects `old` already, 4.2 rejects `next`; nobody waits for 4.0."""
    targets = ("4.0.2", "4.1.2", "4.2.2")
    impact = [
        *use("next", "Fetch", 3, dict(zip(targets, ("compatible", "compatible", "breaks"), strict=True))),
        *use("old", "Fetch", 1, dict.fromkeys(targets, "breaks")),
    ]
    impact += use("temp", "Metadata", 12, dict.fromkeys(targets, "unknown"))
    clients = [client("next"), client("old"), client("temp"), client("fine")]
    report = report_of(clients=clients, upgrade_impact=impact, brokers=_brokers("4.0 (4.0.0 to 4.0.2)"))
    assert report.answer.sentence == (
        "1 application is rejected by your brokers today (4.0), 1 more breaks from Kafka 4.2 on, 1 more may break"
    )
    assert {task.name: (task.step, task.first_release, task.deadline) for task in report.tasks} == {
        "old": ("today", "4.0.2", ""), "temp": ("today", "4.0.2", ""), "next": ("upgrade", "4.2.2", "4.2.2"),
    }  # fmt: skip
    items = action_items(report.tasks, report.names)
    assert [(item.step, item.since) for item in items] == [("today", ""), ("today", ""), ("upgrade", "4.2.2")]
    assert items[0].tickets[0].text.splitlines()[:3] == [
        "**Upgrade it: 1 Kafka client is rejected by your brokers today**",
        "",
        "- Needed now",
    ]
    old = next(task for task in report.tasks if task.name == "old")
    lines = ticket(old, report.names).splitlines()
    assert lines[0] == "**Kafka client `old` breaks on Kafka 4.0, and your brokers reject it today**"
    assert "- Deadline: none, the brokers reject this client today" in lines
    assert not [line for form in FORMATS.values() for line in form(report).splitlines() if re.search("before [^|]*Kafka 4.0[^.]", line)]


def test_targets_below_the_running_release_are_a_rollback(report_of: Any) -> None:
    """Brokers run 3.9: 3.4 and 3.5 lack the new group protocol, 4.0 rejects Fetch v1."""
    clients = [client("new"), client("old"), client("fine")]
    impact = [
        *use("new", "ConsumerGroupHeartbeat", 0, {"3.4.1": "breaks", "3.5.2": "breaks", "3.9.2": "compatible", "4.0.2": "compatible"}),
        *use("old", "Fetch", 1, {"3.4.1": "compatible", "3.5.2": "compatible", "3.9.2": "compatible", "4.0.2": "breaks"}),
    ]
    report = report_of(clients=clients, upgrade_impact=impact, brokers=_brokers("3.9.2"))
    assert report.answer.sentence == (
        "if you roll back, 1 of 3 applications breaks on Kafka 3.4; "
        "if you upgrade, 1 of 3 applications breaks on Kafka 4.0 (brokers run 3.9)"
    )
    assert {task.name: task.step for task in report.tasks} == {"new": "rollback", "old": "upgrade"}
    text = [item.tickets[0].text for item in action_items(report.tasks, report.names)]
    assert [re.findall("^- Needed.*", one, re.M) for one in text] == [
        ["- Needed before: the brokers run Kafka 4.0"], ["- Needed before: the brokers roll back to Kafka 3.5"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        ("breaks", "if you roll back, 1 of 1 application breaks on Kafka 3.4 (brokers run 3.9)"),
        ("compatible", "if you roll back, none of 1 application breaks down to Kafka 3.4 (brokers run 3.9)"),
    ],
)
def test_older_targets_alone_make_a_rollback_report(report_of: Any, verdict: str, sentence: str) -> None:
    impact = use("k", "ConsumerGroupHeartbeat", 0, {"3.4.1": verdict, "3.5.2": verdict})
    report = report_of(clients=[client("k")], upgrade_impact=impact, brokers=_brokers("3.9.2", "4.0.2"))
    assert (report.answer.sentence.replace("3.9, 4.0", "3.9"), report.title) == (sentence, "Kafka rollback report, to 3.5")


@pytest.mark.parametrize(
    ("on_tansu", "on_kafka", "sentence"),
    [
        ("breaks", "breaks", "2 of 2 applications break on tansu-0.6.0, none on shop and 1 on Kafka 4.0"),
        ("compatible", "breaks", "1 of 2 applications breaks on Kafka 4.0, none on shop and none on tansu-0.6.0"),
        ("compatible", "compatible", "none of 2 applications break on shop, tansu-0.6.0 and Kafka 4.0"),
        ("unknown", "compatible", "2 of 2 applications may break on shop, tansu-0.6.0 and Kafka 4.0"),
    ],
)
def test_targets_that_are_no_releases_are_told_one_by_one(report_of: Any, on_tansu: str, on_kafka: str, sentence: str) -> None:
    verdicts = {"tansu-0.6.0": on_tansu, "shop": "compatible"}
    impact = [*use("one", "Fetch", 1, verdicts | {"4.0.2": on_kafka}), *use("two", "EndTxn", 1, verdicts | {"4.0.2": "compatible"})]
    assert report_of(clients=[client("one"), client("two")], upgrade_impact=impact).answer.sentence == sentence


@pytest.mark.parametrize(("given", "running"), [("3.9", " (brokers run 3.9)"), ("3.9.0", " (brokers run 3.9)"), ("<b>", ""), (39, "")])
def test_the_release_of_from_counts_where_no_broker_tells_its_own(folder_of: Any, given: object, running: str) -> None:
    folder = folder_of(clients=[client("k")], upgrade_impact=use("k", "ConsumerGroupHeartbeat", 0, {"3.5.2": "breaks"}))
    Path(folder.path, "_manifest.json").write_text(json.dumps({"broker_release": given}))
    back = "if you roll back, " if running else ""
    assert read_report(folder).answer.sentence == f"{back}1 of 1 application breaks on Kafka 3.5{running}"


def test_what_several_apis_need_of_an_unknown_library_is_one_thing_to_do(report_of: Any) -> None:
    remedy = "Identify the library and upgrade it to a version that sends {} or later; until then, a proxy can translate."
    impact = [
        *use("k", "Fetch", 1, REFUSED, remedy=remedy.format("Fetch v4")),
        *use("k", "ListOffsets", 0, REFUSED, remedy=remedy.format("ListOffsets v1")),
        *use("k", "Produce", 0, REFUSED, remedy=remedy.format("Produce v3")),
    ]
    (task,) = report_of(clients=[client("k")], upgrade_impact=impact).tasks
    assert [line for line in ticket(task, {}).splitlines() if "Identify" in line] == [
        f"- {remedy.format('Fetch v4, ListOffsets v1 and Produce v3')}"
    ]


def test_tasks_go_by_team_and_those_without_one_come_last(report_of: Any) -> None:
    clients = [client("a"), client("b", "zebra"), client("c", "Ant"), client("d", "Ant"), client("e", "Ant", role="broker")]
    impact = [row for one in clients for row in use(one["client_key"], "Fetch", 1, REFUSED)]
    report = report_of(clients=clients, upgrade_impact=impact)
    assert [(task.team, task.name) for task in report.tasks] == [("Ant", "c"), ("Ant", "d"), ("zebra", "b"), (NO_TEAM, "a")]
    assert [(team.name, team.contact, team.tasks["breaks"], team.deadline) for team in report.teams] == [
        ("Ant", "#Ant", 2, "4.0.2"), ("zebra", "#zebra", 1, "4.0.2"), (NO_TEAM, "", 1, "4.0.2"),
    ]  # fmt: skip


def test_the_text_of_a_ticket(report_of: Any) -> None:
    impact = [
        *use("erp", "Fetch", 1, REFUSED, cure_version="2.1.0", cure_kind="library"),
        *use("erp", "Metadata", 1, {"3.9.2": "deprecated", "4.0.2": "compatible", "4.1.0": "compatible"}),
    ]
    access = [
        {"client_key": "erp", "client_id": "erp", "topic": "orders", "direction": "produce", "records": 1},
        {"client_key": "erp", "client_id": "erp", "topic": "bills", "direction": "fetch", "records": 1, "group_ids": ["g-erp"]},
    ]
    owned = client("erp", "Payments", principals=["User:erp"], addresses=["10.1.0.4"])
    (task,) = report_of(clients=[owned], upgrade_impact=impact, topic_access=access).tasks
    assert ticket(task, {"4.0.2": "4.0"}).splitlines() == [
        "**Kafka client `erp` breaks on Kafka 4.0**",
        "",
        "- Team: `Payments`, `#Payments`",
        "- Library: `apache-kafka-java 0.9` (self-reported)",
        "- Principal: `User:erp`",
        "- Address: `10.1.0.4`",
        "- Writes: `orders`",
        "- Reads: `bills` as group `g-erp`",
        "- Deadline: before the brokers move to Kafka 4.0, which rejects this client",
        "",
        "What to do:",
        "",
        "- Upgrade it. From version 2.1.0 on.",
        "- Upgrade it.",
        "",
        "Why, and the proof:",
        "",
        "- Fetch v1 is below v4. 3 requests; the first on `10.0.0.3:9092-10.1.0.4:40000-0`, request 1,234.",
    ]


def test_a_client_without_ids_is_called_by_its_principal_or_address(report_of: Any) -> None:
    clients = [
        client("k1", client_ids=[""], principals=["User:etl"], addresses=["10.0.0.1"]),
        client("k2", client_ids=[], addresses=["10.0.0.2"]),
        client("k3", client_ids=["a", "b", "c", "d", "e"]),
    ]
    impact = [row for one in clients for row in use(one["client_key"], "Fetch", 1, REFUSED)]
    assert [task.name for task in report_of(clients=clients, upgrade_impact=impact).tasks] == ["User:etl", "10.0.0.2", "a, b, c and 2 more"]


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        ("breaks", "- Identify the library and upgrade it."),
        ("unknown", "- Identify the library and its version; a capture of the beginning of its connections shows them."),
    ],
)
def test_without_a_known_cure_a_ticket_says_how_to_come_to_one(report_of: Any, verdict: str, sentence: str) -> None:
    impact = use("k", "Fetch", 1, {"4.0.2": verdict}, remedy=None)
    (task,) = report_of(clients=[client("k")], upgrade_impact=impact).tasks
    assert sentence in ticket(task, {}).splitlines()


@pytest.mark.parametrize(
    ("cure", "sentence"),
    [
        (("Upgrade to 2.1.0 or later.", "2.1.0", "library"), "Upgrade to 2.1.0 or later."),
        (("Upgrade it.", "2.1.0", "library"), "Upgrade it. From version 2.1.0 on."),
        (("Change the version.", "V2_1_0_0", "config"), "Change the version. Set to V2_1_0_0."),
        (("Upgrade it.", "", ""), "Upgrade it."),
        (("", "2.1.0", "library"), "From version 2.1.0 on."),
    ],
)
def test_a_remedy_names_its_version_once(cure: tuple[str, str, str], sentence: str) -> None:
    assert cure_sentence(cure) == sentence
