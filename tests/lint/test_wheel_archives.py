"""Wheels of `make wheels`: their bytes depend on their contents alone, and none stands in `dist` that was not checked."""

from __future__ import annotations

import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from script_modules import module_of

ROOT = Path(__file__).resolve().parents[2]
INFO = "kwire-0.1.0.dist-info"
FILES = {
    "kwire/__init__.py": b"",
    "kwire/codec.so": b"\x7fELF",
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\n",
    f"{INFO}/METADATA": b"Name: kwire\n",
}
RELEASED = 1_700_000_000  # 2023-11-14 22:13:20 UTC


@pytest.fixture(scope="module")
def archives() -> ModuleType:
    return module_of(ROOT / "tools" / "wheels" / "archives.py")


def test_the_order_in_which_files_were_found_does_not_matter(archives: ModuleType, tmp_path: Path) -> None:
    for name, files in (("one.whl", FILES), ("two.whl", dict(reversed(FILES.items())))):
        archives.Wheel(files).write(tmp_path / name, RELEASED)
    assert (tmp_path / "one.whl").read_bytes() == (tmp_path / "two.whl").read_bytes()


def test_names_dates_modes_and_hashes(archives: ModuleType, tmp_path: Path) -> None:
    """PEP 427: what describes the package comes last, and RECORD has SHA-256 in base64 without `=`; that of no bytes is e3b0c442...b855."""
    path = archives.Wheel(FILES).write(tmp_path / "kwire.whl", RELEASED)
    with zipfile.ZipFile(path) as archive:
        found = [(each.filename, each.date_time, each.external_attr >> 16) for each in archive.infolist()]
        record = archive.read(f"{INFO}/RECORD").decode().splitlines()
    date = (2023, 11, 14, 22, 13, 20)
    assert found == [
        ("kwire/__init__.py", date, 0o100644),
        ("kwire/codec.so", date, 0o100755),
        (f"{INFO}/METADATA", date, 0o100644),
        (f"{INFO}/WHEEL", date, 0o100644),
        (f"{INFO}/RECORD", date, 0o100644),
    ]
    assert record[0] == "kwire/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0"
    assert record[-1] == f"{INFO}/RECORD,,"


def test_a_wheel_that_breaks_a_rule_is_not_left(archives: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "kwire.whl"

    def check(made: Path) -> None:
        assert (made.name, zipfile.is_zipfile(made), path.exists()) == (path.name, True, False)
        raise ValueError("it has too many bytes")

    with pytest.raises(ValueError, match="too many bytes"):
        archives.Wheel(FILES).write(path, RELEASED, check)
    assert list(tmp_path.iterdir()) == []
