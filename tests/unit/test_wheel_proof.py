"""Which Python `make wheels` tries a wheel with, where this machine has none: Debian's, unpacked into a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from script_modules import module_of

TOOLS = Path(__file__).resolve().parents[2] / "tools" / "wheels"


@pytest.fixture
def prove(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, on a machine with an x86-64 processor that has no qemu."""
    monkeypatch.syspath_prepend(str(TOOLS))
    made = module_of(TOOLS / "prove.py")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("shutil.which", lambda command: None)
    return made


def unpacked(folder: Path, *files: str) -> None:
    """Empty files, as packages were unpacked before."""
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_a_newer_python_runs_by_the_loader_that_was_unpacked_with_it(prove: ModuleType, tmp_path: Path) -> None:
    """A program of a newer Debian finds no symbols of its C library in that of this machine."""
    root = tmp_path / "root-3.14-x86_64"
    unpacked(root, "usr/bin/python3.14", "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")
    assert prove.unpacked_python(sys.modules["targets"].Python("3.14"), "x86_64", tmp_path) == [
        root / "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
        "--library-path",
        f"{root}/lib/x86_64-linux-gnu:{root}/usr/lib/x86_64-linux-gnu",
        root / "usr/bin/python3.14",
    ]


def test_a_python_for_another_processor_runs_under_qemu(prove: ModuleType, tmp_path: Path) -> None:
    unpacked(tmp_path, "root-3.11-aarch64/usr/bin/python3.11", "qemu/usr/bin/qemu-aarch64-static")
    assert prove.unpacked_python(sys.modules["targets"].Python("3.11"), "aarch64", tmp_path) == [
        f"{tmp_path}/qemu/usr/bin/qemu-aarch64-static",
        "-L",
        tmp_path / "root-3.11-aarch64",
        tmp_path / "root-3.11-aarch64/usr/bin/python3.11",
    ]


@pytest.mark.parametrize("name", ["3.12", "3.14t"])
def test_a_python_that_debian_has_not_is_named(prove: ModuleType, tmp_path: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError, match=f"there is no Python {name} for x86_64 on this machine, and Debian has none"):
        prove.unpacked_python(sys.modules["targets"].Python(name), "x86_64", tmp_path)
