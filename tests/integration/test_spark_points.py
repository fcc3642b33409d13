"""The same capture given twice, as of two points, is one series of the job and counts once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from kwire.spark.job import JobRequest, run_job
from kwire.tables import from_capture

# `run_job` finds the session
pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("spark")]

ORDER = [("connection_id", "ascending"), ("request_index", "ascending")]
SEED = Path(__file__).parent.parent / "captures" / "data" / "seed.pcap.gz"


def test_two_points_on_spark(tmp_path: Path) -> None:
    points = tmp_path / "points"
    points.mkdir()
    for name in ("client.pcap.gz", "broker.pcap.gz"):
        shutil.copy(SEED, points / name)
    out = tmp_path / "out"
    request = JobRequest(inputs=(str(points),), out=str(out), series_rule="points")
    report = run_job(request)
    assert (report.read, report.skipped) == (1, [])
    requests = ds.dataset(out / "requests").to_table()
    assert requests.num_rows == from_capture(str(SEED)).num_rows
    # a third point is added, and all three are read from their beginnings
    shutil.copy(SEED, points / "gateway.pcap.gz")
    run_job(JobRequest(inputs=(str(points),), out=str(out), series_rule="points", append=True))
    run_job(JobRequest(inputs=(str(points),), out=str(tmp_path / "at-once"), series_rule="points"))
    found, expected = (ds.dataset(folder / "requests").to_table().sort_by(ORDER) for folder in (out, tmp_path / "at-once"))
    assert found == expected
    assert found.num_rows == requests.num_rows
