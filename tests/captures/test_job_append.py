"""Runs that go on with an earlier one, and series that several tasks share: the tables are those of one task in one run.

Tasks run in this process; what Spark adds is tested in tests/integration.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from counted_rows import counted, counted_folders, run, written
from kwire.analysis.digests.storing import DIGEST_FILE
from kwire.analysis.redaction import Redaction
from kwire.errors import InputError
from kwire.report.analysis_folder import AnalysisFolder
from kwire.runs import analysis_run, digest_task, finish_task, planning, series_task, settled_sums, sums_files
from kwire.runs.job_request import JobRequest
from kwire.runs.output import MANIFEST, SUCCESS, OutputFolder
from kwire.runs.parts import STATE, opened_part
from kwire.runs.sums_files import SumsFile
from kwire.spark import job
from kwire.spark.job import run_job
from kwire.tables import series_rows
from pcap_files import later, pieces_of

DATA = Path(__file__).parent / "data"
# What may differ between cuts: where in which file something begins.
PROVENANCE = {"series", "capture", "packet_number", "explanation", "evidence_request_index"}


pytestmark = pytest.mark.usefixtures("job_in_process")


def cut(name: str, into: Path, pieces: int) -> list[str]:
    return written(pieces_of(gzip.decompress((DATA / name).read_bytes()), pieces), into)


def repeated(name: str, into: Path, copies: int) -> list[str]:
    """A file for each copy of a capture, ten minutes after the one before: its connections are over by then, and their ports used again."""
    data = gzip.decompress((DATA / name).read_bytes())
    return written([later(data, 600 * number) for number in range(copies)], into)


def tables(out: Path) -> dict[str, Counter[str]]:
    return counted_folders(out, PROVENANCE, without=["captures"])


Whole = Callable[[str, int], dict[str, Counter[str]]]


@pytest.fixture(scope="module")
def whole_of(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """`whole_of("seed.pcap.gz", 3)`: the tables of a capture that was cut into so many files, read by one task in one run, once for all."""

    @cache
    def made(capture: str, pieces: int) -> dict[str, Counter[str]]:
        folder = tmp_path_factory.mktemp("whole")
        return tables(run(cut(capture, folder, pieces), folder / "out"))

    return made


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


def test_going_on_gives_the_tables_of_one_run(tmp_path: Path) -> None:
    """By one file at a time, and by two."""
    pieces = cut("topicids.pcap.gz", tmp_path, 5)
    whole = run(pieces, tmp_path / "whole")
    expected = tables(whole)
    run(pieces[:1], tmp_path / "by-one", append=True)
    shutil.copytree(tmp_path / "by-one", tmp_path / "by-two")
    for out, counts in ((tmp_path / "by-one", (2, 3, 4, 5)), (tmp_path / "by-two", (3, 5))):
        for count in counts:
            run(pieces[:count], out, append=True)
        assert tables(out) == expected
        seen = [ds.dataset(each / "captures", format="parquet").to_table().drop(["series"]) for each in (whole, out)]
        assert seen[0].to_pylist() == seen[1].to_pylist()


@pytest.mark.whole
def test_going_on_in_shares(whole_of: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = cut("seed.pcap.gz", tmp_path, 4)
    whole = whole_of("seed.pcap.gz", 4)
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    monkeypatch.setattr(job, "slots_of", lambda _spark: 3)
    for count in (1, 2, 4):
        run(pieces[:count], tmp_path / "grown", append=True)
    assert tables(tmp_path / "grown") == whole


@pytest.mark.whole
@pytest.mark.parametrize("capture", ["topicids.pcap.gz", pytest.param("seed.pcap.gz", marks=pytest.mark.matrix)])
def test_tables_do_not_depend_on_how_keys_are_divided(
    capture: str, whole_of: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each bucket of keys is finished alone, in steps; files of sums are divided more coarsely or finely than that."""
    pieces = cut(capture, tmp_path, 3)
    whole = whole_of(capture, 3)
    monkeypatch.setattr(sums_files, "PIECE_BYTES", 30_000)
    monkeypatch.setattr(finish_task, "GATHERED_BYTES", 30_000)
    monkeypatch.setattr(finish_task, "BUCKET_BYTES", 8_000)
    monkeypatch.setattr(finish_task, "STEP_BYTES", 2_000)
    for few_bits in (8, 0):  # the second: files are brought together first
        monkeypatch.setattr(finish_task, "_FEW_BITS", few_bits)
        for count in (1, 3):
            out = run(pieces[:count], tmp_path / f"divided-{few_bits}", append=True)
        assert not list(out.rglob("gathered-*"))
        assert len(list((out / "api_usage").iterdir())) > 1
        assert tables(out) == whole


