"""report.json has the shape that docs/reference/report.schema.json describes, and nothing that it does not describe."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from kwire.cli.entry import commands

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "docs" / "reference" / "report.schema.json").read_text("utf-8"))
DATA = ROOT / "tests" / "captures" / "data"
CAPTURES = [
    ROOT / "examples" / "upgrade-fleet.pcap.gz",
    *(DATA / name for name in ("groups.pcapng.gz", "sasl.pcap.gz", "telemetry.pcapng.gz", "tls.pcapng.gz")),
]


def closed(schema: Any) -> Any:
    """The schema in which objects have no keys but those that are described."""
    if isinstance(schema, dict):
        more = {"additionalProperties": False} if "properties" in schema and "required" in schema else {}
        return {name: closed(each) for name, each in schema.items()} | more
    return [closed(each) for each in schema] if isinstance(schema, list) else schema


@pytest.fixture(scope="module", params=CAPTURES, ids=lambda path: path.name)
def document(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("schema") / "out"
    options = ["--engine", "local", "--format", "json"]
    done = CliRunner().invoke(commands, ["analyze", str(request.param), "--out", str(out), *options])
    assert (out / "report.json").exists(), done.output
    return json.loads((out / "report.json").read_text("utf-8"))


def test_the_schema_is_made_from_the_code_as_it_is() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    made = subprocess.run([sys.executable, ROOT / "tools" / "build_report_schema.py", "--check"], check=False)
    assert made.returncode == 0, "run `python tools/build_report_schema.py`"


def test_reports_have_the_shape_and_no_key_besides(document: Any) -> None:
    found = [
        f"{'/'.join(map(str, error.path))}: {error.message[:200]}" for error in Draft202012Validator(closed(SCHEMA)).iter_errors(document)
    ]
    assert found == []


def test_a_document_of_another_shape_is_refused(document: Any) -> None:
    document = json.loads(json.dumps(document))
    document["answer"]["breaks"] = "eleven"
    del document["clients"]
    messages = [error.message for error in Draft202012Validator(SCHEMA).iter_errors(document)]
    assert sorted(messages) == ["'clients' is a required property", "'eleven' is not of type 'integer'"]
