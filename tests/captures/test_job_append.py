"""Runs that go on with an earlier one, and series that several tasks share: the tables are those of one task in one run.

Tasks run in this process; what Spark adds is tested in tests/integration.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from kwire.analysis.redaction import Redaction
from kwire.errors import InputError
from kwire.spark import job, planning, series_task, settled_sums
from kwire.spark.job import JobRequest, run_job
from kwire.spark.output import MANIFEST, STATE, SUCCESS, OutputFolder
from kwire.tables import series_rows
from pcap_files import later, pieces_of

DATA = Path(__file__).parent / "data"
# What may differ between cuts: where in which file something begins.
PROVENANCE = {"series", "capture", "packet_number", "explanation", "evidence_request_index"}


@pytest.fixture(autouse=True)
def without_spark(job_in_process: Callable[..., None]) -> None:
    job_in_process()


def cut(name: str, into: Path, pieces: int) -> list[str]:
    """Cut a capture into files as a rotating capture names them."""
    return written(pieces_of(gzip.decompress((DATA / name).read_bytes()), pieces), into)


def repeated(name: str, into: Path, copies: int) -> list[str]:
    """A file for each copy of a capture, ten minutes after the one before: its connections are over by then, and their ports used again."""
    data = gzip.decompress((DATA / name).read_bytes())
    return written([later(data, 600 * number) for number in range(copies)], into)


def written(files: list[bytes], into: Path) -> list[str]:
    paths = [into / f"trace_{number:05d}.pcap" for number in range(len(files))]
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(data)
    return list(map(str, paths))


def tables(out: Path) -> dict[str, Counter[str]]:
    found = {}
    for folder in sorted(path for path in out.iterdir() if path.is_dir() and not path.name.startswith("_")):
        if folder.name == "captures":
            continue
        rows = ds.dataset(folder, format="parquet").to_table().to_pylist()
        found[folder.name] = Counter(json.dumps({k: v for k, v in row.items() if k not in PROVENANCE}, default=str) for row in rows)
    return found


def run(inputs: Sequence[str], out: Path, **more: Any) -> Path:
    run_job(JobRequest(inputs=tuple(inputs), out=str(out), **more))
    return out


@pytest.mark.parametrize(("capture", "shares"), [("topicids.pcap.gz", 2), ("seed.pcap.gz", 5), ("late-join.pcap.gz", 3)])
def test_a_series_that_tasks_share_gives_the_tables_of_one(
    capture: str, shares: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = cut(capture, tmp_path, 3)
    one = tables(run(pieces, tmp_path / "one"))
    monkeypatch.setattr(job, "slots_of", lambda _spark: shares)
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    shared = run(pieces, tmp_path / "shared")
    assert len(list((shared / STATE).iterdir())) == shares
    assert tables(shared) == one
    captures = [ds.dataset(tmp_path / name / "captures", format="parquet").to_table().to_pylist() for name in ("one", "shared")]
    assert captures[0] == captures[1]


@pytest.mark.parametrize("steps", [[1, 3], [1, 2, 3, 4]])
def test_going_on_gives_the_tables_of_one_run(steps: list[int], tmp_path: Path) -> None:
    pieces = cut("topicids.pcap.gz", tmp_path, 5)
    whole = tables(run(pieces, tmp_path / "whole"))
    for count in (*steps, 5):
        run(pieces[:count], tmp_path / "grown", append=True)
    assert tables(tmp_path / "grown") == whole
    seen = [ds.dataset(tmp_path / name / "captures", format="parquet").to_table().drop(["series"]) for name in ("whole", "grown")]
    assert seen[0].to_pylist() == seen[1].to_pylist()


def test_going_on_in_shares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = cut("seed.pcap.gz", tmp_path, 4)
    whole = tables(run(pieces, tmp_path / "whole"))
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    monkeypatch.setattr(job, "slots_of", lambda _spark: 3)
    for count in (1, 2, 4):
        run(pieces[:count], tmp_path / "grown", append=True)
    assert tables(tmp_path / "grown") == whole


@pytest.mark.parametrize("shares", [1, 2])
def test_sums_in_parts_are_as_good_as_sums_in_memory(shares: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is settled goes into a part at once; runs that go on add theirs, and all are put together each time."""
    pieces = repeated("seed.pcap.gz", tmp_path, 4)
    whole = tables(run(pieces, tmp_path / "whole"))
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    monkeypatch.setattr(job, "slots_of", lambda _spark: shares)
    monkeypatch.setattr(series_rows, "SETTLE_BYTES", 1)
    monkeypatch.setattr(settled_sums, "SUMS_BYTES", 1)
    counts = []
    for count in (2, 4):
        out = run(pieces[:count], tmp_path / "grown", append=True)
        counts.append(sum(path.name.startswith("sums-") for path in (out / STATE).iterdir()))
    assert shares <= counts[0] < counts[1]
    assert tables(tmp_path / "grown") == whole
    assert tables(run(pieces, tmp_path / "grown", append=True)) == whole


