"""How the benchmarks run and how they are shown: contenders of a case side by side, as ratios to the native twin.

A round is one pass over all inputs of a case. The figure is the best round, for the machines that run this are never quiet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

# case -> contender -> seconds for one message
RESULTS: dict[str, dict[str, float]] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.benchmark(disable_gc=True, min_rounds=20, max_time=0.3, warmup=True, warmup_iterations=3))


@pytest.fixture
def race(benchmark: Any) -> Callable[[str, str, Callable[[], Any], int], None]:
    """`race(case, contender, run, messages)` times `run`, which handles that many messages."""

    def enter(case: str, contender: str, run: Callable[[], Any], messages: int) -> None:
        benchmark.group = case
        benchmark.extra_info.update(case=case, contender=contender, messages=messages)
        benchmark(run)
        if benchmark.stats is not None:  # None under --benchmark-disable
            RESULTS.setdefault(case, {})[contender] = benchmark.stats.stats.min / messages

    return enter


def _duration(seconds: float) -> str:
    return f"{seconds * 1e9:.0f} ns" if seconds < 1e-5 else f"{seconds * 1e6:.1f} us"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if not RESULTS:
        return
    terminalreporter.section("time of a message, best round; x: how many times the native twin's")
    for case, times in RESULTS.items():
        base = times.get("native")
        shown = (
            f"{name} {_duration(each)}" + (f" x{each / base:.2f}" if base and name != "native" else "") for name, each in times.items()
        )
        terminalreporter.write_line(f"{case:42} {'  '.join(shown)}")
