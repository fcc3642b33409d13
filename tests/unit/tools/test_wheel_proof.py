"""Which Python `make wheels` tries a wheel with, where this machine has none: Debian's, unpacked into a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from script_modules import module_of

TOOLS = Path(__file__).resolve().parents[3] / "tools" / "wheels"


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


def free_python(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module that builds one; Debian's source of any Python is not on the mirror."""

    class NoSource:
        def __init__(self, folder: Path, suite: str, architecture: str) -> None:
            self.asked = f"{suite}-{architecture}"

        def source(self, package: str) -> Path:
            raise OSError(f"apt-get source --download-only --only-source {package}: E: Failed to fetch some archives.")

    monkeypatch.syspath_prepend(str(TOOLS))
    made = module_of(TOOLS / "free_python.py")
    monkeypatch.setattr(made, "Debian", NoSource)
    return made


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("3.14t", "apt-get source --download-only --only-source python3.14: E: Failed to fetch some archives."),
        ("3.12t", "Debian has no source of it"),
    ],
)
def test_a_free_threaded_python_whose_source_is_not_to_be_had_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, why: str
) -> None:
    made = free_python(monkeypatch)
    with pytest.raises(FileNotFoundError) as said:
        made.build_free_threaded(sys.modules["targets"].Python(name), tmp_path / "to", tmp_path)
    assert str(said.value) == f"there is no Python {name} on this machine, and {why}"
    assert not (tmp_path / "to").exists()


def test_tests_that_cannot_be_imported_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = free_python(monkeypatch)
    (tmp_path / "test_one.py").write_text("import no_such_package_of_anybody\n\ndef test_it() -> None:\n    pass\n")
    (tmp_path / "test_two.py").write_text("def test_it() -> None:\n    pass\n")
    assert made.tests_without(Path(sys.executable), tmp_path, ["."]) == ["test_one.py"]
