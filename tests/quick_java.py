"""Java for tests: how JVMs start that live for seconds, and the programs of `integration/java`, compiled once for a run."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["OPTIONS", "java_program", "quick_spark"]

TESTS: Final = Path(__file__).parent
SOURCES: Final = TESTS / "integration" / "java"
# Most of what such a JVM would do is to compile its own code well: without that it takes half the time of a processor.
OPTIONS: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def quick_spark() -> None:
    """Every Spark that tests start, in processes of their own too, takes `OPTIONS` and the settings of `tests/spark`."""
    options = " ".join(OPTIONS)
    os.environ.setdefault("SPARK_SUBMIT_OPTS", options)  # the driver's JVM
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", options)  # the one that puts the driver's command together
    os.environ.setdefault("SPARK_CONF_DIR", str(TESTS / "spark"))


@cache
def _classes(name: str, libs: Path) -> str:
    folder = tempfile.mkdtemp(prefix="kwire-java-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    compiler = [str(shutil.which("javac")), *(f"-J{option}" for option in OPTIONS)]
    subprocess.run([*compiler, "-nowarn", "-cp", f"{libs}/*", "-d", folder, str(SOURCES / f"{name}.java")], check=True, timeout=180)
    return folder


def java_program(name: str, libs: Path, arguments: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """What a program of `integration/java` says, with the jars of a folder."""
    command = ["java", *OPTIONS, "-cp", f"{libs}/*:{_classes(name, libs)}", name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
