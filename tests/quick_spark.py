"""Spark and Java for tests: how processes start that live for seconds, and the programs of `integration/java`, compiled once.

`python tests/quick_spark.py`, which `make test` runs once, writes archives of the classes that Spark loads (class data sharing), and byte
code beside the sources in the zip from which Spark's Python workers import PySpark. A JVM that finds the archive of its jars has them
without parsing and verifying them; a worker that finds byte code starts in a third of the time. Together it is half of a session.
"""

from __future__ import annotations

import compileall
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Final

__all__ = ["OPTIONS", "UNVERIFIED", "java_program", "quick_spark", "write_shim"]

TESTS: Final = Path(__file__).parent
SOURCES: Final = TESTS / "integration" / "java"
# Most of what such a JVM would do is to compile its own code well: without that it takes half the time of a processor.
# To load many classes is no reason to collect what is garbage.
# What the quick compiler keeps its code in is small: Spark fills it, and a thread then clears it of what is soon compiled again.
OPTIONS: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:MetaspaceSize=256m", "-XX:ReservedCodeCacheSize=256m")
UNVERIFIED: Final = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
"""For a driver with jars of its own, which no archive has: to verify what they load is a sixth of its time."""
TRAINING: Final = TESTS / "spark_training.py"
HOME: Final = TESTS.parent / ".cache" / "quick-java"
"""What `JAVA_HOME` is for tests, and where the archives are: each under the path of the jars that it is of."""

# Spark's class path is its folder of settings, one of its jars, which has to be before the others, and all of them; before it all, since
# 4.0.1, jars for Hive that PySpark does not bring. A JVM refuses an archive whose class path has a folder with files in it, when it writes
# one and when it takes one. The folders of tests hold spark-defaults.conf alone, which Spark finds by SPARK_CONF_DIR, and none has another
# version of the jar. An archive that does not fit its JVM is left out by that itself. JVMs move it in their memory, to be harder to attack,
# which costs each a tenth of a second; these need not.
_SHIM: Final = """#!/bin/sh
before= archive= writing=
case $* in *-XX:ArchiveClassesAtExit=*) writing=yes ;; esac
for argument do
  shift
  case $before,$argument in -cp,*/pyspark/jars/\\*)
    jars=${{argument##*:}}
    rest=${{argument#hive-jackson/\\*:}}
    case ${{rest%%:*}} in */ | */conf) rest=${{rest#*:}} ;; esac
    case $rest in "$jars" | "${{jars%\\*}}"slf4j-api-*.jar:"$jars")
      found={home}/archives${{jars%/\\*}}.jsa
      [ -n "$writing" ] && argument=$jars
      [ -r "$found" ] && archive=$found argument=$jars
    esac
  esac
  before=$argument
  set -- "$@" "$argument"
done
[ -n "$archive" ] && set -- -XX:SharedArchiveFile="$archive" -Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off \\
  -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0 "$@"
exec {java} "$@"
"""


def quick_spark() -> None:
    """Every Spark that tests start, in processes of their own too, takes `OPTIONS`, the settings of `tests/spark` and the archives."""
    options = " ".join(OPTIONS)
    os.environ.setdefault("MAVEN_OPTS", options)
    os.environ.setdefault("SPARK_SUBMIT_OPTS", options)  # the driver's JVM
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", options)  # the one that puts the driver's command together
    os.environ.setdefault("SPARK_CONF_DIR", str(TESTS / "spark"))
    if os.environ.get("JAVA_HOME") != str(HOME) and (HOME / "archives").is_dir():
        _make_home()


def _make_home() -> None:
    from kwire.spark.java import system_java

    java = system_java()
    if java is not None and os.name != "nt":
        write_shim(HOME, java.resolve())
        os.environ["JAVA_HOME"] = str(HOME)


def write_shim(home: Path, java: Path) -> Path:
    """The `bin/java` of a folder: a Java that takes the folder's archive of the jars that are on its class path."""
    (home / "bin").mkdir(parents=True, exist_ok=True)
    program = home / "bin" / "java"
    text = _SHIM.format(home=shlex.quote(str(home)), java=shlex.quote(str(java)))
    if not program.exists() or program.read_text() != text:
        aside = program.with_name(f"java-{os.getpid()}")  # other runs may do the same
        aside.write_text(text)
        aside.chmod(0o755)
        aside.replace(program)
    return program


def prepare() -> None:
    """Write what is missing or out of date: for every Spark byte code and an archive."""
    from other_sparks import LAKES, OTHERS, installed

    found = find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    here = Path(found.origin).parents[1]
    others = {version: Path(str(installed(version))) for version in OTHERS}
    for packages in (here, *others.values()):
        for path in (packages / "pyspark" / "python" / "lib").glob("*.zip"):
            _compile_zip(path)

    (HOME / "archives").mkdir(parents=True, exist_ok=True)
    quick_spark()
    if os.environ.get("JAVA_HOME") != str(HOME):
        return  # there is no Java, and archives are of no use to that of the wheel
    _write_archive(here, "--whole")
    for version, packages in others.items():
        _write_archive(packages, *["--catalog"] * (version == LAKES))


