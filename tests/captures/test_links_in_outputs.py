"""Links in an output folder: kwire removes and writes nothing that they lead to."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kwire.capture.trimming.rewritten_file import RewrittenFile
from kwire.errors import InputError
from kwire.report.analysis_folder import AnalysisFolder
from kwire.runs.job_request import JobRequest
from kwire.runs.output import MANIFEST, OutputFolder
from kwire.spark.job import run_job
from kwire.tables.schemas import SCHEMAS
from pcap_files import pieces_of

DATA = Path(__file__).parent / "data"


@pytest.fixture
def capture(tmp_path: Path, job_in_process: Callable[..., None]) -> str:
    path = tmp_path / "trace_00000.pcap"
    path.write_bytes(pieces_of(gzip.decompress((DATA / "seed.pcap.gz").read_bytes()), 2)[0])
    return str(path)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "notes.txt").write_text("keep me")
    return tmp_path / "victim"


def kept(victim: Path) -> bool:
    return [path.name for path in victim.iterdir()] == ["notes.txt"] and (victim / "notes.txt").read_text() == "keep me"


PLACES = ["requests", "violations/inner", "_state", "_staging", "report.html", "_manifest.json", "_SUCCESS", "_history.json"]


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_a_link_inside_is_refused(place: str, append: bool, capture: str, victim: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_job(JobRequest(inputs=(capture,), out=str(out)))
    link = out / place
    if link.exists():
        link.rename(tmp_path / "aside")
    link.symlink_to(victim if not Path(place).suffix and not place.isupper() else victim / "notes.txt")
    with pytest.raises(InputError, match=r"is a link, .* choose another --out|exists already"):
        run_job(JobRequest(inputs=(capture,), out=str(out), overwrite=not append, append=append))
    assert link.is_symlink()
    assert kept(victim)


def test_the_folder_itself_may_be_a_link(capture: str, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    for overwrite in (False, True):
        if not overwrite:
            run_job(JobRequest(inputs=(capture,), out=str(tmp_path / "real" / "analysis")))
        run_job(JobRequest(inputs=(capture,), out=str(tmp_path / "out" / "analysis"), overwrite=True))
    assert (tmp_path / "real" / "analysis" / "_SUCCESS").exists()
    assert (tmp_path / "out").is_symlink()


def test_removing_takes_the_link_and_not_what_it_leads_to(victim: Path, tmp_path: Path) -> None:
    """Also a link that was not there when the run began."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "requests").symlink_to(victim)
    OutputFolder(str(tmp_path / "out"), list(SCHEMAS))._remove("requests")
    assert not (tmp_path / "out" / "requests").is_symlink()
    assert kept(victim)


@pytest.mark.parametrize("part", ["../../victim/x", "date=x/../y", "..", "/x", "a/b/c"])
def test_a_plan_that_names_other_folders_is_refused(part: str, capture: str, victim: Path, tmp_path: Path) -> None:
    """A run that was killed while it published is finished from `publish.json`, which others may have written."""
    out = tmp_path / "out"
    run_job(JobRequest(inputs=(capture,), out=str(out)))
    plan = json.loads((out / MANIFEST).read_text())
    plan["parts"]["requests"] = [part]
    (out / "_staging").mkdir()
    (out / "_staging" / "publish.json").write_text(json.dumps(plan))
    with pytest.raises(InputError, match="invalid manifest"):
        run_job(JobRequest(inputs=(capture,), out=str(out), append=True))
    assert (out / "_SUCCESS").exists()
    assert kept(victim)


def test_files_are_written_through_no_link(victim: Path, tmp_path: Path) -> None:
    notes = victim / "notes.txt"
    (tmp_path / f".other.pcap.kwire-{os.getpid()}").symlink_to(notes)
    (tmp_path / "other.pcap").symlink_to(notes)
    made = RewrittenFile(str(tmp_path / "other.pcap"), overwrite=True)
    made.append(b"capture")
    made.publish("gzip")
    assert gzip.decompress((tmp_path / "other.pcap").read_bytes()) == b"capture"
    assert not (tmp_path / "other.pcap").is_symlink()
    assert kept(victim)


def test_a_report_is_written_through_no_link(capture: str, victim: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_job(JobRequest(inputs=(capture,), out=str(out)))
    for name in (".report.html.part", "report.md"):
        (out / name).symlink_to(victim / "notes.txt")
    folder = AnalysisFolder(str(out))
    for name in ("report.html", "report.md"):
        folder.write(name, b"text")
        assert (out / name).read_bytes() == b"text"
    assert kept(victim)


def test_a_copy_by_hard_links_keeps_its_contents(capture: str, tmp_path: Path) -> None:
    """As `cp -al` makes it."""
    out = tmp_path / "out"
    run_job(JobRequest(inputs=(capture,), out=str(out)))
    AnalysisFolder(str(out)).write("report.html", b"page")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for number, path in enumerate(before):
        (tmp_path / f"copy-{number}").hardlink_to(path)
    run_job(JobRequest(inputs=(capture,), out=str(out), append=True))
    run_job(JobRequest(inputs=(capture,), out=str(out), overwrite=True))
    assert [(tmp_path / f"copy-{number}").read_bytes() for number in range(len(before))] == list(before.values())