@pytest.mark.whole
def test_sums_in_parts_are_as_good_as_sums_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is settled goes into a part at once; runs that go on add theirs, and all are put together each time."""
    pieces = repeated("seed.pcap.gz", tmp_path, 4)
    whole = tables(run(pieces, tmp_path / "whole"))
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    monkeypatch.setattr(series_rows, "SETTLE_BYTES", 1)
    monkeypatch.setattr(settled_sums, "SUMS_BYTES", 1)
    for shares in (1, 2):
        monkeypatch.setattr(job, "slots_of", lambda _spark, slots=shares: slots)
        grown = tmp_path / f"grown{shares}"
        counts = []
        for count in (2, 4):
            out = run(pieces[:count], grown, append=True)
            counts.append(sum(path.name.startswith("sums-") for path in (out / STATE).iterdir()))
        assert shares <= counts[0] < counts[1]
        assert tables(grown) == whole
        assert tables(run(pieces, grown, append=True)) == whole


def test_no_sums_lie_about_of_a_run_that_hashes_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series_rows, "SETTLE_BYTES", 1)
    monkeypatch.setattr(settled_sums, "SUMS_BYTES", 1)
    removed: list[SumsFile] = []

    def remove(location: str, files: Sequence[SumsFile]) -> None:
        sums_files.remove_sums(location, files)
        assert not list(Path(location).rglob("sums-*"))
        removed.extend(files)

    monkeypatch.setattr(analysis_run, "remove_sums", remove)
    out = run(repeated("seed.pcap.gz", tmp_path, 2), tmp_path / "out", redaction=Redaction(b"a key of many bytes"))
    assert len(removed) > 1
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


def test_a_run_killed_while_it_publishes_is_finished_by_the_next(tmp_path: Path, whole_of: Whole) -> None:
    """Killed at several moments, each time from the same analysis of before."""
    pieces = cut("seed.pcap.gz", tmp_path, 3)
    whole = whole_of("seed.pcap.gz", 3)
    before = run(pieces[:2], tmp_path / "before", append=True)
    for moment in (0, 1, 3, 6):
        out = tmp_path / f"killed{moment}"
        shutil.copytree(before, out)
        with pytest.MonkeyPatch.context() as patch:
            die_at(moment, patch)
            with pytest.raises(Killed):
                run(pieces, out, append=True)
        (out / "_staging" / "run.json").unlink(missing_ok=True)  # this process lives on
        run(pieces, out, append=True)
        assert tables(out) == whole, moment
        assert (out / SUCCESS).exists(), moment


def die_at(moment: int, patch: pytest.MonkeyPatch) -> None:
    left, removed = moment, OutputFolder._remove

    def dying(self: OutputFolder, *names: str) -> None:
        nonlocal left
        if not any(name.startswith("_staging") for name in names):
            left -= 1
            if left < 0:
                raise Killed
        removed(self, *names)

    patch.setattr(OutputFolder, "_remove", dying)
    patch.setattr(OutputFolder, "abandon", lambda _self: None)


def test_what_cannot_be_gone_on_with_is_said(tmp_path: Path) -> None:
    pieces = cut("seed.pcap.gz", tmp_path, 3)
    out = run(pieces[1:2], tmp_path / "out", append=True)
    with pytest.raises(InputError, match=r"belongs before .*, which was read already"):
        run(pieces[:2], out, append=True)
    with pytest.raises(InputError, match="--port left out; use the same"):
        run(pieces[1:2], out, append=True, ports=(9092,))
    read = Path(pieces[1]).read_bytes()
    Path(pieces[1]).write_bytes(read[:-1])
    with pytest.raises(InputError, match=r"has changed since it was read: .* bytes then"):
        run(pieces[1:2], out, append=True)
    Path(pieces[1]).write_bytes(read[:100] + bytes([read[100] ^ 1]) + read[101:] + b"more")
    with pytest.raises(InputError, match=r"has changed since it was read: its first .* bytes differ"):
        run(pieces[1:2], out, append=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep me")
    with pytest.raises(InputError, match="exists already"):
        run(pieces[:1], tmp_path / "mine", append=True)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


@pytest.mark.whole
@pytest.mark.parametrize(
    "capture",
    [
        pytest.param("topicids.pcap.gz", marks=pytest.mark.matrix),
        "seed.pcap.gz",
        pytest.param("late-join.pcap.gz", marks=pytest.mark.matrix),
    ],
)
def test_rows_that_are_written_while_the_series_is_read_are_the_same(
    capture: str, whole_of: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = cut(capture, tmp_path, 8)
    whole = whole_of(capture, 8)
    monkeypatch.setattr(series_rows, "SETTLE_BYTES", 1)
    rounds: list[int] = []
    real = series_task.partial_of_series
    monkeypatch.setattr(series_task, "partial_of_series", lambda rows, sums: rounds.append(len(rows.connections)) or real(rows, sums))
    assert tables(run(pieces, tmp_path / "rounds")) == whole
    assert len(rounds) > 2
    run(pieces[:3], tmp_path / "grown")
    assert tables(run(pieces, tmp_path / "grown", append=True)) == whole


def growing(data: bytes, compressed: bool) -> list[bytes]:
    """A capture as it is found three times while it is written: cut inside a record, between two records, and whole."""
    records = [*pieces_of(data, 40)]
    first, second = (
        len(records[0]) + sum(len(each) - 24 for each in records[1:13]) + 7,
        len(records[0]) + sum(len(each) - 24 for each in records[1:26]),
    )
    stages = [data[:first], data[:second], data]
    if not compressed:
        return stages
    # gzip files grow by members; the second member is cut as it is found first
    members = [gzip.compress(part, mtime=0) for part in (data[:first], data[first:second], data[second:])]
    return [b"".join(members[:count]) for count in (1, 2, 3)]


@pytest.mark.parametrize(
    ("capture", "name", "shares"),
    [
        ("seed.pcap.gz", "trace_00001.pcap", 1),
        ("seed.pcap.gz", "trace_00001.pcap.gz", 3),
        pytest.param("late-join.pcap.gz", "trace_00001.pcap", 3, marks=pytest.mark.matrix),
        pytest.param("topicids.pcap.gz", "trace_00001.pcap.gz", 1, marks=pytest.mark.matrix),
    ],
)
def test_a_file_that_grows_is_gone_on_with(capture: str, name: str, shares: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The manifest holds what was read of the newest file; the next run reads the rest of it, and then the files behind it."""
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    monkeypatch.setattr(job, "slots_of", lambda _spark: shares)
    data = gzip.decompress((DATA / capture).read_bytes())
    path, behind = tmp_path / name, tmp_path / name.replace("1", "2")
    stages = growing(data, name.endswith(".gz"))
    path.write_bytes(stages[-1])
    behind.write_bytes(gzip.compress(later(data, 600)) if name.endswith(".gz") else later(data, 600))
    expected = run([str(path), str(behind)], tmp_path / "expected")
    out = tmp_path / "out"
    for stage in stages:
        path.write_bytes(stage)
        run([str(path)], out, append=True)
    run([str(path), str(behind)], out, append=True)
    assert tables(out) == tables(expected)
    captures, whole = (
        {row["capture"]: row | {"series": ""} for row in ds.dataset(each / "captures", format="parquet").to_table().to_pylist()}
        for each in (out, expected)
    )
    assert captures == whole


