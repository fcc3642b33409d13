"""How a work is measured: a round is one pass over all inputs, the figure is the best round of all turns; see README.md."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from results_table import Results, read_floors  # found beside this file, which the line above allows

TURNS = 3
TURN_SECONDS = 0.12

RESULTS = Results()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "race" in metafunc.fixturenames:
        metafunc.fixturenames.append("turn")
        metafunc.parametrize("turn", range(TURNS), ids=[f"turn{turn}" for turn in range(TURNS)])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.benchmark(disable_gc=True, min_rounds=3, max_time=TURN_SECONDS, warmup=True, warmup_iterations=2))
    # All contenders of a test have their first turn, then all their second: a noisy minute hits one turn of each, not all of one.
    tests = list(dict.fromkeys(item.nodeid.split("[", 1)[0] for item in items))
    items.sort(key=lambda item: (tests.index(item.nodeid.split("[", 1)[0]), _turn_of(item)))


def _turn_of(item: pytest.Item) -> int:
    called = getattr(item, "callspec", None)
    return called.params.get("turn", 0) if called else 0


@pytest.fixture
def race(benchmark: Any) -> Callable[..., None]:
    """`race(work, contender, run, messages, size=0, rounds=0)` times `run`, which handles that many messages of `size` bytes together.

    Works that take long say how many `rounds` a turn has, and have one more to warm up in the first turn.
    """

    def enter(work: str, contender: str, run: Callable[[], Any], messages: int, size: int = 0, rounds: int = 0) -> None:
        benchmark.group = work
        benchmark.extra_info.update(work=work, contender=contender, messages=messages, size=size)
        if rounds:
            benchmark.pedantic(run, rounds=rounds, warmup_rounds=0 if contender in RESULTS.figures.get(work, ()) else 1)
        else:
            benchmark(run)
        if benchmark.stats is not None:  # None under --benchmark-disable
            figures = benchmark.stats.stats
            RESULTS.add(work, contender, figures.min, figures.median, messages, size)

    return enter


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: Any) -> None:
    floors = read_floors()
    if RESULTS.figures:
        terminalreporter.section("the best round for one message, and how many times the native twin's it is")
        for line in RESULTS.lines(floors):
            terminalreporter.write_line(line)


def pytest_sessionfinish(session: pytest.Session) -> None:
    below = RESULTS.below(read_floors())
    if below and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
