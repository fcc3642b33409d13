"""Install wheels of `dist` into clean environments and run the tests on them: on this machine, and for aarch64 under qemu.

usage: python tools/wheels/prove.py [--pythons 3.11,3.14] [--platform x86_64] [--emulated 3.11] [-- pytest arguments]

The tests run in a copy of the sources without compiled modules, from which nothing is imported. A Python that is not on this machine is
unpacked from Debian's packages into a folder; a free-threaded one, of which Debian has no package, is built from the source of Debian's.
If Debian has neither, it is named, and the exit status is 3. A free-threaded Python is tried with those packages that have wheels for it;
the others are named, and so are the tests that import them. PYTHON_GIL is not set: a module that turns the GIL on fails a test.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from debian import Debian
from free_python import build_free_threaded, install_what_there_is, tests_without
from headers import SUITES, interpreter_of
from targets import PLATFORMS, PYTHONS, Python
from tree import MISSING, ROOT, copy_of

_EXTRAS: Final = "arrow,cli,report,records,telemetry,logs,proxy,tls,redact"
# What the folders below import beside kwire's extras. Not all of it has wheels for each platform: parity and vectors need the first line.
_FEW: Final = ("pytest>=8.3,<9.2", "pytest-xdist", "hypothesis", "scapy", "trustme", "jsonschema", "markdown-it-py", "fsspec")
_ALL: Final = (*_FEW, "pandas<3", "duckdb", "tomli; python_version < '3.11'")
# Each Python has an asyncio of its own; these tests of the proxy need neither a broker nor client libraries.
_SOCKETS: Final = tuple(
    f"tests/integration/test_proxy_{each}.py" for each in ("sockets", "tls", "faults", "every_message", "hostile_bytes", "taps")
)
_WHOLE: Final = ("tests/unit", "tests/parity", "tests/vectors", *_SOCKETS)
_PART: Final = ("tests/parity", "tests/vectors")  # under qemu each instruction takes tens of them
# A wheel is tried without PySpark, which is half a gigabyte, and the last quotes a newer cramjam than Python 3.10 has.
_LEFT_OUT: Final = (
    "tests/unit/tables/test_column_comments.py", "tests/unit/spark/test_lone_work.py", "tests/unit/spark/test_planning_imports.py",
    "tests/unit/spark/test_executors.py",
)  # fmt: skip
_DEBIAN_NAMES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
_SAY: Final = "import kwire; print('kwire:', kwire.backend, kwire.__file__)"
_AT_ONCE: Final = "2"


def wheel_of(dist: Path, python: Python, name: str) -> Path:
    """Return the wheel for a Python and a platform. Raises FileNotFoundError: there is none."""
    tags = "py3-none-any" if name == "pure" else f"{python.tag}-{PLATFORMS[name].tag}"
    found = list(dist.glob(f"kwire-*-{tags}.whl"))
    if not found:
        raise FileNotFoundError(f"{dist} has no wheel for Python {python.name} on {name}")
    return found[0]


def run(command: Sequence[str | Path], place: Path, **environment: str) -> int:
    """Run in the copy of the sources, without settings of this process's Python."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KWIRE_", "VIRTUAL_ENV"))}
    return subprocess.run(list(map(str, command)), cwd=place, env={**kept, **environment}, check=False).returncode


def prove_here(dist: Path, python: Python, name: str, work: Path, tree: Path, arguments: Sequence[str]) -> int:
    """Try a wheel in an environment of its own. Raises FileNotFoundError: this Python or its wheel is missing."""
    wheel, command, is_whole = wheel_of(dist, python, name), interpreter_of(python, free_python_of(python, work)), "musl" not in name
    environment = work / f"venv-{python.name}-{name}"
    shutil.rmtree(environment, ignore_errors=True)
    subprocess.run([command, "-m", "venv", environment], check=True)
    inside = environment / "bin" / "python"
    wanted = [f"{wheel}[{_EXTRAS}]", *(_ALL if is_whole else _FEW)]
    missing = []
    if python.is_free_threaded:
        missing = install_what_there_is(inside, wheel, _EXTRAS.split(","), _FEW)  # pandas turns the GIL on, duckdb has no wheels
        print(f"kwire: no wheels for Python {python.name}: {', '.join(missing) or 'none is missing'}", flush=True)
    else:
        subprocess.run([inside, "-m", "pip", "install", "-q", *wanted], check=True)
    print(f"kwire: Python {python.name}, {wheel.name}", flush=True)
    setting = {"KWIRE_PURE": "1"} if name == "pure" else {"KWIRE_REQUIRE_NATIVE": "1"}
    run([inside, "-c", _SAY], environment, **setting)
    asked = list(arguments or (*(_WHOLE if is_whole else _PART), *(f"--ignore={each}" for each in _LEFT_OUT)))
    if missing and not arguments:
        left_out = tests_without(inside, tree, asked)
        print(f"kwire: not run for want of them: {', '.join(left_out)}", flush=True)
        asked += [f"--ignore={each}" for each in left_out]
    return run([environment / "bin" / "pytest", "-q", "-n", _AT_ONCE, "-p", "no:cacheprovider", *asked], tree, **setting)


