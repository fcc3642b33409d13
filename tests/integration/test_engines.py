"""Spark and the local engine run the same tasks: the files of their tables are equal, byte by byte."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kwire.analysis.redaction import Redaction
from kwire.runs.job_request import JobRequest
from kwire.runs.local_processes import LocalProcesses
from kwire.spark.job import run_job
from kwire.tables import SCHEMAS
from pcap_files import pieces_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

CAPTURES = Path(__file__).parent.parent / "captures" / "data"
FLEET = CAPTURES.parent.parent.parent / "examples" / "upgrade-fleet.pcap.gz"


def parts(out: Path) -> dict[tuple[str, str], bytes]:
    """The content of each part by table and name, without the token of the attempt that ends a name."""
    return {(table, path.stem.rpartition("-")[0]): path.read_bytes() for table in SCHEMAS for path in sorted((out / table).iterdir())}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"owners": True},
        {"redaction": Redaction(b"k" * 32, 16), "owners": True},
        pytest.param({"append": True, "log_zone": "Europe/Berlin"}, marks=pytest.mark.matrix),
        pytest.param({"append": True, "series_rule": "points"}, marks=pytest.mark.matrix),
    ],
    ids=str,
)
def test_both_engines_write_the_same_files(
    options: dict[str, Any], spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalProcesses, "for_bytes", lambda _size: LocalProcesses(spark.sparkContext.defaultParallelism))
    data = gzip.decompress((CAPTURES / "topicids.pcap.gz").read_bytes())
    for number, piece in enumerate(pieces_of(data, 3), 1):
        (tmp_path / f"x_{number:05d}.pcap").write_bytes(piece)
    if options.get("owners"):
        (tmp_path / "owners.csv").write_text("team,client_id\npayments,*\n")
        options = {**options, "owners": str(tmp_path / "owners.csv")}
    logs = [str(CAPTURES / name) for name in ("sasl-requests.jsonl.gz", "old-0.11-requests.log.gz")]
    everything = (str(tmp_path / "x_0000?.pcap"), str(FLEET), str(CAPTURES / "sasl.pcap.gz"), *logs)
    first = (str(tmp_path / "x_00001.pcap"), logs[0])
    if "series_rule" in options:  # a third point is added, and all three are read from their beginnings
        everything = tuple(str(tmp_path / name) for name in ("client.pcap", "broker.pcap", "gateway.pcap"))
        for path in everything:
            Path(path).write_bytes(data)
        first = everything[:2]
    steps = [first, everything] if options.get("append") else [everything]
    for engine in ("spark", "local"):
        for inputs in steps:
            report = run_job(JobRequest(inputs=inputs, out=str(tmp_path / engine), engine=engine, **options))
            assert (report.engine, report.skipped) == (engine, [])
    by_spark, by_processes = parts(tmp_path / "spark"), parts(tmp_path / "local")
    assert by_processes.keys() == by_spark.keys()
    assert {table for table, _ in by_spark} == set(SCHEMAS)
    for part, content in by_spark.items():
        assert by_processes[part] == content, part
