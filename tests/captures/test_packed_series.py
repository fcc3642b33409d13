"""Several small series in one task: the tables are those of a task for each, also when the analysis is appended to."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from counted_rows import counted_folders, run, written
from kwire.runs import packing, planning
from kwire.runs.job_request import JobRequest
from kwire.runs.output import MANIFEST
from kwire.runs.packing import OPEN_BYTES, PACK_BYTES, SMALLEST_PACK_BYTES, pack_limit, packs_of
from kwire.runs.parts import STATE
from kwire.spark import job
from kwire.spark.job import run_job
from kwire.tables import series_rows
from pcap_files import later, pieces_of

DATA = Path(__file__).parent / "data"
PODS = ("topicids", "seed", "late-join", "sasl")


pytestmark = [pytest.mark.matrix, pytest.mark.usefixtures("job_in_process")]


def content(name: str) -> bytes:
    return gzip.decompress((DATA / f"{name}.pcap.gz").read_bytes())


def pods(into: Path, pieces: int = 1) -> list[list[Path]]:
    found = []
    for name in (*PODS, "topicids"):
        into.mkdir(exist_ok=True)
        folder = into / f"pod-{'abcdefg'[len(found)]}"
        folder.mkdir()
        found.append(list(map(Path, written(pieces_of(content(name), pieces), folder))))
    return found


def tables(out: Path) -> dict[str, Counter[str]]:
    """All rows. The name of a series of one file is that file, so it says when the series was seen first."""
    return counted_folders(out, ["series"])


def parts(out: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads((out / MANIFEST).read_text())["parts"]
    return found


def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "PACK_BYTES", 1)


@pytest.mark.parametrize("pieces", [1, 3])
def test_a_pack_gives_the_rows_of_a_task_for_each_series(pieces: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [path for pod in pods(tmp_path / "in", pieces) for path in pod]
    packed = run(files, tmp_path / "packed")
    assert len(list((packed / STATE).iterdir())) == 1
    assert len(parts(packed)["requests"]) <= 3  # of connections that are over, of open ones, and what the end of the series says
    alone(monkeypatch)
    one_by_one = run(files, tmp_path / "alone")
    assert len(list((one_by_one / STATE).iterdir())) == len(PODS) + 1
    assert tables(packed) == tables(one_by_one)


def test_rows_that_settle_while_a_pack_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A series of a pack may have grown large since it was packed."""
    files = [path for pod in pods(tmp_path / "in") for path in pod]
    files[1].write_bytes(content("seed") + later(content("seed"), 600)[24:])
    whole = tables(run(files, tmp_path / "whole"))
    monkeypatch.setattr(series_rows, "SETTLE_BYTES", 1)
    assert tables(run(files, tmp_path / "settled")) == whole


def test_a_pack_is_appended_to(tmp_path: Path) -> None:
    """First some series, then more files of some of them and a new series, then the rest."""
    found = pods(tmp_path / "in", 4)
    every = [path for pod in found for path in pod]
    whole = tables(run(every, tmp_path / "whole"))
    steps = [
        [*found[0][:1], *found[1][:2], *found[2]],
        [*found[0][:3], *found[1][:2], *found[2], *found[3][:2]],
        every,
    ]
    for files in steps:
        grown = run(files, tmp_path / "grown", append=True)
    assert tables(grown) == whole
    again = run(every, tmp_path / "grown", append=True)
    assert tables(again) == whole


def test_a_pack_that_has_grown_is_divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = pods(tmp_path / "in", 2)
    every = [path for pod in found for path in pod]
    whole = tables(run(every, tmp_path / "whole"))
    run([pod[0] for pod in found], tmp_path / "grown")
    monkeypatch.setattr(packing, "PACK_BYTES", OPEN_BYTES)  # two series and what is fresh of them is more than a pack shall cost
    grown = run(every, tmp_path / "grown", append=True)
    assert len(list((grown / STATE).iterdir())) == len(found)
    assert tables(grown) == whole
    assert tables(run(every, tmp_path / "grown", append=True)) == whole


def test_a_series_of_a_pack_that_cannot_be_read(tmp_path: Path) -> None:
    """It is a violation, as for a task alone, until it is read after all by a run that appends."""
    found = pods(tmp_path / "in")
    files = [path for pod in found for path in pod]
    good = files[1].read_bytes()
    files[1].write_bytes(b"no capture at all, and longer than a header of one")
    out = run(files, tmp_path / "out")
    assert [(row["capture"], row["severity"]) for row in unreadable(out)] == [(str(files[1]), "error")]
    assert run_job(JobRequest(inputs=tuple(map(str, files)), out=str(out), append=True)).read == 0
    assert len(unreadable(out)) == 1
    files[1].write_bytes(good)
    report = run_job(JobRequest(inputs=tuple(map(str, files)), out=str(out), append=True))
    assert report.read == 1
    assert not unreadable(out)
    assert tables(out) == tables(run(files, tmp_path / "whole"))


def unreadable(out: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = ds.dataset(out / "violations").to_table().filter(ds.field("rule") == "capture_unreadable").to_pylist()
    return rows


def test_captures_of_several_points_are_never_packed(tmp_path: Path) -> None:
    """A run that finds another point replaces what was read of the first; parts that others share could not go."""
    found = pods(tmp_path / "in")
    out = run([found[0][0], found[1][0]], tmp_path / "out", series_rule="points:(pod-.)")
    assert len(list((out / STATE).iterdir())) == 2


def test_what_a_pack_costs_at_most() -> None:
    """One slot: the limit of a pack. Many: no pack is so small that its task costs more than its work."""
    many = [5_000] * 10_000
    assert pack_limit(many, 2) == PACK_BYTES
    assert pack_limit(many, 10_000) == SMALLEST_PACK_BYTES
    assert pack_limit([40 << 20] * 4, 2) == 2 * ((40 << 20) + OPEN_BYTES)


def test_ten_thousand_series_of_5_kb_are_few_packs() -> None:
    """A pack has at most PACK_BYTES / OPEN_BYTES = 512 series; each makes five to seven files."""
    sizes, names = [5_000] * 10_000, [f"pod-{number}" for number in range(10_000)]
    packs = packs_of(sizes, names, pack_limit(sizes, 2))
    assert [index for pack in packs for index in pack] == list(range(10_000))
    assert len(packs) == 20  # 10,000 / (128 MiB / (256 KiB + 5,000 B)) = 19.9


def test_two_series_of_one_name_are_never_in_one_pack() -> None:
    assert packs_of([1, 1, 1], ["a", "b", "a"], PACK_BYTES) == [[0, 1], [2]]


def test_large_series_have_tasks_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert packs_of([PACK_BYTES, 5, 5, PACK_BYTES], list("abcd"), PACK_BYTES) == [[0], [1, 2], [3]]
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    monkeypatch.setattr(job, "slots_of", lambda _spark: 8)
    shared = run([pod[0] for pod in pods(tmp_path / "in")], tmp_path / "shared")
    assert len(list((shared / STATE).iterdir())) > len(PODS)  # connections of a series are shared out where there are more cores
