"""An analysis of compressed captures by several tasks: the tables are those of one process, and the manifest says how it was shared out."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from compressed_files import bgzf, zstd, zstd_frames
from counted_rows import counted, counted_folders, counted_json
from kwire import analysis
from kwire.capture.dividing.file_ranges import FileRange
from kwire.runs import planning, read_running, route_task
from kwire.runs.job_request import JobRequest
from kwire.spark.job import run_job
from pcap_files import starts_of
from plain_hashes import with_plain_hash

pytestmark = pytest.mark.usefixtures("job_in_process")

DATA = Path(__file__).parent / "data"
FLEET = Path(__file__).parents[2] / "examples" / "upgrade-fleet.pcap.gz"


def pieces(folder: Path) -> list[Path]:
    """A capture as four rotated files: gzip of one member, BGZF, zstd of many frames and of one."""
    data = gzip.decompress(FLEET.read_bytes())
    borders = starts_of(data)
    cuts = [24, borders[len(borders) // 12], borders[len(borders) // 2], borders[-len(borders) // 12], len(data)]
    parts = [data[:24] + data[start:end] for start, end in pairwise(cuts)]
    folder.mkdir()
    files = [folder / f"x_{number:05d}.pcap.{suffix}" for number, suffix in enumerate(("gz", "gz", "zst", "zst"), 1)]
    frames = [range(1000, len(part), 3001) for part in parts]
    for path, content in zip(
        files, [gzip.compress(parts[0]), bgzf(parts[1], frames[1]), zstd_frames(parts[2], frames[2]), zstd(parts[3])], strict=True
    ):
        path.write_bytes(content)
    return files


def test_compressed_files_are_shared_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    monkeypatch.setattr(route_task, "RANGE_BYTES", 30_000)
    monkeypatch.setattr(route_task, "FileRange", partial(FileRange, longest=4096))
    monkeypatch.setattr("kwire.spark.job.slots_of", lambda _spark: 6)
    files = pieces(tmp_path / "in")
    divided: Counter[str] = Counter()

    def noted(*arguments: Any) -> Any:
        tasks = real(*arguments)
        divided.update(Path(task.given.location).name for task in tasks)
        return tasks

    real = route_task.route_tasks
    monkeypatch.setattr("kwire.runs.analysis_run.route_tasks", noted)
    report = run_job(JobRequest(inputs=(str(tmp_path / "in"),), out=str(tmp_path / "out")))
    assert report.read == 4
    assert [divided[path.name] > 1 for path in files] == [False, True, True, False]
    (shared,) = json.loads((tmp_path / "out" / "_manifest.json").read_text())["cost"]["plan"]["shared"]
    assert shared == {"files": 4, "tasks": 6, "sharing": "route", "ranges": divided.total()}
    expected = analysis.run([str(tmp_path / "in")])
    assert len(expected["requests"]) > 50
    for name, table in expected.items():
        found = counted_json(ds.dataset(tmp_path / "out" / name, format="parquet").to_table().to_pylist())
        if name == "captures":
            assert [path.name for path in files if "sha256-4MiB" in "".join(row for row in found if path.name in row)] == [
                files[1].name,
                files[2].name,
            ]
            found = Counter(map(with_plain_hash, found.elements()))
        assert found == counted_json(table.to_pylist()), name


def test_shares_of_all_series_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first job routes the packets of both series, the second reads all of their shares."""
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    monkeypatch.setattr("kwire.spark.job.slots_of", lambda _spark: 9)
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("seed.pcap", "dribble.pcap"):
        (folder / name).write_bytes(gzip.decompress((DATA / f"{name}.gz").read_bytes()))
    jobs: list[list[str]] = []

    def noted(spark: Any, items: Any, work: Any) -> Any:
        jobs.append(["route" if isinstance(item, route_task.RouteTask) else Path(item[0].members[0].name).name for item in items])
        return real(spark, items, work)

    real = read_running.run_each
    monkeypatch.setattr(read_running, "run_each", noted)
    run_job(JobRequest(inputs=(str(folder),), out=str(tmp_path / "out")))
    assert [Counter(job) for job in jobs] == [{"route": 2}, {"dribble.pcap": 7, "seed.pcap": 3}]
    found = counted_folders(tmp_path / "out", without=["captures"])
    assert found == {name: counted(table) for name, table in analysis.run([str(folder)]).items() if name != "captures"}
