"""When a commit is slower than its base: in every round, not in the noise of one."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from script_modules import module_of

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


def loaded(name: str) -> ModuleType:
    return module_of(BENCHMARKS / f"{name}.py")


@pytest.fixture(scope="module")
def compared() -> ModuleType:
    return loaded("base_and_head")


def test_slower_means_in_every_round(compared: ModuleType) -> None:
    base = {"header": 1e-6, "fetch": 4e-6, "gone": 1.0}
    noisy = {"header": 1.3e-6, "fetch": 6e-6, "new": 1.0}
    quiet = {"header": 1.1e-6, "fetch": 5e-6, "new": 1.0}
    ratios = compared.ratios_of([(base, noisy), (base, quiet)])
    assert {work: [round(each, 2) for each in found] for work, found in ratios.items()} == {"fetch": [1.5, 1.25], "header": [1.3, 1.1]}
    assert compared.slower_in(ratios) == ["fetch"]
    rows = [line for line in compared.table_of(ratios).splitlines() if line.startswith("| `")]
    assert rows == ["| `fetch` (slower in each round) | 1.38 | 1.50, 1.25 |", "| `header` | 1.20 | 1.30, 1.10 |"]


def test_only_our_own_times_count(compared: ModuleType, tmp_path: Path) -> None:
    facts = [("native", 0.5, 1000), ("kio", 0.1, 1000), ("java", 0.2, 1000)]
    lines = [{"extra_info": {"work": "header", "contender": who, "messages": many}, "stats": {"min": took}} for who, took, many in facts]
    (tmp_path / "run.json").write_text(json.dumps({"benchmarks": lines}))
    assert compared.times_of(tmp_path / "run.json") == {"header": 0.0005}


def test_the_page_over_commits(tmp_path: Path) -> None:
    over = loaded("over_commits")
    times, history, page = tmp_path / "head.json", tmp_path / "history.jsonl", tmp_path / "index.html"
    for commit, took in (("a" * 40, 2e-6), ("b" * 40, 4e-6), ("b" * 40, 9e-6)):
        times.write_text(json.dumps({"a <work>": took}))
        over.main(str(history), str(page), commit, str(times))
    assert [json.loads(line)["commit"][0] for line in history.read_text().splitlines()] == ["a", "b"]  # a commit counts once
    text = page.read_text("utf-8")
    assert "a &lt;work&gt;: 3 us" in text
    assert "<script" not in text
    assert "src=" not in text
