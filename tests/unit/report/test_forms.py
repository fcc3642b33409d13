"""`kwire report --format`: which files are written where, and what is told of faults."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner, Result
from prometheus_client.parser import text_string_to_metric_families

from kwire.cli.entry import commands
from kwire.cli.report_options import FORMS
from kwire.report import FORMATS


def run(*arguments: str) -> Result:
    return CliRunner().invoke(commands, ["report", *arguments])


def test_the_help_names_every_form() -> None:
    assert tuple(FORMATS) == FORMS


def test_each_form_has_its_file(analyzed: Path) -> None:
    result = run(str(analyzed), "--format", "csv", "--format", "md", "--format", "csv")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[-2:] == [f"Report: {analyzed}/report.csv", f"Report: {analyzed}/report.md"]
    assert sorted(path.name for path in analyzed.glob("report.*")) == ["report.csv", "report.md"]


@pytest.mark.parametrize("form", FORMS)
def test_standard_output_holds_the_document_alone(analyzed: Path, form: str) -> None:
    result = run(str(analyzed), "--format", form, "--out", "-")
    assert result.exit_code == 0, result.stderr
    assert not list(analyzed.glob("report.*"))
    readers = {
        "html": lambda text: text.startswith("<!doctype html>") and text.rstrip().endswith("</html>"),
        "md": lambda text: text.startswith("# 3 of 8 applications break on Kafka 4.0, 1 more may (brokers run 3.9)\n"),
        "json": lambda text: json.loads(text)["headline"].startswith("8 clients in 1 file"),
        "csv": lambda text: len({len(row) for row in csv.reader(io.StringIO(text))}) == 1,
        "sarif": lambda text: len(json.loads(text)["runs"][0]["results"]) == 4,
        "junit": lambda text: ElementTree.fromstring(text).get("tests") == "8",
        "prometheus": lambda text: any(family.name == "kwire_applications" for family in text_string_to_metric_families(text)),
    }
    assert readers[form](result.stdout)


def test_a_file_elsewhere_is_written_whole(analyzed: Path, tmp_path: Path) -> None:
    assert run(str(analyzed), "--format", "json", "--out", str(tmp_path / "all.json")).exit_code == 0
    assert json.loads((tmp_path / "all.json").read_text())["generator"].startswith("kwire ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.json", "out"]


def test_two_forms_do_not_go_into_one_file(analyzed: Path) -> None:
    result = run(str(analyzed), "--format", "md", "--format", "csv", "--out", "-")
    assert result.exit_code == 1
    assert result.stderr == "kwire: --out takes one --format; without --out each has its own file in DIR.\n"


def test_a_folder_to_compare_with_that_is_none_is_one_sentence(analyzed: Path, tmp_path: Path) -> None:
    result = run(str(analyzed), "--before", str(tmp_path / "nowhere"))
    assert result.exit_code == 1
    assert result.stderr.startswith(f"kwire: {tmp_path}/nowhere cannot be read as the folder of an analysis: ")
    assert result.stderr.count("\n") == 1
    assert not (analyzed / "report.html").exists()


def test_what_is_new_since_an_earlier_analysis(analyzed: Path, tmp_path: Path, analysis_tables: ModuleType) -> None:
    fleet = [client for client in analysis_tables.FLEET if client.client_id != "search-feed"]
    before = analysis_tables.write_tables(tmp_path / "before", analysis_tables.tables_of(fleet))
    assert run(str(analyzed), "--before", str(before), "--format", "json", "--format", "html").exit_code == 0
    changes = {one["title"]: one["rows"] for one in json.loads((analyzed / "report.json").read_text())["changes"]}
    assert [(row["Change"], row["Client"], row["Library"]) for row in changes["Clients"]] == [("new", "search-feed", "apache-kafka-java")]
    assert changes["Newly failing"] == []  # a new client has no errors before to compare with
    assert not changes["Topics"]
    page = (analyzed / "report.html").read_text()
    assert 'id="changes-title">Before and after</h2>' in page
    assert "Every client uses the same topics." in page
