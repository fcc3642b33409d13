"""The choice of the tracker's twin by environment, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

from kwire.codec.impl import load_twin

PROGRAM = "import kwire; import kwire.protocol.impl as impl; print(impl.backend, kwire.Connection.__module__)"


def run(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KWIRE_")} | variables
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)


def test_pure_on_request() -> None:
    assert run(PROGRAM, KWIRE_PURE="1").stdout.split() == ["pure", "kwire.protocol.tracking.connection"]


def test_native_where_it_is_installed() -> None:
    assert run(PROGRAM).stdout.split() == ["native", "kwire.protocol._native.tracker"]


def test_a_missing_extension_is_an_error_only_when_it_is_required() -> None:
    hide = "import sys; sys.modules['kwire.protocol._native.tracker'] = None; "
    assert run(hide + PROGRAM).stdout.split() == ["pure", "kwire.protocol.tracking.connection"]
    required = run(hide + PROGRAM, KWIRE_REQUIRE_NATIVE="1")
    assert required.returncode != 0
    assert "kwire's compiled tracker cannot be loaded although KWIRE_REQUIRE_NATIVE=1 asks for it" in required.stderr


def test_the_twins_offer_the_same() -> None:
    native, pure = (dir(load_twin("protocol", "tracker", twin).Connection()) for twin in ("native", "pure"))
    assert {name for name in native if name[0] != "_"} == {name for name in pure if name[0] != "_"}
