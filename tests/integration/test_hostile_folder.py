"""Captures of other people lie in a folder together with what they named like modules of Python: none of it is run."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kwire.spark import executor_facts, session
from kwire.spark.task_running import SparkWorkers

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark")]

SEED = Path(__file__).parent.parent / "captures" / "data" / "seed.pcap.gz"
HOSTILE = ("secrets", "json", "kwire", "pyspark")
CONSOLE_SCRIPT = "import sys; from kwire.cli import main; sys.exit(main())"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a capture and modules that leave a mark when they are run."""
    found = tmp_path / "from-somebody"
    found.mkdir()
    shutil.copy(SEED, found)
    for name in HOSTILE:
        (found / f"{name}.py").write_text(f"import os; open({str(tmp_path)!r} + '/run-{name}', 'w').close(); raise SystemExit(3)\n")
    return found


def marks(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.parent.glob("run-*"))


@pytest.mark.parametrize(("engine", "path"), [("local", "{package}"), ("local", ":{package}"), ("spark", ":{package}")])
def test_an_analysis_runs_nothing_of_its_folder(folder: Path, path: str, engine: str) -> None:
    """An empty part of PYTHONPATH is the current folder, so -P alone does not help the workers there; without it, -P does."""
    import kwire

    package = str(Path(kwire.__file__).parent.parent)
    # the driver itself is started as the console script is, whose own folder is first on its path, and with a clean PYTHONPATH: what its
    # workers get is set behind that
    program = f"import os; os.environ['PYTHONPATH'] = {path.format(package=package)!r}; {CONSOLE_SCRIPT}"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, "analyze", SEED.name, "--out", "out", "--no-report", "--engine", engine],
        cwd=folder, env={**os.environ, "PYTHONPATH": package}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert (done.returncode, marks(folder)) == (0, []), done.stderr
    assert (folder / "out" / "_SUCCESS").exists()


def test_python_m_kwire_looks_away_from_its_folder(folder: Path) -> None:
    """`python -m` imports the package itself from the current folder where it is there; nothing that it imports later."""
    (folder / "kwire.py").unlink()
    done = subprocess.run(
        [sys.executable, "-m", "kwire", "doctor"], cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )  # fmt: skip
    assert marks(folder) == [], done.stderr
    assert "Python" in done.stdout + done.stderr


ASK = "repr(__import__('sys').flags.safe_path).encode()"


@pytest.mark.usefixtures("without_session")
def test_a_session_of_the_caller_keeps_its_own_workers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook's functions may import what lies beside it; kwire's tasks in the same session do not."""
    from pyspark import SparkContext

    (folder / "pyspark.py").unlink()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    try:
        with SparkContext("local[1]", "kwire tests of paths") as context:
            assert SparkWorkers(context).run_each([ASK], eval) == [b"True"]
            assert marks(folder) == []
            assert "PYTHONSAFEPATH" not in context.environment
    finally:
        session._end_java()  # PySpark keeps the JVM, with this test's environment, for the next session


def test_a_look_at_an_executor_s_python_runs_nothing_of_its_folder(folder: Path) -> None:
    """The look starts a process of its own with -c, which looks for modules in its folder too."""
    source = Path(executor_facts.__file__).read_text()
    package = str(Path(executor_facts.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"{source}\nprint(look(sys.argv[1], False, 0, 'once'))", source],
        cwd=folder, env={**os.environ, "PYTHONPATH": package}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert (done.returncode, marks(folder)) == (0, []), done.stderr
    assert ast.literal_eval(done.stdout)["kwire"] is not None