def test_what_is_written_while_a_file_is_read_is_left_for_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.decompress((DATA / "seed.pcap.gz").read_bytes())
    path = tmp_path / "trace_00001.pcap"
    path.write_bytes(data[:20_000])
    real = analysis_run.plan_of

    def plan_of(*args: Any, **more: Any) -> planning.Plan:
        plan = real(*args, **more)
        path.write_bytes(data)  # tcpdump goes on while Spark starts
        return plan

    monkeypatch.setattr(analysis_run, "plan_of", plan_of)
    first = run_job(JobRequest(inputs=(str(path),), out=str(tmp_path / "out")))
    more = f"{len(data) - 20_000:,} more are left for a run with --append"
    assert [said for said in first.warnings if more in said and "its first 20,000 bytes are in the analysis" in said]
    rules = [row["rule"] for row in ds.dataset(tmp_path / "out" / "violations", format="parquet").to_table().to_pylist()]
    assert "capture_cut" not in rules
    second = run_job(JobRequest(inputs=(str(path),), out=str(tmp_path / "out"), append=True))
    assert second.warnings == []
    assert tables(tmp_path / "out") == tables(run([str(path)], tmp_path / "expected"))


def test_a_file_that_was_empty_is_read_when_it_has_grown(tmp_path: Path) -> None:
    """The newest file of a rotation is there before its first packet."""
    pieces = cut("seed.pcap.gz", tmp_path, 2)
    expected = run(pieces, tmp_path / "expected")
    data = Path(pieces[1]).read_bytes()
    for content in (b"", data[:24], data):
        Path(pieces[1]).write_bytes(content)
        run(pieces, tmp_path / "out", append=True)
    assert tables(tmp_path / "out") == tables(expected)


