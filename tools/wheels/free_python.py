"""A free-threaded Python from the source of Debian's, whose packages are all built with the GIL, and the tests that run with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from debian import Debian
from headers import SUITES
from targets import Python

__all__ = ["build_free_threaded", "install_what_there_is", "tests_without"]

_NEEDED: Final = ("ssl", "zlib", "ctypes", "sqlite3")  # by pip and by the tests
# What extras bring beside kwire itself; pip has the parser of requirements.
_BROUGHT: Final = """
import sys
from importlib.metadata import requires
from pip._vendor.packaging.requirements import Requirement
for each in map(Requirement, requires("kwire")):
    if each.name != "kwire" and each.marker and any(each.marker.evaluate({"extra": extra}) for extra in sys.argv[1:]):
        each.marker = None
        print(each)
"""
_PACKAGES: Final = "libssl-dev zlib1g-dev libffi-dev libsqlite3-dev libbz2-dev liblzma-dev"


def build_free_threaded(python: Python, to: Path, work: Path) -> None:
    """Build a Python without a GIL and install it into a folder, without root. Raises FileNotFoundError: its source is missing, or it
    cannot be built here; the text has the reason."""
    suite = SUITES.get(python.release)
    try:
        if suite is None:
            raise OSError("Debian has no source of it")
        archive = Debian(work / "cache" / "apt", suite, "amd64").source(f"python{python.release}")
    except OSError as error:
        raise FileNotFoundError(f"there is no Python {python.name} on this machine, and {error}") from error
    folder = work / f"source-{python.name}"
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(archive) as source:
        source.extraction_filter = getattr(tarfile, "data_filter", None)  # Debian 12's Python 3.11.2 has none
        source.extractall(folder)
    tree = next(folder.iterdir())
    print(f"kwire: builds Python {python.name} from {archive.name}", flush=True)
    settings = ["--disable-gil", f"--prefix={to}", "--disable-test-modules", "--without-static-libpython"]
    _run(["./configure", "-q", *settings], tree, python)
    _run(["make", f"-j{os.cpu_count() or 1}"], tree, python)
    shutil.rmtree(to, ignore_errors=True)
    _run(["make", "install"], tree, python)
    missing = subprocess.run([to / "bin" / f"python{python.name}", "-c", f"import {', '.join(_NEEDED)}"], check=False).returncode
    if missing:
        shutil.rmtree(to, ignore_errors=True)
        raise FileNotFoundError(f"Python {python.name} was built without {' or '.join(_NEEDED)}: it needs Debian's {_PACKAGES}")
    shutil.rmtree(folder, ignore_errors=True)


def _run(command: Sequence[str], place: Path, python: Python) -> None:
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FileNotFoundError(f"Python {python.name} cannot be built here: {' '.join(command)}: {done.stderr.strip()[-500:]}")


def install_what_there_is(inside: Path, wheel: Path, extras: Sequence[str], packages: Sequence[str]) -> list[str]:
    """Install a wheel with its extras and further packages that have wheels for this Python; return the missing ones."""

    def install(*what: str) -> bool:
        command = [str(inside), "-m", "pip", "install", "-q", "--only-binary=:all:", *what]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    if install(f"{wheel}[{','.join(extras)}]", *packages):
        return []
    # one after the other, to name what is not there
    subprocess.run([inside, "-m", "pip", "install", "-q", "--only-binary=:all:", str(wheel)], check=True)
    said = subprocess.run([inside, "-c", _BROUGHT, *extras], check=True, capture_output=True, text=True).stdout
    return [each for each in (*said.splitlines(), *packages) if not install(each)]


def tests_without(inside: Path, tree: Path, asked: Sequence[str]) -> list[str]:
    """Return the files of tests whose imports are missing."""
    command = [str(inside), "-m", "pytest", "-q", "--collect-only", "--continue-on-collection-errors", "-p", "no:cacheprovider", *asked]
    said = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False).stdout
    return sorted({line.split()[1].partition("::")[0] for line in said.splitlines() if line.startswith("ERROR ")})
