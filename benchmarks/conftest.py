"""How a work is measured: first each contender by itself, then all of them round by round in turns; see README.md."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from java_decoder import JavaDecoder  # found beside this file, which the line above allows
from results_table import Results, read_floors

ALONE_SECONDS = 0.1
IN_TURNS_SECONDS = 0.25  # for each contender
LEAST_ROUNDS, MOST_ROUNDS = 3, 400
# A shorter round, right after a contender that takes a hundred times as long, would time how caches fill; it is run once untimed first.
SHORT_ROUND_SECONDS = 0.005

RESULTS = Results()
# work -> contender -> the work, messages and bytes of a round; those of one file
ROUNDS: dict[str, dict[str, tuple[Callable[[], Any], int, int]]] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.benchmark(disable_gc=True, min_rounds=3, max_time=ALONE_SECONDS, warmup=True, warmup_iterations=2))


@pytest.fixture
def race(benchmark: Any) -> Callable[..., None]:
    """`race(work, contender, run, messages, size=0, rounds=0)` times `run`, which handles that many messages of `size` bytes together.

    Works that take long, or need what ends with the test, say how many `rounds` they have; these do not take turns.
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
            if not rounds:
                ROUNDS.setdefault(work, {})[contender] = run, messages, size

    return enter


@pytest.fixture
def record() -> Callable[..., None]:
    """`record(work, contender, seconds, messages, size)` takes a time that the contender measured itself: a part of what it did."""

    def take(work: str, contender: str, seconds: float, messages: float, size: int) -> None:
        RESULTS.add(work, contender, seconds, seconds, messages, size)

    return take


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, list[bytes], int], Callable[[], int]]]:
    """`java(work, messages, repeats)` starts Kafka's Java classes on these messages and gives what runs a round; see java_decoder.py."""
    started: list[JavaDecoder] = []

    def start(work: str, messages: list[bytes], repeats: int) -> Callable[[], int]:
        started.append(JavaDecoder(work, messages, tmp_path_factory.mktemp("java"), repeats))
        return started[-1].run

    yield start
    for decoder in started:
        decoder.close()


@pytest.fixture(scope="module", autouse=True)
def rounds_in_turns(java: Any) -> Iterator[None]:
    """When a file is through, and while its Java processes still run: one round of each contender, then one of each again.

    So a noisy minute hits all of a work alike.
    """
    yield
    for work, contenders in ROUNDS.items():
        took: dict[str, list[float]] = {contender: [] for contender in contenders}
        short = {each for each, (_, messages, _) in contenders.items() if RESULTS.figures[work][each].best * messages < SHORT_ROUND_SECONDS}
        gc.collect()
        gc.disable()
        for done in range(MOST_ROUNDS):
            for contender, (run, _, _) in contenders.items():
                if done < LEAST_ROUNDS or sum(took[contender]) < IN_TURNS_SECONDS:  # slow ones stop early and leave the field to the others
                    if contender in short:
                        run()
                    start = time.perf_counter()
                    run()
                    took[contender].append(time.perf_counter() - start)
        gc.enable()
        for contender, (_, messages, _) in contenders.items():
            RESULTS.add_rounds(work, contender, [seconds / messages for seconds in took[contender]])
    ROUNDS.clear()


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: Any) -> None:
    floors = read_floors()
    if RESULTS.figures:
        terminalreporter.section("time for one message, and how many times the native one it is")
        for line in RESULTS.lines(floors):
            terminalreporter.write_line(line)


def pytest_sessionfinish(session: pytest.Session) -> None:
    below = RESULTS.below(read_floors())
    if below and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
