"""What is said of executors, and what is sent to them; a real cluster is in tests/integration/test_executors.py."""

from __future__ import annotations

import ast
import base64
import dataclasses
import io
import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kwire
from kwire.errors import InputError, KwireError
from kwire.spark import executor_report, shipping, write_archive
from kwire.spark.executor_facts import facts, look
from kwire.spark.executor_report import ExecutorReport, PythonFacts, examine
from kwire.spark.shipping import ship, ship_for_job
from kwire.spark.task_running import reason_of_spark

ROOT = Path(__file__).resolve().parents[3]
DRIVER = PythonFacts(
    host="dev", folder="/home", python="3.11.7", executable="/usr/bin/python3", system="Linux x86_64 glibc 2.36",
    suffix=".cpython-311-x86_64-linux-gnu.so", kwire=kwire.__version__, twin="native", place="/site/kwire", why=None,
    pyarrow="26.0.1", numpy="2.4.6", pandas=None, msgspec=None, pyspark="4.3.0",
)  # fmt: skip


def executor(number: int, **more: Any) -> PythonFacts:
    return dataclasses.replace(DRIVER, host=f"n{number}", folder=f"/spark/{number}", **more)


def test_a_python_tells_what_it_is() -> None:
    found = PythonFacts(**facts())  # type: ignore[arg-type]
    assert (found.python, found.executable) == (".".join(map(str, sys.version_info[:3])), sys.executable)
    assert (found.kwire, found.twin) == (kwire.__version__, kwire.backend)
    import pyarrow

    assert found.pyarrow == pyarrow.__version__