def test_no_sums_lie_about_of_a_run_that_hashes_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series_rows, "SETTLE_BYTES", 1)
    monkeypatch.setattr(settled_sums, "SUMS_BYTES", 1)
    written: list[str] = []
    monkeypatch.setattr(settled_sums, "write_blob", lambda *told: written.append(told[2]))
    out = run(repeated("seed.pcap.gz", tmp_path, 2), tmp_path / "out", redaction=Redaction(b"a key of many bytes"))
    assert not written
    assert not (out / STATE).exists()


def test_the_same_input_again_adds_nothing(tmp_path: Path) -> None:
    pieces = cut("seed.pcap.gz", tmp_path, 2)
    out = run(pieces, tmp_path / "out", append=True)
    before, manifest = tables(out), json.loads((out / MANIFEST).read_text())
    run(pieces, out, append=True)
    assert tables(out) == before
    assert json.loads((out / MANIFEST).read_text())["series"] == manifest["series"]


def test_a_new_series_beside_a_known_one(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = cut("seed.pcap.gz", tmp_path / "a", 2), cut("topicids.pcap.gz", tmp_path / "b", 2)
    whole = tables(run([*first, *second], tmp_path / "whole"))
    run(first, tmp_path / "grown", append=True)
    run([*first, *second], tmp_path / "grown", append=True)
    assert tables(tmp_path / "grown") == whole


class Killed(BaseException):
    """What ends a process without anybody clearing up."""


@pytest.mark.parametrize("moment", [0, 1, 3, 6])
def test_a_run_killed_while_it_publishes_is_finished_by_the_next(
    moment: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job_in_process: Callable[..., None]
) -> None:
    pieces = cut("seed.pcap.gz", tmp_path, 3)
    whole = tables(run(pieces, tmp_path / "whole"))
    out = run(pieces[:2], tmp_path / "grown", append=True)
    left, removed = moment, OutputFolder._remove

    def dying(self: OutputFolder, *names: str) -> None:
        nonlocal left
        if not any(name.startswith("_staging") for name in names):
            left -= 1
            if left < 0:
                raise Killed
        removed(self, *names)

    monkeypatch.setattr(OutputFolder, "_remove", dying)
    monkeypatch.setattr(OutputFolder, "abandon", lambda _self: None)
    try:
        run(pieces, out, append=True)
        killed = False
    except Killed:
        killed = True
    monkeypatch.undo()
    assert killed
    (out / "_staging" / "run.json").unlink(missing_ok=True)  # this process lives on
    job_in_process()
    run(pieces, out, append=True)
    assert tables(out) == whole
    assert (out / SUCCESS).exists()


def test_what_cannot_be_gone_on_with_is_said(tmp_path: Path) -> None:
    pieces = cut("seed.pcap.gz", tmp_path, 3)
    out = run(pieces[1:2], tmp_path / "out", append=True)
    with pytest.raises(InputError, match=r"belongs before .*, which was read already"):
        run(pieces[:2], out, append=True)
    with pytest.raises(InputError, match="--port left out; go on with the same"):
        run(pieces[1:2], out, append=True, ports=(9092,))
    with Path(pieces[1]).open("ab") as file:
        file.write(b"more")
    with pytest.raises(InputError, match=r"has changed since it was read: .* bytes then"):
        run(pieces[1:2], out, append=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep me")
    with pytest.raises(InputError, match="exists already"):
        run(pieces[:1], tmp_path / "mine", append=True)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("capture", ["topicids.pcap.gz", "seed.pcap.gz", "late-join.pcap.gz"])
def test_rows_that_are_written_while_the_series_is_read_are_the_same(capture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = cut(capture, tmp_path, 8)
    whole = tables(run(pieces, tmp_path / "whole"))
    monkeypatch.setattr(series_rows, "SETTLE_BYTES", 1)
    rounds: list[int] = []
    real = series_task.partial_of_series
    monkeypatch.setattr(series_task, "partial_of_series", lambda rows, sums: rounds.append(len(rows.connections)) or real(rows, sums))
    assert tables(run(pieces, tmp_path / "rounds")) == whole
    assert len(rounds) > 2
    run(pieces[:3], tmp_path / "grown")
    assert tables(run(pieces, tmp_path / "grown", append=True)) == whole
