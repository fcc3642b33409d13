"""Action items as SARIF 2.1.0 (OASIS), for code scanning of GitHub, GitLab and Azure: one result per client."""

from __future__ import annotations

from typing import Any, Final

import kwire
from kwire.json_encoding import encode_json
from kwire.report.answer import kafka_names
from kwire.report.contents import Report
from kwire.report.owner_tasks import OwnerTask
from kwire.report.tickets import outcome, what_to_do
from kwire.report.wire_text import SENTENCE, visible

__all__ = ["sarif"]

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES: Final = {
    "breaks": ("client-breaks", "error", "The client uses an API version that the Kafka version removed."),
    "unknown": ("client-unknown", "warning", "The captures do not show whether the Kafka version supports the client."),
    "deprecated": ("client-deprecated", "note", "The client uses an API version that a later Kafka version removed."),
}


def sarif(report: Report) -> str:
    names = kafka_names(report.matrix.targets)
    rules = [
        {"id": rule, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}} for rule, level, text in _RULES.values()
    ]
    driver = {"name": "kwire", "version": kwire.__version__, "rules": rules}
    run = {"tool": {"driver": driver}, "results": [_result(task, names) for task in report.tasks], "columnKind": "unicodeCodePoints"}
    return encode_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _result(task: OwnerTask, names: dict[str, str]) -> dict[str, Any]:
    rule, level, _ = _RULES[task.verdict]
    text = f"{task.name} ({task.software}) {outcome(task, names)}. {' '.join(what_to_do(task))}"
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": visible(text, SENTENCE)},
        # code scanning wants a file; the report explains each client
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": "report.html"}, "region": {"startLine": 1}},
                "logicalLocations": [{"name": visible(task.name), "kind": "resource"}],
            }
        ],
        "partialFingerprints": {"clientKey/v1": task.client_key},
        "properties": {"team": visible(task.team), "apis": sorted({finding.api_name for finding in task.findings})},
    }