def test_a_worker_that_has_answered_starts_no_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its tasks would; what is asked later is looked at again, since kwire may have come in between."""
    started = []

    def run(*_arguments: object, **_options: object) -> SimpleNamespace:
        started.append(len(started))
        return SimpleNamespace(returncode=0, stdout=repr({"kwire": str(started[-1])}))

    monkeypatch.delitem(sys.modules, "kwire")  # a worker that has not imported it
    monkeypatch.setattr(sys, "_kwire_facts", None, raising=False)
    monkeypatch.setattr(subprocess, "run", run)
    assert [look("", False, 0, question) for question in ("first", "first", "second")] == [{"kwire": "0"}, {"kwire": "0"}, {"kwire": "1"}]


ABSENT = {"kwire": None, "twin": None, "place": None}
CASES: list[tuple[list[PythonFacts], str]] = [
    ([executor(1), executor(2)], ""),
    ([executor(1, **ABSENT)], r"^On the executor \(n1\) kwire is missing: call kwire\.spark\.ship\(spark\) to install it"),
    ([executor(1), executor(2, **ABSENT), executor(3)], r"^On 1 of 3 executors \(n2\) kwire is missing:"),
    ([executor(n, **ABSENT) for n in range(3)], r"^On all 3 executors kwire is missing:"),
    ([executor(n, kwire="0.0.9") for n in (1, 2)], r"^On both executors kwire is 0\.0\.9 \(/site/kwire\), .*must have the same version"),
    ([executor(1, **ABSENT, why="no module named _ctypes.")], r"kwire cannot be imported: no module named _ctypes\.$"),
    ([executor(1, twin="pure", why="asked")], r"pure Python backend of kwire runs, tens of times slower: KWIRE_PURE=1 asks for it\.$"),
    ([executor(1, twin="pure", why="GLIBC_2.38 not found")], r"no compiled modules for \.cpython-311.* on Linux .*\(GLIBC_2\.38 not"),
    ([executor(1, pyarrow=None)], r"there is no pyarrow, which kwire needs: install pyarrow \(>=18\) for /usr/bin/python3 there\.$"),
    ([executor(1, pyarrow="17.0.0")], r"pyarrow is 17\.0\.0; kwire needs 18 or newer\.$"),
    ([executor(1, numpy=None)], r"there is no numpy, which kwire needs: install numpy for"),
    ([executor(1, python="3.12.1", **ABSENT, pyarrow=None)], r"Python is 3\.12\.1 .*, this driver's 3\.11\.7: PySpark needs the same"),
]  # fmt: skip


@pytest.mark.parametrize(("executors", "sentence"), CASES)
def test_what_is_wrong_is_a_sentence(executors: Sequence[PythonFacts], sentence: str) -> None:
    found = [*executor_report._faults(DRIVER, executors), *executor_report._warnings(DRIVER, executors)]
    assert len(found) == (sentence != "")
    if found:
        assert re.search(sentence, found[0]), found


def test_the_text_of_a_task_names_its_fault() -> None:
    aborted = "Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times, most recent failure: "
    lost = f"{aborted}Lost task 1.3 in stage 0.0 (TID 4) (h executor 1): "
    java = (
        'java.io.IOException: Cannot run program "p"\n\tat java.base/x(y.java:1)\nCaused by: z\n\t... 20 more\n\nDriver stacktrace:\n\tat'
    )
    assert reason_of_spark(Exception(lost + java)) == 'a Python worker could not be started: Cannot run program "p"'
    traceback = "  Traceback (most recent call last):\n    File x\n      import y\n  ImportError: no y\n"
    assert reason_of_spark(Exception(f"{lost}org.x.PythonException: \n{traceback}\n\tat org.x(y.scala:1)\n")) == "ImportError: no y"
    own = traceback.replace("ImportError: no y", "kwire.errors.KwireError: the temporary folder /t cannot be written")
    assert reason_of_spark(Exception(f"{lost}org.x.PythonException: \n{own}")) == "the temporary folder /t cannot be written"


# What Spark's PythonWorkerFactory writes where a worker does not start. DataInputStream.readInt takes "hell" for a length of 1.7 GB.
DAEMON = "\n\tat org.apache.spark.api.python.PythonWorkerFactory.startDaemon(PythonWorkerFactory.scala:376)\n\nDriver stacktrace:\n\tat"
STARTS = [
    ("org.x.SparkException: \nError from python worker:\n  boom\nPYTHONPATH was:\n  z\norg.x: EOFException", "boom"),
    ("org.x.SparkException: \nError from python worker:\n  Traceback (most recent call last):\n    File x\n      import y\n"
     "  ImportError: no y\nPYTHONPATH was:\n  z", "ImportError: no y"),
    ("org.x.SparkException: \nError from python worker:\n\nPYTHONPATH was:\n  z", "it ended without a message"),
    (f"java.lang.OutOfMemoryError: Java heap space{DAEMON}", "a module that it imports prints to standard output"),
    (f"org.x.SparkException: \nBad data in pyspark.daemon's standard output. Invalid port number{DAEMON}", "prints to standard output"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), STARTS)
def test_a_worker_that_does_not_start_is_a_sentence(text: str, sentence: str) -> None:
    said = reason_of_spark(Exception(f"Job aborted due to stage failure: Lost task 0.0 in stage 0.0 (TID 0) (h executor driver): {text}"))
    assert said.startswith("a Python worker could not be started: ")
    assert sentence in said
    assert "\n" not in said


@pytest.mark.parametrize("reason", ["No space left on device", "Disk quota exceeded"])
def test_the_full_disk_of_an_executor_is_a_sentence_with_its_host(reason: str) -> None:
    """What Spark 4.3 says where `SPARK_LOCAL_DIRS` of a worker is on a full disk: Java's exception names no folder."""
    said = reason_of_spark(
        Exception(
            "Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most recent failure: Lost task 0.3 in stage 1.0 (TID 5) "
            f"(10.0.0.7 executor 1): java.io.IOException: {reason}\n\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)\n"
            "\nDriver stacktrace:"
        )
    )
    assert said.startswith(f"executor 1 on 10.0.0.7 cannot write to its local folder: {reason}; SPARK_LOCAL_DIRS or spark.local.dir names")
    assert "\n" not in said


