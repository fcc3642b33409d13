"""Packets routed to many tasks over a real Spark: the tables are those of one process, also when a run goes on in another way."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest

from counted_rows import counted_json
from kwire import analysis
from kwire.capture.dividing.file_ranges import FileRange
from kwire.errors import InputError
from kwire.runs import planning, route_task
from kwire.runs.job_request import JobRequest
from kwire.spark.job import run_job
from pcap_files import starts_of
from plain_hashes import with_plain_hash

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark")]

FLEET = Path(__file__).parents[2] / "examples" / "upgrade-fleet.pcap.gz"


def table(out: Path, name: str) -> Counter[str]:
    rows = counted_json(ds.dataset(out / name, format="parquet").to_table().to_pylist())
    return Counter({with_plain_hash(row): number for row, number in rows.items()}) if name == "captures" else rows


def pieces(folder: Path) -> list[Path]:
    """A capture as three rotated files, one of them compressed, and a file that is none."""
    data = gzip.decompress(FLEET.read_bytes())
    borders = [*starts_of(data), len(data)]
    folder.mkdir()
    cuts = [24, borders[len(borders) // 6], borders[-len(borders) // 6], len(data)]
    parts = [data[:24] + data[start:end] for start, end in pairwise(cuts)]
    files = [folder / f"x_{number:05d}.pcap{suffix}" for number, suffix in ((1, ""), (2, ""), (3, ".gz"), (4, ""))]
    for path, content in zip(files, [parts[0], parts[1], gzip.compress(parts[2]), b"overwritten by mistake"], strict=True):
        path.write_bytes(content)
    return files


def test_many_tasks_give_the_tables_of_one_process(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    monkeypatch.setattr(route_task, "RANGE_BYTES", 30_000)
    monkeypatch.setattr(route_task, "FileRange", partial(FileRange, longest=4096))
    monkeypatch.setattr("kwire.spark.job.slots_of", lambda _spark: 5)
    files = pieces(tmp_path / "in")
    whole = (str(tmp_path / "in"),)
    expected = {name: counted_json(found.to_pylist()) for name, found in analysis.run(list(whole)).items()}
    assert sum(expected["requests"].values()) > 50
    parts: list[int] = []

    def noted(*arguments: Any) -> Any:
        tasks = real(*arguments)
        parts.extend([task.given.parts for task in tasks])
        return tasks

    real = route_task.route_tasks
    monkeypatch.setattr("kwire.runs.analysis_run.route_tasks", noted)
    report = run_job(JobRequest(inputs=whole, out=str(tmp_path / "routed")))
    assert (report.read, [location for location, _ in report.skipped]) == (3, [str(files[3])])
    assert max(parts) > 3
    (series,) = json.loads((tmp_path / "routed" / "_manifest.json").read_text())["series"]
    assert series["shares"] == 5
    for name, rows in expected.items():
        assert table(tmp_path / "routed", name) == rows, name
    assert not (tmp_path / "routed" / "_staging").exists()
    assert report.phases.seconds["route"] > 0
    with monkeypatch.context() as scanning:  # half of it by scanning, the other half by routing
        scanning.setattr(planning, "_is_routed", lambda *_: False)
        run_job(JobRequest(inputs=tuple(map(str, files[:2])), out=str(tmp_path / "grown")))
    run_job(JobRequest(inputs=whole, out=str(tmp_path / "grown"), append=True))
    for name, rows in expected.items():
        if name not in ("captures",):
            assert table(tmp_path / "grown", name) == rows, name


def test_a_folder_that_cannot_be_written_ends_the_run(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    real = route_task.route_tasks

    def in_the_way(*arguments: Any) -> Any:
        (tmp_path / "out" / "_staging" / "packets").write_text("a file where a folder should be")
        return real(*arguments)

    monkeypatch.setattr("kwire.runs.analysis_run.route_tasks", in_the_way)
    with pytest.raises(InputError, match="cannot be written"):
        run_job(JobRequest(inputs=(str(FLEET),), out=str(tmp_path / "out")))
    assert not (tmp_path / "out").exists()
