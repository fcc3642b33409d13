"""The lists of mutants fit the sources, the page names those without effect, and the runner changes what a list says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from script_modules import module_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[3]
LISTS = sorted((ROOT / "tools" / "mutants").glob("*.toml"))


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    return module_of(ROOT / "tools" / "mutants.py")


def mutant(runner: ModuleType, before: str, after: str, at: str = "", number: int = 7) -> Any:
    return runner.Mutant(number, "m", "file", before, after, at, None)


def test_each_mutant_is_found_in_its_file(runner: ModuleType) -> None:
    lists = runner.all_lists()
    assert [each.name for each in lists] == [path.stem for path in LISTS]
    for each in (mutant for found in lists for mutant in found.mutants):
        start, end = each.span((ROOT / each.file).read_text("utf-8"))
        assert end > start
        assert each.before != each.after, each.name


def test_names_and_numbers_are_unique(runner: ModuleType) -> None:
    lists = runner.all_lists()
    for found in lists:
        names = [each.name for each in found.mutants]
        assert len(names) == len(set(names)), found.name
    numbers = [each.number for found in lists for each in found.mutants]
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_tests_of_a_list_are_there(runner: ModuleType) -> None:
    for found in runner.all_lists():
        assert [name for name in found.tests if name.endswith(".py") and not (ROOT / name).exists()] == []


def test_the_page_has_each_mutant_without_effect() -> None:
    page = (ROOT / "docs" / "internals" / "mutants.md").read_text("utf-8")
    named = [line for line in page.splitlines() if line.startswith("| `")]
    equal = [
        f"| `{path.stem}.{each['name']}` | {each['equal']} |"
        for path in LISTS
        for each in tomllib.loads(path.read_text("utf-8"))["mutant"]
        if "equal" in each
    ]
    assert named == equal


@pytest.mark.parametrize(
    ("text", "before", "after", "expected"),
    [
        ("x = a < b\n", "a < b", "a <= b", "x = ((a <= b) if is_mutant(7) else (a < b))\n"),
        ("if a:\n    pass\n", "if a:", "if False:", "if ((is_mutant(7) and (False)) or (not is_mutant(7) and (a))):\n    pass\n"),
        ("return a\n", "return a", "return b", "return ((b) if is_mutant(7) else (a))\n"),
        ("    a = 1\n", "    a = 1\n", "", "    if is_mutant(7):\n        pass\n    else:\n        a = 1\n"),
    ],
)
def test_what_a_build_chooses_from(runner: ModuleType, text: str, before: str, after: str, expected: str) -> None:
    assert runner.switched(text, [mutant(runner, before, after)]) == expected


def test_mutants_of_one_condition_share_it(runner: ModuleType) -> None:
    text = "if a < b:\n    pass\n"
    made = runner.switched(text, [mutant(runner, "if a < b:", "if a <= b:", number=1), mutant(runner, "if a < b:", "if False:", number=2)])
    first = "((is_mutant(1) and (a <= b)) or (not is_mutant(1) and (a < b)))"
    assert made == f"if ((is_mutant(2) and (False)) or (not is_mutant(2) and ({first}))):\n    pass\n"


def test_mutants_may_not_change_parts_of_each_other(runner: ModuleType) -> None:
    with pytest.raises(SystemExit, match="another mutant changes a part"):
        runner.switched("x = a or (b and c)\n", [mutant(runner, "a or (b and c)", "a"), mutant(runner, "b and c", "b")])


def test_each_list_of_cython_can_be_built(runner: ModuleType) -> None:
    by_file: dict[str, list[Any]] = {}
    for each in (mutant for found in runner.all_lists() if found.native for mutant in found.mutants):
        by_file.setdefault(each.file, []).append(each)
    for file, mutants in by_file.items():
        runner.switched((ROOT / file).read_text("utf-8"), mutants)


RUNS = """
import json, pathlib, sys
sys.path.insert(0, {tools!r})
import mutants
folder = pathlib.Path({folder!r})
mutants.BUILD, mutants.TEMPORARY, mutants.CPU_SECONDS = folder, folder / "temporary", 1
made = [mutants.Mutant(number, name, "file", "a", "b", "", None) for number, name in ((1, "killed"), (2, "lives"), (3, "loops"))]
given = mutants.MutantList("some", [str(folder / "test_some.py")], True, made)
for chosen in (made, made[:1]):
    print(json.dumps([(name, *outcome[:2]) for name, outcome in mutants.run_native(given, chosen, 2)]))
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
    assert first.pop("loops")[0] is False
    assert first == {"": (True, ""), "killed": (False, "test_some.py::test_last"), "lives": (True, "")}
    assert second == {"": (True, ""), "killed": (False, "test_some.py::test_last")}
    assert [line.split()[1] for line in log.read_text("utf-8").splitlines() if line[0] == "1"] == ["first", "last", "last"]


def test_a_text_that_is_there_twice_needs_its_surroundings(runner: ModuleType) -> None:
    text = "f: x = 1\ng: x = 1\n"
    assert mutant(runner, "x = 1", "x = 2", at="g:").span(text) == (12, 17)
    with pytest.raises(SystemExit, match="more than once"):
        mutant(runner, "x = 1", "x = 2").span(text)
    with pytest.raises(SystemExit, match="not in"):
        mutant(runner, "y", "x").span(text)
