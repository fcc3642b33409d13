"""The job over a real Spark: the same tables as in one process, and nothing that looks complete when it is not."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest
from click.testing import CliRunner

from counted_rows import counted, counted_folders, counted_json
from kwire import analysis
from kwire.cli.analyze import THIN_EVIDENCE
from kwire.cli.entry import commands
from kwire.errors import InputError
from kwire.runs import planning
from kwire.runs.job_request import JobRequest
from kwire.spark.job import run_job
from kwire.spark.session import LOCAL_SETTINGS
from kwire.tables import SCHEMAS
from pcap_files import pieces_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

CAPTURES = Path(__file__).parent.parent / "captures" / "data"
SEED, LATE, V6 = (str(CAPTURES / name) for name in ("seed.pcap.gz", "late-join.pcap.gz", "ipv6.pcap.gz"))


def rows(out: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ds.dataset(out / table, format="parquet").to_table().to_pylist()
    return found


@pytest.fixture(scope="module")
def analyzed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("job") / "out"
    report = run_job(JobRequest(inputs=(SEED, LATE, V6), out=str(out)))
    assert (report.read, report.skipped) == (3, [])
    return out


def test_the_tables_are_those_of_one_process(analyzed: Path) -> None:
    expected = analysis.run([SEED, LATE, V6])
    assert expected.keys() == SCHEMAS.keys()
    for table, found in expected.items():
        assert counted_json(rows(analyzed, table)) == counted_json(found.to_pylist()), table
    assert len(rows(analyzed, "requests")) > 100


def test_small_series_share_a_part(analyzed: Path) -> None:
    """Three captures of some kilobytes are one task (kwire.runs.packing)."""
    assert {path.name.split("-")[1] for path in (analyzed / "requests").iterdir()} == {"00000"}
    assert {row["series"] for row in rows(analyzed, "requests")} == {SEED, LATE, V6}


def test_the_folder_says_what_it_was_made_from(analyzed: Path) -> None:
    assert (analyzed / "_SUCCESS").exists()
    assert not (analyzed / "_staging").exists()
    manifest = json.loads((analyzed / "_manifest.json").read_text())
    assert manifest["inputs"] == [SEED, LATE, V6]
    assert {capture["capture"] for capture in manifest["captures"]} == {SEED, LATE, V6}
    assert manifest["parts"]["requests"] == sorted(path.name for path in (analyzed / "requests").iterdir())


@pytest.mark.matrix
def test_spark_reads_every_table_with_the_types_that_were_meant(spark: SparkSession, analyzed: Path) -> None:
    from pyspark.sql.pandas.types import to_arrow_schema

    for table, schema in SCHEMAS.items():
        frame = spark.read.parquet(str(analyzed / table))
        assert to_arrow_schema(frame.schema, timezone="UTC").remove_metadata() == schema, table
    assert spark.read.parquet(str(analyzed / "requests")).count() == len(rows(analyzed, "requests"))


@pytest.mark.matrix
def test_pieces_of_a_series_are_read_by_one_task(spark: SparkSession, tmp_path: Path) -> None:
    """A capture cut in the middle of its packets gives the rows of the whole."""
    whole = gzip.decompress(Path(SEED).read_bytes())
    for number, piece in enumerate(pieces_of(whole, 2), 1):
        (tmp_path / f"x_{number:05d}.pcap").write_bytes(piece)
    run_job(JobRequest(inputs=(str(tmp_path / "x_0000?.pcap"),), out=str(tmp_path / "cut")))
    provenance = {"capture", "series", "packet_number"}
    expected, found = analysis.run([SEED]), counted_folders(tmp_path / "cut", provenance)
    for table in ("requests", "connections", "clients", "api_usage", "upgrade_impact"):
        assert found[table] == counted(expected[table], provenance), table
    assert len(list((tmp_path / "cut" / "requests").iterdir())) == 1


@pytest.mark.matrix
def test_tasks_share_the_connections_of_one_series(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    run_job(JobRequest(inputs=(SEED,), out=str(tmp_path / "shared")))
    (series,) = json.loads((tmp_path / "shared" / "_manifest.json").read_text())["series"]
    assert series["shares"] == 2  # cores of the session
    for table, found in analysis.run([SEED]).items():
        assert counted_json(rows(tmp_path / "shared", table)) == counted_json(found.to_pylist()), table


def test_files_that_cannot_be_read_are_told_and_the_rest_is_kept(spark: SparkSession, tmp_path: Path) -> None:
    """One is missing, one is no capture and alone in its series, one is no capture amid a series."""
    (tmp_path / "broker_00001.pcap").write_bytes(gzip.decompress(Path(SEED).read_bytes()))
    (tmp_path / "broker_00002.pcap").write_text("this file was overwritten by mistake")
    (tmp_path / "stray.pcap").write_text("nothing of use either")
    out = tmp_path / "out"
    inputs = [str(tmp_path), str(tmp_path / "gone.pcap")]
    result = CliRunner().invoke(commands, ["analyze", *inputs, "--out", str(out), "--no-report"])
    assert result.exit_code == 3, result.stderr
    told = [line for line in result.stderr.splitlines() if "left out" in line]
    for name in ("broker_00002.pcap is not a capture file", "stray.pcap is not a capture file", "gone.pcap does not exist"):
        assert sum(name in line for line in told) == 1
    unreadable = [row["capture"] for row in rows(out, "violations") if row["rule"] == "capture_unreadable"]
    assert sorted(Path(each).name for each in unreadable) == ["broker_00002.pcap", "gone.pcap", "stray.pcap"]
    assert len(rows(out, "requests")) == len(analysis.run([SEED])["requests"])
    assert (out / "_SUCCESS").exists()
    assert not (out / "report.html").exists()


def test_when_the_job_finds_nothing_to_read_it_leaves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(9):  # more than are looked at before Spark starts
        (tmp_path / f"x_{number:05d}.pcap").write_text("no capture at all, this one")
    with pytest.raises(InputError, match=r"none of the 9 files can be read; the first: .*is not a capture file"):
        run_job(JobRequest(inputs=(str(tmp_path),), out=str(tmp_path / "out")))
    assert not (tmp_path / "out").exists()


def test_a_capture_without_kafka_is_analysed_and_said(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "nothing.pcap").write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    result = CliRunner().invoke(commands, ["analyze", str(tmp_path / "nothing.pcap"), "--out", str(tmp_path / "out")])
    assert result.exit_code == THIN_EVIDENCE, result.stderr
    assert "no Kafka request was found in" in result.stderr
    assert (tmp_path / "out" / "report.html").exists()
    assert {table: len(rows(tmp_path / "out", table)) for table in ("captures", "requests", "clients")} == {
        "captures": 1, "requests": 0, "clients": 0,
    }  # fmt: skip


def test_a_disk_that_takes_no_more_fails_the_job_cleanly(spark: SparkSession, tmp_path: Path) -> None:
    """A task finds that the staging cannot be written: its sentence comes back, no stack of a worker."""
    out = tmp_path / "out"

    def block(what: str, _done: int, _total: int) -> None:
        if what == "Starting Spark":
            (out / "_staging" / "requests").touch()  # a file stands where the folder of the parts must be

    with pytest.raises(InputError, match=r"out cannot be written: (Not a directory|File exists)\.$"):
        run_job(JobRequest(inputs=(SEED,), out=str(out)), progress=block)
    assert not out.exists()


def test_a_page_that_fails_costs_no_tables(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def half(_folder: str) -> None:
        (out / "report.html").write_text("<html>")
        raise InputError("no space left")

    with pytest.raises(InputError, match="no space left"):
        run_job(JobRequest(inputs=(SEED,), out=str(out)), page=half)
    assert (out / "_SUCCESS").exists()
    assert not (out / "report.html").exists()
    assert rows(out, "requests")


@pytest.mark.matrix
def test_overwriting_replaces_the_whole_analysis(spark: SparkSession, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    run_job(JobRequest(inputs=(SEED, LATE), out=out))
    run_job(JobRequest(inputs=(V6,), out=out, overwrite=True, target_releases=("4.0.0",)))
    assert {row["capture"] for row in rows(tmp_path / "out", "requests")} == {V6}
    assert {row["target_release"] for row in rows(tmp_path / "out", "upgrade_impact")} == {"4.0.0"}


def test_hostile_text_reaches_neither_terminal_nor_page_raw(spark: SparkSession, tmp_path: Path) -> None:
    hostile = str(CAPTURES / "hostile-requests.pcap.gz")
    result = CliRunner().invoke(commands, ["analyze", hostile, "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.stderr
    assert all(character.isprintable() or character == "\n" for character in result.stdout + result.stderr)
    ids = {row["client_id"] or "" for row in rows(tmp_path / "out", "requests")}
    markup = next(each for each in ids if each.startswith("<") or "<script" in each)
    assert markup not in (tmp_path / "out" / "report.html").read_text()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "kwire", *arguments]


@pytest.mark.matrix
def test_the_command_with_a_master_is_quiet_in_a_pipe(tmp_path: Path) -> None:
    """In a process of its own: neither Spark nor Java says a word, stdout has the summary and nothing else."""
    shutil.copy(SEED, tmp_path / "here.pcap.gz")
    done = subprocess.run(
        command("analyze", "here.pcap.gz", "--out", "out", "--master", "local[2]", "--json"),
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert json.loads(done.stdout)["read"] == 1
    # relative names stay as the user wrote them
    assert {row["capture"] for row in rows(tmp_path / "out", "captures")} == {"here.pcap.gz"}


def test_a_master_that_is_none(tmp_path: Path) -> None:
    done = subprocess.run(
        command("analyze", SEED, "--out", str(tmp_path / "out"), "--master", "moon"),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("kwire: Spark could not be started with master moon: ")
    assert not (tmp_path / "out").exists()


def _group_lives(group: int) -> bool:
    """Whether a process of the group runs. Orphans that have ended stay in it where nobody waits for them (containers)."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    if not Path("/proc/self/stat").exists():
        return True
    states = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _parent, of = path.read_text("utf-8", "replace").rpartition(")")[2].split()[:3]
            if int(of) == group:
                states.add(state)
    return bool(states - {"Z", "X"})


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