def _compile_zip(path: Path) -> None:
    """Put the byte code of each module beside its source, as `zipimport` looks for it; it can keep none there by itself."""
    with zipfile.ZipFile(path) as old:
        if any(name.endswith(".pyc") for name in old.namelist()):
            return
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            modules, made = Path(folder) / "modules", Path(folder) / path.name
            old.extractall(modules)
            compileall.compile_dir(
                modules, quiet=2, legacy=True, rx=re.compile("/tests/"), stripdir=str(modules), prependdir=str(path),
                invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
            )  # fmt: skip
            with zipfile.ZipFile(made, "w") as new:
                for each in sorted(modules.rglob("*")):
                    new.write(each, each.relative_to(modules))
            made.replace(path)


def _write_archive(packages: Path, *more: str) -> None:
    jars = packages / "pyspark" / "jars"
    archive = Path(f"{HOME}/archives{jars}.jsa")
    java = shutil.which("java")
    if archive.exists() and all(archive.stat().st_ctime > Path(each).stat().st_ctime for each in (jars, TRAINING, java) if each):
        return
    archive.unlink(missing_ok=True)  # the JVM that writes one cannot have one
    print(f"kwire: writing an archive of Spark's classes for the tests, once: {archive}", flush=True)
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        made = Path(folder) / "made.jsa"
        path = os.pathsep.join(filter(None, (str(packages), os.environ.get("PYTHONPATH"))))
        options = " ".join((*OPTIONS, f"-XX:ArchiveClassesAtExit={made}"))
        program = (str(TRAINING), str(TESTS / "captures" / "data" / "topicids.pcap.gz"), folder, *more)
        done = subprocess.run(
            [sys.executable, *program], env={**os.environ, "SPARK_SUBMIT_OPTS": options, "PYTHONPATH": path},
            cwd=folder, capture_output=True, text=True, timeout=900, check=False,
        )  # fmt: skip
        if not made.exists():
            sys.exit(f"{done.stdout}{done.stderr}kwire: no archive was written.")
        made.replace(archive)


_COMPILING: Final = threading.Lock()


@cache
def _program(name: str, libs: Path) -> Path:
    """The classes of a program, in a jar: a JVM takes no archive for a class path that has a folder.

    What it is made of is in its name, and that of its archive: both are kept for the next run.
    """
    source, java = SOURCES / f"{name}.java", Path(str(shutil.which("java"))).resolve()
    jars = [(str(each), each.stat().st_size, each.stat().st_mtime_ns) for each in sorted(libs.resolve().glob("*.jar"))]
    kept = HOME.resolve() / "programs"
    made_of = repr((str(kept), source.read_bytes(), jars, str(java), java.stat().st_ctime_ns, OPTIONS))
    jar = kept / f"{name}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}.jar"
    if not jar.exists():
        kept.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept) as folder:
            classes, made = Path(folder) / "classes", Path(folder) / jar.name
            compiler = [str(shutil.which("javac")), *(f"-J{option}" for option in OPTIONS)]
            subprocess.run([*compiler, "-nowarn", "-cp", f"{libs}/*", "-d", str(classes), str(source)], check=True, timeout=180)
            with zipfile.ZipFile(made, "w") as archive:
                for each in sorted(classes.rglob("*.class")):
                    archive.write(each, each.relative_to(classes))
            made.replace(jar)  # other runs may do the same
    return jar


def java_program(name: str, libs: Path, arguments: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """What a program of `integration/java` says, with the jars of a folder; the first time it writes an archive of its classes too."""
    with _COMPILING:  # an archive is of this very jar, which another thread must not write again
        jar = _program(name, libs)
    archive = jar.with_suffix(".jsa")
    made = archive.with_name(f"{archive.stem}-{os.getpid()}-{threading.get_ident()}.new")
    if archive.exists():
        options = [f"-XX:SharedArchiveFile={archive}", "-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0"]
    else:
        options = [f"-XX:ArchiveClassesAtExit={made}"]
    quiet = ("-Xlog:disable", "-Xlog:all=error:stderr")  # an archive that does not fit is left out, which is no fault
    command = ["java", *OPTIONS, *options, *quiet, "-cp", f"{libs.resolve()}/*{os.pathsep}{jar}", name, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    if made.exists():
        made.replace(archive) if done.returncode == 0 else made.unlink()
    return done


if __name__ == "__main__":
    prepare()