def free_python_of(python: Python, work: Path) -> Path | None:
    """Return the path of a free-threaded Python that was built here; None for any other."""
    return work / f"python-{python.name}" / "bin" / f"python{python.name}" if python.is_free_threaded else None


def unpacked_python(python: Python, name: str, work: Path) -> list[str | Path]:
    """Return the command of a Python of Debian's that is unpacked into a folder; it runs under qemu for another processor. Raises
    FileNotFoundError: Debian's packages are missing, or have no such Python."""
    machine, suite = PLATFORMS[name].machine, SUITES.get(python.name)
    root = work / f"root-{python.name}-{machine}"
    command = root / "usr" / "bin" / f"python{python.release}"
    emulator = shutil.which(f"qemu-{machine}-static") or str(work / "qemu" / "usr" / "bin" / f"qemu-{machine}-static")
    cache, is_foreign = work / "cache" / "apt", machine != platform.machine()
    try:
        if suite is None:
            raise FileNotFoundError("Debian has none")
        if not command.exists():
            Debian(cache, suite, _DEBIAN_NAMES[machine]).unpack(root, f"python{python.release}", "libstdc++6", dependencies=True)
        if is_foreign and not Path(emulator).exists():
            Debian(cache, "bookworm", _DEBIAN_NAMES[platform.machine()]).unpack(work / "qemu", "qemu-user-static")
    except OSError as error:
        raise FileNotFoundError(f"there is no Python {python.name} for {machine} on this machine, and {error}") from error
    if is_foreign:
        return [emulator, "-L", root, command]
    # by its own loader: its C library may be newer than that of this machine
    libraries = [root / top / f"{machine}-linux-gnu" for top in ("lib", "usr/lib")]
    loader = next(each for folder in libraries for each in folder.glob("ld-linux-*.so.*"))
    return [loader, "--library-path", ":".join(map(str, libraries)), command]


def prove_unpacked(dist: Path, python: Python, name: str, work: Path, tree: Path, arguments: Sequence[str]) -> int:
    """Try a wheel with an unpacked Python of Debian's, and packages from PyPI. Raises FileNotFoundError: this Python or its wheel is
    missing."""
    wheel, start = wheel_of(dist, python, name), unpacked_python(python, name, work)
    machine, site = PLATFORMS[name].machine, work / f"site-{python.name}-{name}"
    shutil.rmtree(site, ignore_errors=True)
    tags = [f"--platform=manylinux_{each}_{machine}" for each in ("2_17", "2_27", "2_28")] + [f"--platform=manylinux2014_{machine}"]
    chosen = ["--only-binary=:all:", *tags, "--implementation=cp", f"--python-version={python.release}", "--target", site]
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", *chosen, f"{wheel}[{_EXTRAS}]", *_FEW], check=True)
    print(f"kwire: Python {python.name} of Debian, {wheel.name}", flush=True)
    setting = {"KWIRE_REQUIRE_NATIVE": "1", "PYTHONPATH": str(site)}
    run([*start, "-P", "-c", _SAY], work, **setting)
    # one process: xdist would start its workers without loader or qemu
    return run([*start, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *(arguments or _PART)], tree, **setting)


def prove(dist: Path, python: Python, name: str, work: Path, tree: Path, arguments: Sequence[str]) -> int:
    """Try a wheel with this machine's Python, else with Debian's. Raises FileNotFoundError: both are missing, or there is no wheel."""
    built = free_python_of(python, work)
    try:
        interpreter_of(python, built)
    except FileNotFoundError:
        if name not in (platform.machine(), "pure") or (name == "pure" and built is None):
            raise
        if built is not None:
            build_free_threaded(python, built.parents[1], work)
            return prove_here(dist, python, name, work, tree, arguments)
        return prove_unpacked(dist, python, name, work, tree, arguments)
    return prove_here(dist, python, name, work, tree, arguments)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the tests on installed wheels.")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "wheels")
    parser.add_argument("--pythons", default=",".join(each.name for each in PYTHONS), help="or none")
    parser.add_argument("--platform", default=platform.machine(), help=f"one of {', '.join(PLATFORMS)}, pure")
    parser.add_argument("--emulated", default="none", help="Python of Debian 12, 3.11, to try on aarch64 under qemu")
    parser.add_argument("arguments", nargs="*", metavar="PYTEST", help="instead of the usual folders")
    asked = parser.parse_args()
    dist, work = asked.dist.resolve(), asked.work.resolve()
    tree = copy_of(ROOT, work / "tried")
    status = 0
    for way, names, machine in ((prove, asked.pythons, asked.platform), (prove_unpacked, asked.emulated, "aarch64")):
        for name in () if names == "none" else names.split(","):
            try:
                status = way(dist, Python(name), machine, work, tree, asked.arguments) or status
            except FileNotFoundError as error:
                print(f"kwire: not run, {error}", file=sys.stderr)
                status = status or MISSING
    return status


if __name__ == "__main__":
    sys.exit(main())