STOPS = [
    (signal.SIGINT, 130),
    pytest.param(signal.SIGKILL, -signal.SIGKILL, marks=pytest.mark.matrix),
    pytest.param(signal.SIGTERM, 143, marks=pytest.mark.matrix),
]


@pytest.mark.parametrize(("sent", "status"), STOPS)
def test_a_run_that_is_stopped_never_looks_complete(sent: signal.Signals, status: int, tmp_path: Path) -> None:
    out = tmp_path / "out"
    # a process group of its own, so that its JVM is found and can be ended
    running = subprocess.Popen(
        command("analyze", SEED, "--out", str(out), "--engine", "spark"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _wait_until((out / "_staging" / "run.json").exists)
        time.sleep(1)  # into the start of the JVM
        running.send_signal(sent)
        _stdout, stderr = running.communicate(timeout=120)
        _wait_until(lambda: not _group_lives(running.pid))  # no JVM is left behind
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == status, stderr
    assert stderr.strip() == (f"kwire: interrupted; {out} is as it was before." if sent == signal.SIGINT else "")
    assert not (out / "_SUCCESS").exists()
    assert out.exists() == (sent == signal.SIGKILL)  # who can clean up does


def test_local_settings_ask_nothing_of_the_network() -> None:
    assert LOCAL_SETTINGS["spark.driver.host"] == LOCAL_SETTINGS["spark.driver.bindAddress"] == "127.0.0.1"
    assert LOCAL_SETTINGS["spark.ui.enabled"] == "false"
