"""What a newcomer's pip does: sdist, wheel built elsewhere, pure wheel, and the sentence where a compiler or Python.h is missing."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest

from built_wheel import run

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.matrix, pytest.mark.build, pytest.mark.xdist_group("build")]


def test_sdist_holds_sources_and_nothing_compiled(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert "pyx/wire/cursor.pxd" in names
    assert "pyx/codec/objects.pyx" in names
    assert "src/kwire/schema/messages/MetadataRequest.json" in names
    assert any(name.startswith("tests/unit/") for name in names)
    assert not [name for name in names if name.endswith((".c", ".so", ".pyd", ".pyc"))]


def copied_sources(sdist: Path, to: Path) -> Path:
    with tarfile.open(sdist) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Debian 12's Python 3.11.2 has none
        archive.extractall(to)
    return next(to.glob("kwire-*"))


def build_id(source: Path) -> str:
    program = (
        "import runpy, setuptools\n"
        "setuptools.setup = lambda ext_modules, **_: print(dict(ext_modules[0].define_macros)['KWIRE_BUILD_ID'])\n"
        "runpy.run_path('setup.py')"
    )
    return run("-c", program, cwd=source).stdout.strip().strip('"')


def test_sdist_built_elsewhere_gives_compiled_modules(sdist: Path, compiled_wheel: Path, tmp_path: Path) -> None:
    assert not compiled_wheel.name.endswith("-none-any.whl")
    with zipfile.ZipFile(compiled_wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    for source in (ROOT / "pyx").glob("*/*.pyx"):
        assert any(name.startswith(f"kwire/{source.parent.name}/_native/{source.stem}.") and ".c" not in name[-3:] for name in names)
    assert not [name for name in names if name.endswith((".pyx", ".pxd", ".c"))]
    assert "kwire/schema/messages/MetadataRequest.json" in names
    assert "pyspark_kwire/__init__.py" in names  # by whose name Spark finds the data source
    assert {"kwire/py.typed", "kwire/messages/__init__.pyi", "kwire/messages/_types/metadata.pyi", "kwire/codec/by_name.pyi"} <= set(names)
    program = "import kwire, kwire.codec._native.objects as o; print(kwire.backend, o.__file__)"
    ran = run("-P", "-c", program, cwd=tmp_path, PYTHONPATH=str(tmp_path / "site"), KWIRE_REQUIRE_NATIVE="1")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split()[0] == "native"
    assert str(tmp_path / "site") in ran.stdout
    program = (
        "import importlib, sys, kwire, kwire.codec.impl as i\n"
        "builds = {i.load_twin(*each.split('/'), 'native').__build__ for each in sys.argv[2:]}\n"
        "assert len(builds) == 1 and sys.argv[1].startswith(kwire.__version__ + '+') and builds == {sys.argv[1]}"
    )
    every = [f"{source.parent.name}/{source.stem}" for source in (ROOT / "pyx").glob("*/*.pyx")]
    # none is of other sources, which a cache could have had
    build = build_id(copied_sources(sdist, tmp_path / "sources"))
    ran = run("-P", "-c", program, build, *every, cwd=tmp_path, PYTHONPATH=str(tmp_path / "site"), KWIRE_REQUIRE_NATIVE="1")
    assert ran.returncode == 0, ran.stderr


def test_pure_wheel_is_for_every_platform(sdist: Path, tmp_path: Path) -> None:
    done = run("-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w", tmp_path, sdist, cwd=tmp_path, KWIRE_PURE="1")
    assert done.returncode == 0, done.stdout + done.stderr
    wheel = next(tmp_path.glob("kwire-*.whl"))
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.endswith((".so", ".pyd"))]
        archive.extractall(tmp_path / "site")
    ran = run("-P", "-c", "import kwire; print(kwire.backend)", cwd=tmp_path, PYTHONPATH=str(tmp_path / "site"))
    assert ran.stdout.strip() == "pure", ran.stderr


def test_missing_compiler_is_one_sentence_with_the_way_out(sdist: Path, tmp_path: Path) -> None:
    source = copied_sources(sdist, tmp_path)
    done = run("setup.py", "-q", "build_ext", cwd=source, CC="no-such-compiler")
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("kwire: the C compiler is missing or failed")
    assert "KWIRE_PURE=1" in last
    assert "Traceback" not in done.stderr


def test_missing_python_header_is_one_sentence_with_the_way_out(sdist: Path, tmp_path: Path) -> None:
    source = copied_sources(sdist, tmp_path)
    program = (
        "import runpy, sys, sysconfig; paths = dict(sysconfig.get_paths(), include='/nonexistent');"
        "sysconfig.get_paths = lambda *a, **k: paths; sys.argv = ['setup.py', '-q', 'build_ext'];"
        "runpy.run_path('setup.py', run_name='__main__')"
    )
    done = run("-c", program, cwd=source)
    assert done.returncode != 0
    assert done.stderr.strip().splitlines()[-1].startswith("kwire: Python.h is missing")
    assert "KWIRE_PURE=1" in done.stderr
    assert "Traceback" not in done.stderr
