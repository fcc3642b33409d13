"""Which twin is picked, and what an import loads; each in a process of its own."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

SHOW = "import kwire; print(kwire.backend, type(kwire.decode('MetadataRequest', bytes(4), 0)).__mro__[1].__module__)"
HIDE_NATIVE = "import sys; sys.modules['kwire.codec._native.headers'] = None; "


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KWIRE_")}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**kept, **environment}, timeout=60, check=False
    )


def test_pure_by_force():
    done = run(
        "import kwire; print(kwire.backend, type(kwire.decode('MetadataRequest', bytes(4), 0)).__mro__[1].__module__)", KWIRE_PURE="1"
    )
    assert (done.stdout.strip(), done.stderr) == ("pure kwire.codec._pure.structs", "")


def test_the_installed_twin_is_picked(twin):
    if twin == "native":
        done = run(SHOW)
        assert (done.stdout.strip(), done.stderr) == ("native kwire.codec._native.structs", "")
    else:
        assert run(HIDE_NATIVE + "import kwire; print(kwire.backend)").stdout.strip() == "pure"


def test_half_a_native_twin_is_none():
    done = run(HIDE_NATIVE + "import kwire; print(kwire.backend, kwire.peek_header(bytes(10)).client_id)")
    assert done.stdout.strip() == "pure"
    assert "RuntimeWarning: kwire's compiled modules are installed but cannot be used, so the pure Python backend runs" in done.stderr


def test_native_by_force():
    done = run(HIDE_NATIVE + "import kwire; kwire.backend", KWIRE_REQUIRE_NATIVE="1")
    assert done.returncode != 0
    assert "ImportError: kwire's compiled modules cannot be loaded although KWIRE_REQUIRE_NATIVE=1 asks for it" in done.stderr


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import kwire; kwire.decode('MetadataRequest', bytes(4), 0)", ("numpy", "pyarrow", "pyspark", "jinja2", "click", "rich", "uuid")),
        ("import kwire.cli", ("numpy", "pyarrow", "pyspark", "jinja2")),
    ],
)
def test_what_is_not_imported(code, absent):
    done = run(f"{code}; import sys; print([name for name in {absent!r} if name in sys.modules])")
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_the_facade_loads_nothing_but_itself():
    done = run("import sys; before = set(sys.modules); import kwire; print(sorted(set(sys.modules) - before - {'__future__'}))")
    assert (done.stdout.strip(), done.stderr) == ("['kwire', 'kwire.lazy_names']", "")


# headers imports structs, so both are loaded before the builds are compared: one of them stands for a module that was replaced on disk
BUILDS = """
import importlib, pkgutil, kwire
from kwire.codec import _native, impl
# what the compiler of the others was told is not looked at here
for each in pkgutil.iter_modules(_native.__path__):
    importlib.import_module("kwire.codec._native." + each.name).__build__ = ""
impl._builds.clear()
for name, build in zip(("structs", "headers"), {builds!r}):
    importlib.import_module("kwire.codec._native." + name).__build__ = build
try:
    impl.load_twin("codec", "headers", "native")
except ImportError as error:
    print(error)
else:
    print("loaded")
"""


@pytest.mark.parametrize(
    ("builds", "said"),
    [
        (("{v}+aaaa", "{v}+aaaa"), "loaded"),
        (("", "{v}+aaaa"), "loaded"),  # the compiler of one was given no id: nothing can be said
        (("{v}+aaaa", "{v}+bbbb"), "headers is of {v}+bbbb, kwire.codec._native.structs of {v}+aaaa; install kwire again"),
        (("0.0.1+aaaa", "0.0.1+aaaa"), "structs is of 0.0.1+aaaa, the package of {v}; install kwire again"),
    ],
    ids=["one", "unknown", "two", "another-version"],
)
def test_modules_of_different_builds_are_refused(builds, said, twin):
    import kwire

    if twin == "native":
        done = run(BUILDS.format(builds=tuple(each.format(v=kwire.__version__) for each in builds)))
        assert said.format(v=kwire.__version__) in done.stdout, done.stderr
        assert len(done.stdout.splitlines()) == 1


MIX = "import kwire.codec._native.structs as s; s.__build__ = '0.0.1+a'; import kwire; "


def test_a_mixture_is_an_import_error_where_native_is_required(twin):
    if twin == "native":
        required = run(MIX + "kwire.backend", KWIRE_REQUIRE_NATIVE="1")
        assert required.returncode != 0
        assert "compiled modules come from different builds" in required.stderr.splitlines()[-1]
        left = run(MIX + "print(kwire.backend)")
        assert left.stdout == "pure\n"
        assert left.stderr.count("RuntimeWarning") == 1


def test_every_native_module_names_its_build(twin):
    """A module without it would not be compared."""
    for source in sorted((Path(__file__).parents[3] / "pyx").glob("*/*.pyx")):
        assert "\n__build__ = build_id()\n" in source.read_text(), source
        if twin == "native" and (source.parent.name != "proxy" or sys.platform == "linux"):
            module = importlib.import_module(f"kwire.{source.parent.name}._native.{source.stem}")
            assert isinstance(module.__build__, str)


INNER = """
import sys, warnings
sys.path[:] = {path!r}
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import kwire.capture.impl, kwire.protocol.impl
    print(kwire.backend, kwire.capture.impl.backend, kwire.protocol.impl.backend, len(told), told[0].message, flush=True)
"""
SECOND = """
import sys, kwire.capture.impl, kwire.protocol.impl
assert kwire.backend == kwire.capture.impl.backend == kwire.protocol.impl.backend == "native"
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
interpreters.run_string(interpreters.create(), {inner!r}.format(path=sys.path))
"""


def test_a_second_interpreter_says_that_the_pure_twin_runs(twin):
    """Python refuses the compiled modules there: Cython's keep their state in the process."""
    if twin == "native":
        done = run(SECOND.format(inner=INNER))
        assert done.stdout.startswith("pure pure pure 1 kwire's compiled modules are installed but cannot"), done.stdout + done.stderr
