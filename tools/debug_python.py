"""Run tests under a debug build of CPython, Debian's python3.11-dbg, with kwire's modules compiled against its headers.

usage: python tools/debug_python.py [pytest arguments instead of the usual set]

Such a Python asserts what a release build assumes about reference counts, objects, errors and memory (PYTHONMALLOC=debug). All files are in
`build/debug`; nothing is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "wheels"))

from debian import Debian  # noqa: E402
from tree import copy_of  # noqa: E402

WORK: Final = ROOT / "build" / "debug"
SUITE, RELEASE = "bookworm", "3.11"
EXTRAS: Final = "arrow,cli,report,records,telemetry,logs,proxy,tls,redact"
TOOLS: Final = (
    "pytest>=8.3,<9.2", "hypothesis", "scapy", "trustme", "jsonschema", "fsspec", "pandas<3", "setuptools>=77", "cython>=3.1,<4",
)  # fmt: skip
TESTS: Final = (
    "tests/parity",
    "--ignore=tests/parity/test_other_decoders.py",  # which starts Pythons with other decoders, and they are release builds
    "tests/vectors",
    "tests/unit/codec/test_native_memory.py",
    "tests/unit/codec/test_failing_decodes.py",
    "tests/unit/codec/test_ending_while_decoding.py",
    "tests/unit/codec/test_free_threads.py",
    "tests/unit/protocol/test_threads.py",
    "tests/unit/codec/test_fuzz_targets.py",
)


def interpreter() -> Path:
    """Return the debug build; its files are fetched once. Raises OSError: Debian's packages cannot be fetched here."""
    found = WORK / "root" / "usr" / "bin" / f"python{RELEASE}-dbg"
    if not found.exists():
        # the headers of the debug build lead to those of the other, which Debian only recommends
        packages = (f"python{RELEASE}-dbg", f"libpython{RELEASE}-dbg", f"libpython{RELEASE}-dev")
        Debian(WORK / "apt", SUITE, "amd64").unpack(WORK / "root", *packages, dependencies=True)
    return found


def install(site: Path) -> None:
    """Install the imports of the tests: wheels for a release build, which a debug build loads too, and kwire as pure Python."""
    ready = site / ".ready"
    if ready.exists():
        return
    shutil.rmtree(site, ignore_errors=True)
    tree = copy_of(ROOT, WORK / "tree")
    environment = {**os.environ, "KWIRE_PURE": "1"}
    chosen = ["--only-binary=:all:", f"--python-version={RELEASE}", "--implementation=cp", "--target", str(site)]
    wheels = WORK / "wheel"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "-w", wheels, tree], env=environment, check=True)
    wheel = next(wheels.glob("kwire-*.whl"))
    subprocess.run([*pip, "install", "-q", *chosen, f"{wheel}[{EXTRAS}]", *TOOLS], check=True)
    for name in ("kwire", "pyspark_kwire"):
        shutil.rmtree(site / name)
    ready.touch()


def build(python: Path, environment: dict[str, str]) -> Path:
    """Compile against the debug headers, with assertions on, and return the folder to import from."""
    lib = WORK / "lib"
    target = ["--build-base", str(WORK), "--build-lib", str(lib)]
    include = WORK / "root" / "usr" / "include"
    compiler = "ccache gcc" if shutil.which("ccache") else "gcc"
    flags = f"-O1 -g1 -UNDEBUG -I{include}/python{RELEASE}d -I{include}"
    settings = {**environment, "CC": compiler, "LDSHARED": "gcc -shared", "CFLAGS": flags, "LDFLAGS": ""}
    command = [str(python), "setup.py", "-q", "build", *target, "build_ext", "--parallel", str(os.cpu_count())]
    subprocess.run(command, cwd=ROOT, env=settings, check=True)
    return lib


def main(arguments: list[str]) -> int:
    try:
        python = interpreter()
    except OSError as error:
        print(f"kwire: no debug build of Python {RELEASE} is to be had: {error}", file=sys.stderr)
        return 3
    site = WORK / "site"
    install(site)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KWIRE_", "VIRTUAL_ENV"))}
    environment = {**kept, "PYTHONPATH": str(site), "KWIRE_REQUIRE_NATIVE": "1", "LD_LIBRARY_PATH": f"{WORK}/root/usr/lib/x86_64-linux-gnu"}
    lib = build(python, environment)
    environment["PYTHONPATH"] = f"{lib}{os.pathsep}{site}"
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(arguments or TESTS)]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
