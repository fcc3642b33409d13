"""Captures of the same traffic from two points that grow: an analysis that grows with them is that of all of it at once, row by row.

Tasks run in this process; what Spark adds is tested in tests/integration.
"""

from __future__ import annotations

import gzip
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import counted_rows
from counted_rows import counted_folders as tables
from kwire.errors import InputError
from kwire.runs import analysis_run, planning
from kwire.runs.job_request import JobRequest
from kwire.spark import job
from kwire.spark.job import run_job
from pcap_files import later, pieces_of

DATA = Path(__file__).parent / "data"
run = partial(counted_rows.run, series_rule="points")


pytestmark = [pytest.mark.matrix, pytest.mark.usefixtures("job_in_process")]


def two_points(name: str = "seed.pcap.gz") -> tuple[bytes, bytes]:
    """The same packets, seen at the second point by a clock that is two seconds ahead."""
    data = gzip.decompress((DATA / name).read_bytes())
    return data, later(data, 2)


def test_two_points_that_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are cut inside a packet first, the second one before the first; then one grows, then the other, then a file is added.

    One analysis grows with one task, another with three that share the points.
    """
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)

    def grown(shares: int) -> dict[str, Counter[str]]:
        with monkeypatch.context() as patch:
            patch.setattr(job, "slots_of", lambda _spark: shares)
            return tables(run(paths, tmp_path / f"grown{shares}", append=True))

    client, broker = two_points()
    paths = [tmp_path / "client.pcap", tmp_path / "broker_00001.pcap"]
    for number, (first, second) in enumerate([(40_000, 25_000), (len(client), 25_000), (len(client), 60_001), (len(client), len(broker))]):
        paths[0].write_bytes(client[:first])
        paths[1].write_bytes(broker[:second])
        assert grown(1) == grown(3) == tables(run(paths, tmp_path / f"whole{number}"))
    paths.append(tmp_path / "broker_00002.pcap")
    paths[-1].write_bytes(later(client, 600))
    whole = tables(run(paths, tmp_path / "whole"))
    assert grown(1) == grown(3) == whole
    assert grown(1) == grown(3) == whole  # nothing is new


def test_a_second_point_is_added_to_a_first(tmp_path: Path) -> None:
    """What was read of one point alone gives way to both."""
    client, broker = two_points("topicids.pcap.gz")
    pieces = pieces_of(client, 9)
    client = pieces[0] + b"".join(piece[24:] for number, piece in enumerate(pieces[1:]) if number != 4)  # it dropped some packets
    paths = [tmp_path / "client.pcap", tmp_path / "broker.pcap"]
    for path, data in zip(paths, (client, broker), strict=True):
        path.write_bytes(data)
    run(paths[:1], tmp_path / "grown", append=True)
    run(paths, tmp_path / "grown", append=True)
    assert tables(tmp_path / "grown") == tables(run(paths, tmp_path / "whole"))


def test_a_point_that_is_left_out_is_asked_for(tmp_path: Path) -> None:
    paths = [tmp_path / "client.pcap", tmp_path / "broker.pcap", tmp_path / "more.pcap"]
    for path, data in zip(paths, (*two_points(), later(two_points()[0], 4)), strict=True):
        path.write_bytes(data)
    out = run(paths[:2], tmp_path / "out", append=True)
    before = tables(out)
    with pytest.raises(InputError, match=r"broker\.pcap was read with overlapping captures and is not given"):
        run([paths[0], paths[2]], out, append=True)
    assert tables(out) == before


def test_what_is_written_while_points_are_read_is_left_for_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All tasks of a series read the same bytes, however late they begin."""
    client, broker = two_points()
    paths = [tmp_path / "client.pcap", tmp_path / "broker.pcap"]
    paths[0].write_bytes(client)
    paths[1].write_bytes(broker[:30_000])
    expected = tables(run(paths, tmp_path / "expected"))
    real = analysis_run.plan_of

    def plan_of(*args: Any, **more: Any) -> planning.Plan:
        plan = real(*args, **more)
        paths[1].write_bytes(broker)
        return plan

    monkeypatch.setattr(analysis_run, "plan_of", plan_of)
    report = run_job(JobRequest(inputs=tuple(map(str, paths)), out=str(tmp_path / "out"), series_rule="points"))
    more = f"its first 30,000 bytes are in the analysis, {len(broker) - 30_000:,} more are left for a run with --append"
    assert [said for said in report.warnings if said.startswith(f"{paths[1]} has grown while it was read") and more in said]
    found = tables(tmp_path / "out")
    (cut,) = expected.pop("violations") - found.pop("violations")
    assert "'capture_cut'" in cut  # the rest of the packet is there by now
    assert found == expected
    run(paths, tmp_path / "out", append=True)
    assert tables(tmp_path / "out") == tables(run(paths, tmp_path / "all"))
