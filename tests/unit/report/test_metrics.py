"""The report as Prometheus metrics, as Prometheus' own parser reads them; and the dashboard that shows them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pyarrow.dataset as ds
from prometheus_client.parser import text_string_to_metric_families

from kwire.report import render_report

VERDICTS = ("compatible", "deprecated", "unknown", "breaks")
ROOT = Path(__file__).resolve().parents[3]


def families(folder: Path) -> dict[str, dict[tuple[str, ...], float]]:
    """Samples by their label values, by metric."""
    found = text_string_to_metric_families(render_report(folder, "prometheus"))
    return {family.name: {tuple(sample.labels.values()): sample.value for sample in family.samples} for family in found}


def test_applications_are_counted_by_kafka_version_and_verdict(analyzed: Path) -> None:
    """Counted again from the tables: the worst verdict of each client on the newest target."""
    found = families(analyzed)["kwire_applications"]
    rows = ds.dataset(analyzed / "upgrade_impact").to_table().to_pylist()
    newest = max(row["target_release"] for row in rows)
    worst: dict[str, int] = {}
    for row in rows:
        if row["target_release"] == newest:
            worst[row["client_key"]] = max(worst.get(row["client_key"], 0), VERDICTS.index(row["verdict"]))
    apart = {client["client_key"] for client in json.loads(render_report(analyzed, "json"))["clients"] if client["kind"] != "application"}
    counts = Counter(VERDICTS[place] for key, place in worst.items() if key not in apart)
    version = max(version for version, _ in found)
    assert {verdict: found[version, verdict] for verdict in ("compatible", "deprecated", "unknown", "breaks")} == {
        "compatible": counts["compatible"], "deprecated": counts["deprecated"], "unknown": counts["unknown"], "breaks": counts["breaks"],
    }  # fmt: skip
    assert counts["breaks"]


def test_labels_hold_no_client_ids(analyzed: Path) -> None:
    text = render_report(analyzed, "prometheus")
    names = set(re.findall(r"[{,](\w+)=", text))
    assert names == {"kafka_version", "verdict", "client_software_name", "client_software_version", "identified_by"}


def test_the_dashboard_asks_for_metrics_that_there_are(analyzed: Path) -> None:
    dashboard = json.loads((ROOT / "examples" / "grafana-dashboard.json").read_text("utf-8"))
    asked = {name for panel in dashboard["panels"] for target in panel["targets"] for name in re.findall(r"kwire_\w+", target["expr"])}
    assert asked
    assert asked <= families(analyzed).keys()
