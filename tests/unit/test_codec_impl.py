"""Which twin is picked, and what an import loads; each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

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
    assert (done.stdout.strip(), done.stderr) == ("pure", "")


def test_native_by_force():
    done = run(HIDE_NATIVE + "import kwire; kwire.backend", KWIRE_REQUIRE_NATIVE="1")
    assert done.returncode != 0
    assert "ImportError: kwire's compiled modules cannot be loaded although KWIRE_REQUIRE_NATIVE=1 asks for them" in done.stderr


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
