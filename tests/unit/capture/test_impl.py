"""The choice of the twins of scanner and reassembly by environment, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

from kwire.capture.impl import MODULES
from kwire.codec.impl import load_twin

PROGRAM = "import kwire.capture.impl as impl; print(impl.backend, impl.packets.__name__)"


def run(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KWIRE_")} | variables
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)


def test_pure_on_request() -> None:
    assert run(PROGRAM, KWIRE_PURE="1").stdout.split() == ["pure", "kwire.capture._pure.packets"]


def test_native_where_it_is_installed() -> None:
    assert run(PROGRAM).stdout.split() == ["native", "kwire.capture._native.packets"]


def test_the_reassembly_is_of_the_same_twin() -> None:
    program = "from kwire.capture.impl import series_carry; print(type(series_carry()).__module__)"
    assert run(program).stdout.split() == ["kwire.capture._native.carry"]
    assert run(program, KWIRE_PURE="1").stdout.split() == ["kwire.capture.carry"]


def test_half_a_native_twin_is_none() -> None:
    for name in MODULES:
        assert run(f"import sys; sys.modules['kwire.capture._native.{name}'] = None; " + PROGRAM).stdout.split()[0] == "pure", name


def test_a_missing_extension_is_an_error_only_when_it_is_required() -> None:
    hide = "import sys; sys.modules['kwire.capture._native.packets'] = None; "
    assert run(hide + PROGRAM).stdout.split() == ["pure", "kwire.capture._pure.packets"]
    required = run(hide + PROGRAM, KWIRE_REQUIRE_NATIVE="1")
    assert required.returncode != 0
    assert "kwire's compiled packet scanner cannot be loaded although KWIRE_REQUIRE_NATIVE=1 asks for it" in required.stderr


def test_the_twins_offer_the_same() -> None:
    assert load_twin("capture", "packets", "native").__all__ == load_twin("capture", "packets", "pure").__all__
