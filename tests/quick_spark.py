"""Spark and Java for tests: how processes start that live for seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

__all__ = ["OPTIONS", "UNVERIFIED", "java_program", "quick_spark"]

TESTS: Final = Path(__file__).parent
# Most of what such a JVM would do is to compile its own code well: without that it takes half the time of a processor.
# To load many classes is no reason to collect what is garbage.
# What the quick compiler keeps its code in is small: Spark fills it, and a thread then clears it of what is soon compiled again.
OPTIONS: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:MetaspaceSize=256m", "-XX:ReservedCodeCacheSize=256m")
UNVERIFIED: Final = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
"""For a driver with jars of its own: to verify what they load is a sixth of its time."""


def quick_spark() -> None:
    """Every Spark that tests start, in processes of their own too, takes `OPTIONS` and the settings of `tests/spark`."""
    options = " ".join(OPTIONS)
    os.environ.setdefault("MAVEN_OPTS", options)
    os.environ.setdefault("SPARK_SUBMIT_OPTS", options)  # the driver's JVM
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", options)  # the one that puts the driver's command together
    os.environ.setdefault("SPARK_CONF_DIR", str(TESTS / "spark"))


def java_program(name: str, arguments: Sequence[str], seconds: float, release: str = "") -> subprocess.CompletedProcess[str]:
    """What a program of `integration/java` says, with the jars of a broker, by default the newest."""
    from kwire.schema import releases

    sys.path.insert(0, str(TESTS.parent / "tools"))
    from kafka_jars import fetch_broker

    libs = fetch_broker(release or releases().newest.name, TESTS.parent / ".cache" / "kafka-jars")
    source = TESTS / "integration" / "java" / f"{name}.java"
    command = ["java", *OPTIONS, "-cp", f"{libs.resolve()}/*", str(source), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