def test_a_context_that_was_shut_down_is_a_sentence() -> None:
    said = reason_of_spark(Exception("Job 0 cancelled because SparkContext was shut down"))
    assert said == "a Python worker could not be started, or Spark's Java process had no memory left, so that Spark ended"


def test_the_archive_is_the_package(tmp_path: Path) -> None:
    first, again = tmp_path / "one.zip", tmp_path / "two.zip"
    write_archive(str(first))
    write_archive(str(again))
    assert first.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(first) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "kwire")
    assert {"__init__.py", "schema/index.json", "codec/impl.py"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyi")]
    text = "import kwire; print(kwire.__file__, kwire.backend, kwire.decode('HeartbeatResponse', bytes(2), version=0).error_code)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.startswith(f"{tmp_path}/kwire/__init__.py {kwire.backend} 0")
    with pytest.raises(InputError, match=r"x\.tar does not end in \.zip"):
        write_archive("x.tar")
    with pytest.raises(InputError, match="cannot be written: No such file"):
        write_archive(str(tmp_path / "none" / "x.zip"))


def wheel(folder: Path, version: str = kwire.__version__, suffix: str = ".cpython-399-darwin.so") -> str:
    path = folder / f"kwire-{version}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("kwire/__init__.py", "")
        archive.writestr(f"kwire/codec/_native/structs{suffix}", "")
        archive.writestr("pyspark_kwire/__init__.py", "")
        archive.writestr(f"kwire-{version}.dist-info/METADATA", "")
    return str(path)


def test_a_wheel_serves_as_well(tmp_path: Path) -> None:
    write_archive(str(tmp_path / "x.zip"), wheel(tmp_path))
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert archive.namelist() == ["__init__.py", "codec/_native/structs.cpython-399-darwin.so"]
    with pytest.raises(InputError, match=r"kwire-9\.whl is not a wheel of kwire 0"):
        write_archive(str(tmp_path / "x.zip"), wheel(tmp_path, "9"))
    (tmp_path / "not.whl").write_text("a wheel")
    with pytest.raises(InputError, match=r"not\.whl is not a wheel"):
        write_archive(str(tmp_path / "x.zip"), str(tmp_path / "not.whl"))
    with pytest.raises(InputError, match=r"gone\.whl does not exist"):
        write_archive(str(tmp_path / "x.zip"), str(tmp_path / "gone.whl"))


class Session:
    """Executors that are said to be there, before and after something was sent to them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, before: PythonFacts, after: PythonFacts | None = None) -> None:
        self.sent: list[str] = []
        self.environment: dict[str, str] = {}
        self._answers = [before, after]
        monkeypatch.setattr(shipping, "examine", self._examine)
        monkeypatch.setattr(shipping, "context_of", lambda _spark: self)
        monkeypatch.setattr(shipping, "is_local", lambda _spark: False)
        monkeypatch.setattr(shipping, "kwire", SimpleNamespace(backend="native", __version__=kwire.__version__))

    def _examine(self, _spark: object, *, within: bool = False) -> ExecutorReport:
        assert within == bool(self.sent)
        found = self._answers[1 if self.sent else 0]
        assert found is not None
        faults, warnings = executor_report._faults(DRIVER, [found]), executor_report._warnings(DRIVER, [found])
        return ExecutorReport(DRIVER, (found,), tuple(faults), tuple(warnings))

    def addArchive(self, name: str) -> None:
        self.sent.append(name)


def test_nothing_is_sent_where_all_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(monkeypatch, executor(1))
    assert ship(session).ok  # type: ignore[arg-type]
    assert not session.sent


def test_what_is_sent_replaces_another_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fitting = wheel(tmp_path, suffix=DRIVER.suffix)
    session = Session(monkeypatch, executor(1, kwire="0.0.9"), executor(1))
    assert ship(session, fitting).ok  # type: ignore[arg-type]
    (sent,) = session.sent
    assert re.search(rf"/kwire-{re.escape(kwire.__version__)}-[0-9a-f]{{12}}\.zip#kwire$", sent)
    assert session.environment  # so that no worker serves that holds the other one


def test_modules_for_another_system_are_not_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = Session(monkeypatch, executor(1, **ABSENT), executor(1, twin="pure", why="no module named structs"))
    said = r"has modules for \.cpython-399-darwin\.so, and executor n1 wants \.cpython-311-x86_64-linux-gnu\.so .*give the wheel for it"
    with pytest.raises(InputError, match=said):
        ship(session, wheel(tmp_path))  # type: ignore[arg-type]
    assert not session.sent
    report = ship(session, wheel(tmp_path), require_native=False)  # type: ignore[arg-type]
    assert len(session.sent) == 1
    assert "tens of times slower" in report.warnings[0]


def test_modules_that_do_not_load_there_are_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = Session(monkeypatch, executor(1, **ABSENT), executor(1, twin="pure", why="GLIBC_2.38 not found"))
    with pytest.raises(KwireError, match=r"compiled modules do not load on n1: GLIBC_2\.38 not found"):
        ship(session, wheel(tmp_path, suffix=DRIVER.suffix))  # type: ignore[arg-type]


def test_a_zip_on_the_path_hides_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(monkeypatch, executor(1, twin="pure", why="zip", place="/spark/x.zip/kwire"))
    with pytest.raises(InputError, match=r"imported from /spark/x\.zip/kwire, .*\(--py-files, addPyFile\); drop the zip"):
        ship(session)  # type: ignore[arg-type]
    assert "tens of times slower" in ship_for_job(session)[0]  # type: ignore[arg-type]
    assert not session.sent


def test_a_job_stops_where_it_could_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(monkeypatch, executor(1, pyarrow=None))
    with pytest.raises(KwireError, match="there is no pyarrow, which kwire needs"):
        ship_for_job(session)  # type: ignore[arg-type]


def test_executors_without_room_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def answers(_context: object, _source: str, _within: bool) -> list[str]:
        asked.append(1)
        return [repr(dataclasses.asdict(executor(1)))]

    monkeypatch.setattr(executor_report, "context_of", lambda spark: spark)
    monkeypatch.setattr(executor_report, "_by_context", answers)
    monkeypatch.setattr(executor_report, "_registered", lambda _context: 2)
    report = examine(SimpleNamespace())  # type: ignore[arg-type]
    assert report.warnings[-1] == "Only 1 of 2 executors had room for a task; the others were not checked."
    assert len(asked) == 3


def test_a_long_wait_for_executors_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer comes only after the sentence."""
    told = io.StringIO()

    def answers(*_arguments: object) -> list[str]:
        while "\n" not in told.getvalue():
            time.sleep(0.001)
        return [repr(facts())]

    monkeypatch.setattr(sys, "stderr", told)
    monkeypatch.setattr(executor_report, "_PATIENCE_SECONDS", 0)
    monkeypatch.setattr(executor_report, "context_of", lambda _spark: None)
    monkeypatch.setattr(executor_report, "_by_session", answers)
    assert len(examine(SimpleNamespace()).executors) == 1  # type: ignore[arg-type]
    assert re.fullmatch("kwire: executors have not answered for 30 s, .*; still waiting\n", told.getvalue())


ANSWER = """
import base64, pickle, sys
sys.modules["kwire"] = None  # importing it raises ImportError, as where it is not installed
print(pickle.loads(base64.b64decode({pickled!r}))(0))
"""


def test_what_a_task_runs_needs_no_kwire() -> None:
    """It travels by value: an executor that has PySpark alone must be able to say that kwire is missing."""
    from pyspark import cloudpickle

    with executor_report._question("unused", True) as ask:
        pickled = base64.b64encode(cloudpickle.dumps(ask)).decode()
    run = subprocess.run([sys.executable, "-c", ANSWER.format(pickled=pickled)], capture_output=True, text=True, timeout=60, check=True)
    found = PythonFacts(**ast.literal_eval(run.stdout))
    assert (found.kwire, found.twin, found.why) == (None, None, None)
    assert found.python == ".".join(map(str, sys.version_info[:3]))
