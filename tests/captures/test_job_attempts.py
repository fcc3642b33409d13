"""Tasks that Spark runs more than once: what is published is what the attempts wrote whose results came back, whole and once.

Attempts run in this process, one inside the other; tests/integration/test_executors.py ends real ones.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from counted_rows import counted
from kwire import analysis
from kwire.analysis.digests.storing import DIGEST_FILE
from kwire.analysis.redaction import Redaction
from kwire.errors import InputError
from kwire.runs import dated_parts, late_columns, packing, series_state
from kwire.runs.job_request import JobRequest
from kwire.runs.output import MANIFEST, SUCCESS
from kwire.runs.parts import STATE
from kwire.runs.series_task import SeriesResult, SeriesTask, run_task
from kwire.spark.job import run_job
from kwire.tables import SCHEMAS

DATA = Path(__file__).parent / "data"
INPUTS = tuple(str(DATA / name) for name in ("topicids.pcap.gz", "seed.pcap.gz"))  # one of them tells the nodes of brokers
Attempts = Callable[[SeriesTask], SeriesResult]


@pytest.fixture(autouse=True, params=[False, True], ids=["alone", "packed"])
def packed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if not request.param:
        monkeypatch.setattr(packing, "PACK_BYTES", 1)
    return bool(request.param)


def analyzed(out: Path, attempts: Attempts, job_in_process: Callable[..., None]) -> Path:
    job_in_process(attempts)
    run_job(JobRequest(inputs=INPUTS, out=str(out)))
    return out


def assert_whole(out: Path) -> None:
    """The tables are those of one process, and nothing else lies in the folder."""
    assert sorted(path.name for path in out.iterdir()) == sorted((*SCHEMAS, DIGEST_FILE, STATE, MANIFEST, SUCCESS))
    parts = json.loads((out / MANIFEST).read_text())["parts"]
    for table, expected in analysis.run(list(INPUTS)).items():
        assert sorted(path.name for path in (out / table).iterdir()) == parts[table]
        assert counted(ds.dataset(out / table, format="parquet").to_table()) == counted(expected), table
    assert len(list((out / STATE).iterdir())) == (1 if packing.PACK_BYTES > 1 else len(INPUTS))


def killed(task: SeriesTask) -> None:
    """An attempt whose process is gone in the middle of its second table."""
    child = os.fork()
    if child == 0:

        def die(*_: object) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        dated_parts.ROW_GROUP = 1
        series_state.write_blob = die  # every part is begun, none is closed
        run_task(task)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def test_a_task_whose_process_was_killed(tmp_path: Path, job_in_process: Callable[..., None]) -> None:
    def attempts(task: SeriesTask) -> SeriesResult:
        killed(task)
        assert list(Path(task.out).glob("_staging/requests/.*"))  # half a file
        return run_task(task)

    assert_whole(analyzed(tmp_path / "out", attempts, job_in_process))


@pytest.mark.parametrize("first", [True, False])
def test_two_attempts_at_once(first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job_in_process: Callable[..., None]) -> None:
    """A speculative attempt runs from beginning to end while the other one writes; either's result may be the one that Spark takes."""
    real = series_state.write_blob

    def attempts(task: SeriesTask) -> SeriesResult:
        inner: list[SeriesResult] = []

        def write(*arguments: object) -> None:
            if not inner:
                inner.append(SeriesResult(task.number))  # the attempt within has none within it
                inner[0] = run_task(task)
            real(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(series_state, "write_blob", write)
        outer = run_task(task)
        return outer if first else inner[0]

    assert_whole(analyzed(tmp_path / "out", attempts, job_in_process))


def test_an_attempt_of_another_run_that_is_still_at_it(tmp_path: Path, job_in_process: Callable[..., None]) -> None:
    """The driver of a run was killed, its task goes on and finds the staging of the next run, which is to write something else."""

    def attempts(task: SeriesTask) -> SeriesResult:
        result = run_task(task)
        run_task(replace(task, redaction=Redaction(key=b"k" * 32)))
        return result

    assert_whole(analyzed(tmp_path / "out", attempts, job_in_process))


def test_an_attempt_that_ends_while_the_driver_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job_in_process: Callable[..., None]
) -> None:
    """The last step fills the nodes of brokers into connections; an attempt that comes late must not undo that."""
    tasks: list[SeriesTask] = []
    real = late_columns.fill_columns

    def attempts(task: SeriesTask) -> SeriesResult:
        tasks.append(task)
        return run_task(task)

    def fill(*arguments: object) -> list[str]:
        found = real(*arguments)  # type: ignore[arg-type]
        for task in tasks:
            run_task(task)
        return found

    monkeypatch.setattr(late_columns, "fill_columns", fill)
    out = analyzed(tmp_path / "out", attempts, job_in_process)
    assert_whole(out)
    assert any(row["node_id"] is not None for row in ds.dataset(out / "connections").to_table().to_pylist())
    with pytest.raises(InputError, match="use an --out that all machines share"):
        run_task(tasks[0])  # and when all is over
    assert_whole(out)
