"""The engine without Spark: processes of this machine run the same tasks and write the same tables."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.dataset as ds
import pytest

from counted_rows import counted
from kwire import analysis
from kwire.analysis.digests.storing import DIGEST_FILE
from kwire.errors import InputError, KwireError
from kwire.report import render_report
from kwire.runs import local_processes
from kwire.runs.job_request import JobRequest
from kwire.runs.local_processes import PROCESS_BYTES, LocalProcesses
from kwire.spark.job import run_job
from kwire.spark.session import choose_engine

DATA = Path(__file__).parent / "data"
INPUTS = tuple(str(DATA / name) for name in ("topicids.pcap.gz", "seed.pcap.gz", "ipv6.pcap.gz"))


def test_the_tables_are_those_of_the_analysis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the calling process, and in two of their own that share three series."""
    whole = {table: counted(expected) for table, expected in analysis.run(list(INPUTS)).items()}
    for slots in (1, 2):
        monkeypatch.setattr(LocalProcesses, "for_bytes", lambda _size, slots=slots: LocalProcesses(slots))
        out = tmp_path / f"out{slots}"
        report = run_job(JobRequest(inputs=INPUTS, out=str(out), engine="local"))
        assert (report.engine, report.read, report.skipped) == ("local", 3, [])
        assert not {"start_spark", "stop_spark"} & report.phases.seconds.keys()
        for table, expected in whole.items():
            found = ds.dataset(out / table, format="parquet").to_table()
            assert counted(found) == expected, (slots, table)
        assert (out / "_SUCCESS").exists()
        assert not (out / "_staging").exists()


def test_no_spark_is_loaded(tmp_path: Path) -> None:
    """`[cli]` brings no PySpark: an import of it would end the command."""
    program = "import sys; sys.modules['pyspark'] = sys.modules['py4j'] = None; from kwire.cli import main; main()"
    command = [sys.executable, "-c", program, "analyze", INPUTS[1], "--out", str(tmp_path / "out"), "-v"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "report.html").exists()
    told = [line for line in done.stderr.splitlines() if "local engine" in line]
    assert len(told) == 1
    assert "--engine spark" in told[0]


