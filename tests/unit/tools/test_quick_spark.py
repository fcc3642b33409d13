"""The Java of tests: a Spark gets the archive of its own jars, and every other program the arguments that it was given."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from quick_spark import write_shim

JARS = "/opt/site packages/pyspark/jars"
QUIET = ["-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off"]
IN_PLACE = ["-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A `JAVA_HOME` with an archive of `JARS`, whose Java prints its arguments."""
    java = tmp_path / "real java"
    java.write_text("#!/bin/sh\nfor argument do printf '%s\\n' \"$argument\"; done\n")
    java.chmod(0o755)
    archive = Path(f"{tmp_path}/home of tests/archives{JARS}.jsa")
    archive.parent.mkdir(parents=True)
    archive.touch()
    write_shim(tmp_path / "home of tests", java)
    return tmp_path / "home of tests"


def given(home: Path, *arguments: str) -> list[str]:
    done = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


OF_SPARK = ["", "/some/conf/:", f"/some/conf/:{JARS}/slf4j-api-2.jar:", f"/missing/conf:{JARS}/slf4j-api-2.jar:"]


@pytest.mark.parametrize("before", [*OF_SPARK, f"hive-jackson/*:/some/conf/:{JARS}/slf4j-api-2.jar:"])
def test_a_spark_with_an_archive(home: Path, before: str) -> None:
    """The folder of settings is left out: an archive is of jars alone."""
    found = given(home, "-Xmx1g", "-cp", f"{before}{JARS}/*", "org.apache.spark.Main", "a b", "-cp")
    archive = f"-XX:SharedArchiveFile={home}/archives{JARS}.jsa"
    assert found == [archive, *QUIET, *IN_PLACE, "-Xmx1g", "-cp", f"{JARS}/*", "org.apache.spark.Main", "a b", "-cp"]


@pytest.mark.parametrize("before", OF_SPARK)
def test_the_spark_that_writes_the_archive(home: Path, before: str) -> None:
    """A JVM writes none with a folder on its class path either."""
    (home / f"archives{JARS}.jsa").unlink()
    writing = "-XX:ArchiveClassesAtExit=/some/made.jsa"
    assert given(home, writing, "-cp", f"{before}{JARS}/*", "Main") == [writing, "-cp", f"{JARS}/*", "Main"]


def test_others_get_what_they_were_given(home: Path) -> None:
    for command in (
        ("-cp", "/some/conf/:/opt/other/pyspark/jars/*", "Main"),
        ("-cp", f"{JARS}/*:/more/classes", "Main"),
        ("-cp", f"/some/conf/:/more/classes:{JARS}/*", "Main"),
        ("-cp", f"/more/classes.jar:/some/conf/:{JARS}/*", "Main"),
        ("-cp", f"/some/conf/:/more/slf4j-api-1.7.jar:{JARS}/*", "Main"),
        ("-Dx=y", "-jar", f"{JARS}/*"),
        ("-version",),
        (),
    ):
        assert given(home, *command) == list(command)
