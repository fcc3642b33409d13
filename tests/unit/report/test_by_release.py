"""Every form of a report says of each Kafka release what a query over `upgrade_impact` says, whatever the order of its rows."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from kwire.analysis.release_ranges import default_targets
from kwire.cli.entry import commands
from kwire.cli.summary import print_summary
from kwire.report import FORMATS, summarize, write_reports
from kwire.report.formats import FILES
from kwire.schema import releases

WORDS = ("compatible", "deprecated", "unknown", "breaks")
# Of brokers of any release: from 34 targets to one; two releases of a line have the same.
LISTS = {tuple(default_targets([release.name])): release.name for release in releases()}


def rows_of(targets: tuple[str, ...]) -> dict[str, list[dict[str, Any]]]:
    """Nine clients with two APIs each, whose verdicts change at random releases; rows in any order."""
    chance = random.Random(len(targets))
    clients = [{"client_key": f"key-{n}", "client_ids": [f"app-{n}"], "role": "client", "requests": 9, "connections": 1} for n in range(9)]
    impact = [
        {
            "client_key": client["client_key"], "client_id": client["client_ids"][0], "api_name": api, "api_version": 1, "requests": 3,
            "target_release": target, "verdict": chance.choice(WORDS), "reason": "A reason.", "remedy": "Upgrade it.",
        }
        for client in clients for api in ("Fetch", "Produce") for target in targets
    ]  # fmt: skip
    chance.shuffle(impact)
    return {"clients": clients, "upgrade_impact": impact}


class Query:
    """The same, asked of the rows."""

    def __init__(self, targets: tuple[str, ...], tables: dict[str, list[dict[str, Any]]]) -> None:
        self.names = {target: ".".join(target.split(".")[: 3 if target.startswith("0.") else 2]) for target in targets}
        self.at = {
            row["client_key"]: {
                target: max(
                    (
                        one["verdict"]
                        for one in tables["upgrade_impact"]
                        if (one["client_key"], one["target_release"]) == (row["client_key"], target)
                    ),
                    key=WORDS.index,
                )
                for target in targets
            }
            for row in tables["clients"]
        }
        self.counts = {target: Counter(of_client[target] for of_client in self.at.values()) for target in targets}
        self.worst = {key: max(of_client.values(), key=WORDS.index) for key, of_client in self.at.items()}
        self.first = {key: next(t for t, verdict in self.at[key].items() if verdict == worst) for key, worst in self.worst.items()}


@pytest.mark.parametrize("targets", LISTS, ids=LISTS.values())
def test_every_form_equals_a_query(targets: tuple[str, ...], tmp_path: Path, analysis_tables: ModuleType, capsys: Any) -> None:
    tables = rows_of(targets)
    out = analysis_tables.write_tables(tmp_path / "out", tables)
    write_reports(out, tuple(FORMATS))
    print_summary(summarize(out))
    check(targets, tables, out, capsys.readouterr().out)


@pytest.mark.parametrize("asked", [("4.1.2",), ("3.9.2", "4.4.0")])
def test_every_form_equals_a_query_for_the_releases_of_to(asked: tuple[str, ...], tmp_path: Path, analysis_tables: ModuleType) -> None:
    tables = rows_of(max(LISTS, key=len))
    out = analysis_tables.write_tables(tmp_path / "out", tables)
    options = [*(f"--to={release}" for release in asked), *(f"--format={form}" for form in FORMATS)]
    done = CliRunner().invoke(commands, ["report", str(out), *options])
    assert done.exit_code == 0, done.output
    check(asked, tables, out, done.stdout)


def check(targets: tuple[str, ...], tables: dict[str, list[dict[str, Any]]], out: Path, printed: str) -> None:
    query = Query(targets, tables)
    text = {form: (out / FILES[form]).read_text(encoding="utf-8") for form in FORMATS}
    report = json.loads(text["json"])
    breaking = [target for target in targets if query.counts[target]["breaks"]]

    assert report["upgrade"]["releases"] == list(targets)
    assert report["upgrade"]["counts"] == {target: {word: query.counts[target][word] for word in WORDS} for target in targets}
    assert {line["client_key"]: line["by_release"] for line in report["upgrade"]["clients"]} == query.at
    tasks = {task["client_key"]: task for task in report["tasks"]}
    assert {key: task["deadline"] for key, task in tasks.items()} == {
        key: query.first[key] for key, worst in query.worst.items() if worst != "compatible"
    }
    urgent = {key for key, worst in query.worst.items() if worst in ("breaks", "unknown")}
    sentence = report["answer"]["sentence"]
    if breaking:
        number = query.counts[breaking[0]]["breaks"]
        assert sentence.startswith(f"{number} of 9 applications break{'s' if number == 1 else ''} on Kafka {query.names[breaking[0]]}")
    for key in urgent:
        (deadline,) = re.findall(r"^- Deadline: before the brokers move to Kafka ([\d.]+),", tasks[key]["ticket"], re.M)
        assert deadline == query.names[query.first[key]]

    listed = re.findall(r"^\| Kafka ([\d.]+) \| (.*) \|$", text["md"], re.M)
    figures = ["| ".join(f"{query.counts[target][word]} " for word in reversed(WORDS)).strip() for target in targets]
    assert listed == list(zip(query.names.values(), figures, strict=True))
    for row in csv.DictReader(io.StringIO(text["csv"])):
        assert {target: row[f"on {target}"] for target in targets} == query.at[row["client_key"]]
    said = Counter(re.findall(r'kwire_applications\{kafka_version="(.*)",verdict="(.*)"\} (\d+)\.0', text["prometheus"]))
    assert said == Counter((query.names[target], word, str(query.counts[target][word])) for target in targets for word in WORDS)

    wanted = {key.replace("key", "app"): (query.worst[key], query.names[query.first[key]]) for key in urgent}
    verbs = {"breaks on": "breaks", "may break on": "unknown"}
    cases = ElementTree.fromstring(text["junit"]).iter("testcase")
    messages = {case.get("name"): mark.get("message", "") for case in cases for mark in case if mark.tag in ("failure", "skipped")}
    messages_of_sarif = {
        result["message"]["text"].split(" ")[0]: re.sub(r"^\S+ \(.*?\) ", "", result["message"]["text"])
        for result in json.loads(text["sarif"])["runs"][0]["results"]
    }
    for form in (messages, messages_of_sarif):
        found = {name: re.match(r"(breaks on|may break on) Kafka ([\d.]*\d)", message) for name, message in form.items()}
        assert {name: (verbs[match[1]], match[2]) for name, match in found.items() if match} == wanted

    page = text["html"]
    tips = set(re.findall(r"<title>Kafka ([\d.]+), (\w+): (\d+) application", page))
    assert tips == {(query.names[t], word, str(query.counts[t][word])) for t in targets for word in WORDS if query.counts[t][word]}
    for body in re.findall(r'<tbody data-client="(key-\d)".*?</tr>', page, re.S):
        cells = re.search(rf'<tbody data-client="{body}".*?</tr>', page, re.S)
        assert cells
        shown = re.findall(r'title="Kafka ([\d.]+)(?: to ([\d.]+))?: (\w+)"', cells[0])
        assert {start: word for start, _, word in shown} == {
            start: query.at[body][target] for start, _, _ in shown for target in targets if query.names[target] == start
        }
        assert len(shown) == len(targets)  # no two releases are alike for all

    assert sentence[:1].upper() + sentence[1:] in " ".join(printed.split())
