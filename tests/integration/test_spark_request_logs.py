"""The job on request logs and captures together: the same tables as in one process, also when the logs come one by one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from counted_rows import counted_json
from kwire import analysis
from kwire.errors import InputError
from kwire.spark.job import JobRequest, run_job
from kwire.tables import SCHEMAS

# `run_job` finds the session
pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("spark")]

DATA = Path(__file__).parents[1] / "captures" / "data"


def rows(out: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ds.dataset(out / table, format="parquet", schema=SCHEMAS[table]).to_table().to_pylist()
    return found


def test_a_folder_with_both_kinds(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("sasl.pcap.gz", "sasl-requests.jsonl.gz", "old-0.11-requests.log.gz"):
        (folder / name).write_bytes((DATA / name).read_bytes())
    (folder / "server.log").write_text("[2026-01-01 00:00:00,000] INFO started (kafka.server.KafkaServer)\n")
    request = JobRequest(inputs=(str(folder),), out=str(tmp_path / "out"), log_zone="Europe/Berlin")
    report = run_job(request)
    assert (report.read, report.skipped) == (3, [])
    expected = analysis.run([str(folder)], log_zone="Europe/Berlin")
    for table, found in expected.items():
        assert counted_json(rows(tmp_path / "out", table)) == counted_json(found.to_pylist()), table
    assert {row["source"] for row in rows(tmp_path / "out", "captures")} == {"pcap", "request_log"}
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    assert manifest["log_zone"] == "Europe/Berlin"


def test_logs_that_come_one_by_one(tmp_path: Path) -> None:
    """Each hour's file is appended when the broker has rolled it: the tables are those of one run over all."""
    lines = gzip.decompress((DATA / "old-0.11-requests.log.gz").read_bytes()).splitlines(keepends=True)
    folder = tmp_path / "in"
    folder.mkdir()
    for hour in range(2):
        (folder / f"kafka-request.log.2026-11-21-{hour:02d}").write_bytes(b"".join(lines[hour * 139 : (hour + 1) * 139]))
        run_job(JobRequest(inputs=(str(folder),), out=str(tmp_path / "out"), append=True))
    expected = analysis.run([str(folder)])
    # a series of one file has that file's name until it has a second
    for table, found in expected.items():
        told = [{name: value for name, value in row.items() if name != "series"} for row in found.to_pylist()]
        assert counted_json(
            [{name: value for name, value in row.items() if name != "series"} for row in rows(tmp_path / "out", table)]
        ) == counted_json(told), table
    assert sum(row["requests"] for row in rows(tmp_path / "out", "captures")) == len(lines) == 278


def test_a_zone_that_does_not_exist_is_said_before_spark_starts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no time zone 'Mars'"):
        run_job(JobRequest(inputs=(str(DATA / "old-0.11-requests.log.gz"),), out=str(tmp_path / "out"), log_zone="Mars"))
    assert not (tmp_path / "out").exists()