@pytest.mark.parametrize(
    ("asked", "master", "variable", "taken"),
    [
        ("auto", None, "", "local"),
        ("auto", "local[2]", "", "spark"),
        ("auto", None, "SPARK_REMOTE", "spark"),
        ("auto", None, "PYSPARK_GATEWAY_PORT", "spark"),  # of spark-submit
        ("local", None, "PYSPARK_GATEWAY_PORT", "local"),
        ("spark", None, "", "spark"),
    ],
)
def test_auto_takes_spark_where_it_is(asked: Any, master: str | None, variable: str, taken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kwire.spark.session._has_session", lambda: False)
    if variable:
        monkeypatch.setenv(variable, "sc://host")
    assert choose_engine(asked, master) == taken


def test_auto_takes_spark_where_a_session_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a notebook or under spark-submit, a job runs where its user is."""
    session = SimpleNamespace(SparkSession=SimpleNamespace(getActiveSession=lambda: object()))
    monkeypatch.setitem(sys.modules, "pyspark.sql", session)  # type: ignore[arg-type]
    assert choose_engine("auto", None) == "spark"


def test_a_master_is_sparks(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--master needs Spark"):
        run_job(JobRequest(inputs=INPUTS, out=str(tmp_path / "out"), engine="local", master="local[2]"))


def test_a_few_megabytes_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_processes, "processors", lambda: 4)
    sizes = [0, PROCESS_BYTES, 3 * PROCESS_BYTES, 100 * PROCESS_BYTES]
    assert [LocalProcesses.for_bytes(size).slots for size in sizes] == [1, 1, 3, 4]


def ended(number: int) -> bytes:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return b"%d" % number


def failing(number: int) -> bytes:
    raise InputError(f"the disk is full at {number}")


def test_a_process_that_ends_is_a_sentence() -> None:
    with pytest.raises(KwireError, match="a worker process was ended by SIGKILL twice, perhaps for lack of memory"):
        LocalProcesses(2).run_each([0, 1, 2, 3], ended)


def ended_once(mark: Path) -> str:
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return mark.name


def test_a_process_that_ends_once_is_replaced(tmp_path: Path) -> None:
    """Its tasks run again, and what others have done stays."""
    marks = [tmp_path / name for name in "abcd"]
    for mark in marks[:3]:
        mark.touch()
    assert LocalProcesses(2).run_each(marks, ended_once) == ["a", "b", "c", "d"]


def test_a_job_of_a_shell_script_ends_with_sigterm(tmp_path: Path) -> None:
    """A shell without job control starts `command &` with SIGINT ignored."""
    owners, out = tmp_path / "owners.toml", tmp_path / "out"
    os.mkfifo(owners)
    program = [sys.executable, "-m", "kwire", "analyze", INPUTS[1], "--out", str(out), "--engine", "local", "--owners", str(owners)]
    command = ["sh", "-c", '"$@" & echo $!; wait $!', "sh", *program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        job = int(shell.stdout.readline())
        with owners.open("wb"):  # once the job reads them, in its run
            os.kill(job, signal.SIGTERM)
            _, told = shell.communicate(timeout=60)
    assert (shell.returncode, told) == (128 + signal.SIGTERM, "")
    assert not out.exists()


def test_what_a_task_raises_is_raised() -> None:
    with pytest.raises(InputError, match=r"the disk is full at \d"):
        LocalProcesses(2).run_each([0, 1], failing)


def test_results_keep_the_order_of_the_items() -> None:
    assert LocalProcesses(2).run_each([5, 4, 3], ended) == [b"5", b"4", b"3"]


def test_nothing_is_imported_from_the_working_folder(tmp_path: Path) -> None:
    """Captures of other people lie there, and `random.py` among them must not run in a worker."""
    hostile = "open('ran', 'w').close()\nraise SystemExit(9)\n"
    for name in ("random.py", "pyarrow.py", "tempfile.py", "kwire.py"):
        (tmp_path / name).write_text(hostile)
    program = tmp_path / "programs" / "analyze.py"
    program.parent.mkdir()
    program.write_text(
        "from kwire.runs.local_processes import LocalProcesses\n"
        "from kwire.runs.parts import progress_file\n"
        "if __name__ == '__main__':\n"
        "    print(LocalProcesses(2).run_each([b'a', b'b'], bytes.upper))\n"
    )
    done = subprocess.run([sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[b'A', b'B']\n", "")
    assert not (tmp_path / "ran").exists()


def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    """They would wait for more work for ever; the pipe has its end when nobody holds it any more."""
    program = tmp_path / "program.py"
    program.write_text(
        "import time\n"
        "from kwire.runs.local_processes import LocalProcesses\n"
        "def work(number):\n"
        "    print(number, flush=True)\n"
        "    time.sleep(number)\n"
        "if __name__ == '__main__':\n"
        "    LocalProcesses(2).run_each([1, 600], work)\n"
    )
    with subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert sorted(parent.stdout.readline() for _ in range(2)) == ["1\n", "600\n"]
        parent.kill()
        assert parent.communicate(timeout=120)[0] == ""


def test_the_page_from_the_digest_is_that_from_the_tables(tmp_path: Path) -> None:
    """`kwire report` finds what the tasks have left beside the tables; without it, it makes the same."""
    out = tmp_path / "out"
    run_job(JobRequest(inputs=INPUTS, out=str(out), engine="local"))

    def page(form: str) -> list[str]:
        return [line for line in render_report(out, form).splitlines() if "UTC" not in line or "kwire" not in line]

    from_digest = {form: page(form) for form in ("html", "md")}
    (out / DIGEST_FILE).unlink()
    for form, expected in from_digest.items():
        assert expected == page(form), form