@pytest.mark.parametrize(
    "name", ["seed.pcap.gz", "telemetry.pcapng.gz", "tls.pcapng.gz", "late-join.pcap.gz", "upgrade-fleet-requests.jsonl.gz"]
)
def test_the_digest_of_appended_files_is_that_of_the_tables(name: str, tmp_path: Path) -> None:
    """Each run digests only its own final rows again; without the file, a report reads all tables."""
    files: list[str] = []
    others = [str(DATA / each) for each in ("topicids.pcap.gz", "ipv6.pcap.gz", "login-refused.pcap.gz")]
    for given in ([str(DATA / name)], others[:2], others[2:], repeated("sasl.pcap.gz", tmp_path, 2)):
        files += given
        out = run(files, tmp_path / "out", append=True)
        found = AnalysisFolder(str(out)).digest
        (out / DIGEST_FILE).rename(tmp_path / "digest")
        again = AnalysisFolder(str(out)).digest
        (tmp_path / "digest").rename(out / DIGEST_FILE)
        assert found.keys() == again.keys()
        for table, rows in again.items():
            assert counted(found[table]) == counted(rows), table


def test_an_appending_run_digests_new_rows_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of final rows that an earlier run has digested only the times of connections are read; damage is no more than the lost time."""
    digested: list[str] = []

    def spied(out: str, part: str, is_fresh: bool) -> Any:
        digested.append(part)
        return opened_part(out, part, is_fresh)

    monkeypatch.setattr(digest_task, "opened_part", spied)
    files = repeated("seed.pcap.gz", tmp_path, 4)
    first = run(files[:2], tmp_path / "out", append=True)
    before = {part for part in digested if "/part-0" in part}
    digested.clear()
    run(files[:3], tmp_path / "out", append=True)
    assert {part.partition("/")[0] for part in before & set(digested)} == {"connections"}
    (first / DIGEST_FILE).write_bytes((first / DIGEST_FILE).read_bytes()[:-1])
    digested.clear()
    run(files, tmp_path / "out", append=True)
    assert {part.partition("/")[0] for part in before & set(digested)} >= {"connections", "violations"}
