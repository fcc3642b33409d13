"""Cython sources keep to the floors of the rooms, as Python modules do: no header cimports one of a higher floor or of another room on its
own floor, and no files cimport each other in a circle. Nothing of it shows at run time, so the sources are read."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PYX = ROOT / "pyx"
CIMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+cimport\b|cimport[ \t]+([\w., \t]+))", re.MULTILINE)
INCLUDE = re.compile(r"^[ \t]*include[ \t]+[\"']([^\"']+)[\"']", re.MULTILINE)
# Declarations of Cython, of Python and of C, which every floor may use
OUTSIDE = {"cpython", "cython", "libc"}


def floors() -> dict[str, int]:
    """Rooms and how high they lie: those of import-linter, with bytes on the wire below them."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0]
    rooms = {}
    for height, layer in enumerate(reversed(contract["layers"]), 1):
        rooms |= {room.strip().removeprefix("kwire."): height for room in layer.split("|")}
    return {**rooms, "wire": 0}


def file_of(module: str) -> str:
    """The file of pyx/ that declares a module, relative to it; ValueError where none does.

    A compiled module is a node of its own: its `.pyx` implements what `pyx/kwire/ROOM/_native/NAME.pxd` declares to others.
    """
    path = module.replace(".", "/") + ".pxd"
    if (PYX / path).exists():
        return path
    raise ValueError(f"no file of pyx/ declares {module}")


def cimports(text: str) -> Iterator[str]:
    """Modules and included files that a source names."""
    for found in CIMPORT.finditer(text):
        for name in [found[1]] if found[1] else [each.split(" as ")[0].strip() for each in found[2].split(",")]:
            if name.split(".")[0] not in OUTSIDE:
                yield file_of(name)
    yield from INCLUDE.findall(text)


def room_of(path: str) -> str:
    """`codec/program.pxd` and `kwire/codec/_native/objects.pxd` are of codec; what lies above the rooms is of the lowest, `wire`."""
    parts = Path(path).parts
    if parts[0] == "kwire":
        return parts[1]
    return parts[0] if len(parts) > 1 else "wire"


def climbs(graph: dict[str, list[str]]) -> list[str]:
    """Each cimport that goes to a higher floor, or to another room on the same one."""
    height = floors()
    return [
        f"{path} cimports {other}"
        for path, others in graph.items()
        for other in others
        if room_of(other) != room_of(path) and height[room_of(other)] >= height[room_of(path)]
    ]


def circles(graph: dict[str, list[str]]) -> list[list[str]]:
    """Files that cimport each other, one circle at most for each file where one is met."""
    found: list[list[str]] = []
    done: set[str] = set()

    def follow(path: str, way: list[str]) -> None:
        if path in way:
            found.append([*way[way.index(path) :], path])
        elif path not in done:
            for other in graph.get(path, []):
                follow(other, [*way, path])
            done.add(path)

    for path in graph:
        follow(path, [])
    return found


def sources() -> dict[str, list[str]]:
    """All files of pyx/ with what they cimport and include."""
    return {
        path.relative_to(PYX).as_posix(): list(cimports(path.read_text("utf-8")))
        for path in sorted(PYX.rglob("*"))
        if path.suffix in (".pxd", ".pxi", ".pyx")
    }


def test_every_room_is_a_room_of_the_package() -> None:
    assert {room_of(path) for path in sources()} <= set(floors())


def test_every_header_lies_in_its_room() -> None:
    assert [path for path in sources() if "/" not in path] == ["build_id.pxd"]


def test_no_cimport_climbs() -> None:
    assert climbs(sources()) == []


def test_no_files_cimport_each_other() -> None:
    assert circles(sources()) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("from wire.cursor cimport Bytes\n", ["wire/cursor.pxd"]),
        ("from codec.program cimport (\n    Step,\n)\n", ["codec/program.pxd"]),
        ("    cimport wire.cursor as c, wire.utf8\n", ["wire/cursor.pxd", "wire/utf8.pxd"]),
        ("from kwire.capture._native.tcp cimport Reassembly\n", ["kwire/capture/_native/tcp.pxd"]),
        ('include "protocol/frames.pxi"\n', ["protocol/frames.pxi"]),
        ("from libc.stdint cimport int32_t\ncimport cython\nfrom cpython.object cimport PyObject\n", []),
    ],
)
def test_what_a_source_cimports(text: str, named: list[str]) -> None:
    assert list(cimports(text)) == named


def test_a_module_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no file of pyx/ declares wire\.nothing"):
        list(cimports("from wire.nothing cimport thing\n"))


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("wire/cursor.pxd", "codec/program.pxd"),
        ("codec/objects.pyx", "protocol/text_table.pxd"),
        ("protocol/tracker.pyx", "kwire/capture/_native/tcp.pxd"),
        ("kwire/capture/_native/tcp.pxd", "tables/row_columns.pxd"),
        ("build_id.pxd", "codec/program.pxd"),
    ],
)
def test_a_planted_climb_is_found(path: str, other: str) -> None:
    assert climbs({path: [other], other: [path]}) == [f"{path} cimports {other}"]


def test_planted_circles_are_found() -> None:
    assert circles({"wire/a.pxd": ["wire/b.pxd"], "wire/b.pxd": ["wire/c.pxd"], "wire/c.pxd": ["wire/b.pxd"]}) == [
        ["wire/b.pxd", "wire/c.pxd", "wire/b.pxd"]
    ]
    assert circles({"wire/a.pxd": ["wire/b.pxd", "wire/c.pxd"], "wire/b.pxd": ["wire/c.pxd"], "wire/c.pxd": []}) == []


def test_relays_and_loops_ask_for_no_exception_behind_a_good_value() -> None:
    """`except?` without the GIL takes it whenever the value is that of an error: once for each frame, where NULL is a good value."""
    asking = [
        path.name
        for path in (*(PYX / "protocol").glob("relay*.pxd"), PYX / "protocol" / "frame_cutter.pxd", *(PYX / "proxy").iterdir())
        if re.search(r"except\?[^:\n]*nogil", path.read_text("utf-8"))
    ]
    assert asking == []
