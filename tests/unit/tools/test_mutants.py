"""The generator makes these mutants, the runner chooses one, and the subjects fit the sources."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from script_modules import module_of

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def runner() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        yield module_of(ROOT / "tools" / "mutants.py")


def made(runner: ModuleType, tmp_path: Path, text: str) -> list[Any]:
    (tmp_path / "some.pyx").write_text(text, "utf-8")
    found: list[Any] = runner.mutants_of(tmp_path, ["some.pyx"])
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return", [""]),
        ("a = 1", ["", "a = 2"]),
        ("run(a + b, True)", ["", "run(a - b, True)", "run(a + b, False)"]),
        ("return a not in b", ["", "return a in b"]),
        ("return not a", ["", "return a"]),
        ("return a is not None", ["", "return a is None"]),
        ("x = [i for i in a if i.b <= c]", ["", "x = [i for i in a if i.b < c]"]),
        ("if a < b: ", []),  # a statement behind its condition
        ("cdef int a = b - 1", ["b + 1", "b - 2"]),
        ("cdef int a", []),
        ("a: int", []),
        ("x = <int>a", [""]),
        ("raise ValueError('a < b and 1')", [""]),
    ],
)
def test_a_statement_has_these_mutants(runner: ModuleType, tmp_path: Path, body: str, expected: list[str]) -> None:
    suffix = "return\n" if body.startswith("if") else "\n"
    assert [each.after for each in made(runner, tmp_path, f"cdef int f(a) except -1:\n    {body}{suffix}")] == expected


def test_a_condition_has_these_mutants(runner: ModuleType, tmp_path: Path) -> None:
    found = made(runner, tmp_path, "def f():\n    while a < b and (not c or d(1, e or f)):\n        continue\n")
    assert [each.after for each in found] == [
        "True", "False", "a <= b and (not c or d(1, e or f))", "(not c or d(1, e or f))", "a < b", "a < b and (c or d(1, e or f))",
        "a < b and (d(1, e or f))", "a < b and (not c)", "a < b and (not c or d(2, e or f))", "a < b and (not c or d(1, f))",
        "a < b and (not c or d(1, e))", "",
    ]  # fmt: skip
    assert [each.line for each in found[-2:]] == [2, 3]


def test_what_runs_at_import_stays(runner: ModuleType, tmp_path: Path) -> None:
    text = "A = 1\ncdef enum:\n    B = 2\ncdef class C:\n    cdef int d\n    E = 3\n"
    assert made(runner, tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "number", "expected"),
    [
        ("    x = a < b\n", 2, "    if is_mutant(2):\n        x = a <= b\n    else:\n        x = a < b\n"),
        ("    x = 1\n", 1, "    if is_mutant(1):\n        pass\n    else:\n        x = 1\n"),
        ("    if a:\n        pass\n", 2, "    if ((is_mutant(2) and (False)) or (not is_mutant(2) and (a))):\n        pass\n"),
        ("    cdef int x = y + 1\n", 1, "    cdef int x = ((y - 1) if is_mutant(1) else (y + 1))\n"),
    ],
)
def test_a_build_chooses_from_these(runner: ModuleType, tmp_path: Path, text: str, number: int, expected: str) -> None:
    head = "cdef f():\n"
    chosen = [each for each in made(runner, tmp_path, head + text) if each.number == number]
    assert runner.switched(head + text, chosen) == head + expected


def test_mutants_of_one_condition_share_it(runner: ModuleType, tmp_path: Path) -> None:
    text = "cdef f():\n    if a:\n        pass\n"
    first = "((is_mutant(1) and (True)) or (not is_mutant(1) and (a)))"
    expected = f"cdef f():\n    if ((is_mutant(2) and (False)) or (not is_mutant(2) and ({first}))):\n        pass\n"
    assert runner.switched(text, made(runner, tmp_path, text)) == expected


def test_subjects_name_files_and_tests_that_exist(runner: ModuleType) -> None:
    subjects, _ = runner.all_subjects()
    names = [name for each in subjects for name in (*each.files, *each.tests) if name.endswith((".py", ".pyx", ".pxd", ".pxi"))]
    assert [name for name in names if not (ROOT / name).is_file()] == []


def test_mutants_without_effect_are_generated_ones(runner: ModuleType) -> None:
    subjects, equal = runner.all_subjects()
    names = {mutant.name for each in subjects for mutant in runner.mutants_of(ROOT, each.files)}
    assert sorted(set(equal) - names) == []


RUNS = """
import json, pathlib, sys
sys.path.insert(0, {tools!r})
import mutants
folder = pathlib.Path({folder!r})
mutants.BUILD, mutants.TEMPORARY, mutants.CPU_SECONDS = folder, folder / "temporary", 1
made = [mutants.Mutant(number, "file", 0, 1, "a", name, "statement", 1) for number, name in ((1, "killed"), (2, "lives"), (3, "loops"))]
given = mutants.Subject("some", ["file.pyx"], [str(folder / "test_some.py")])
for chosen in (made, made[:1]):
    print(json.dumps([(name[-6:], *outcome[:2]) for name, outcome in mutants.run_native(given, chosen, 2)]))
"""
SOME = """
import os
number = os.environ.get
def test_first(): open({log!r}, "a").write(number("KWIRE_MUTANT", "0") + " first\\n")
def test_last():
    open({log!r}, "a").write(number("KWIRE_MUTANT", "0") + " last\\n")
    assert number("KWIRE_MUTANT") != "1"
    while number("KWIRE_MUTANT") == "3": pass
"""


def test_each_mutant_runs_in_a_copy_of_the_process_that_found_the_tests(tmp_path: Path) -> None:
    """One that loops is killed. The second time the test that killed a mutant comes first."""
    log = tmp_path / "log"
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")  # names of tests begin here
    (tmp_path / "test_some.py").write_text(SOME.format(log=str(log)), "utf-8")
    code = RUNS.format(tools=str(ROOT / "tools"), folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    first, second = ({name: (passed, failed) for name, passed, failed in json.loads(line)} for line in done.stdout.splitlines())
    assert first.pop(" loops")[0] is False
    assert first == {"": (True, ""), "killed": (False, "test_some.py::test_last"), " lives": (True, "")}
    assert second == {"": (True, ""), "killed": (False, "test_some.py::test_last")}
    assert [line.split()[1] for line in log.read_text("utf-8").splitlines() if line[0] == "1"] == ["first", "last", "last"]
