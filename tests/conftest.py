"""Fixtures of all tests: the twins, and what Kafka's own Java classes wrote."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from kwire.codec.impl import MODULES, Twin, load_twin
from kwire.codec.records.reading import RecordReader, record_reader

TESTS = Path(__file__).parent
SLOW = TESTS / "slow_tests.txt"
SLOW_SECONDS = 0.1  # set-up and teardown from here on are reported too, for `--durations`
GROUPS = ("spark", "spark-processes", "kafka", "spark-versions", "build", "browser", "types")
sys.path.insert(0, str(TESTS))  # what several tests share lies in modules beside this one

from quick_spark import quick_spark  # noqa: E402
from twin_codecs import TwinCodec, codec_of, keep, vectors_of  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="without the tests of slow_tests.txt; `make unit` leaves them to `make test`")
    parser.addoption("--whole", action="store_true", help="all cases where tests usually take a share of them; `make test-all` does")


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell's `make test &` sets it, also for the commands that tests interrupt
        signal.signal(signal.SIGINT, signal.default_int_handler)
    quick_spark()
    # how fast a busy machine draws and runs an example says nothing about the code
    settings.register_profile("share", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("whole", max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("whole" if config.getoption("--whole") else "share")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow = frozenset(SLOW.read_text("utf-8").split()) if config.getoption("--quick") else frozenset()
    left_out = [item for item in items if (item.get_closest_marker("whole") and not config.getoption("--whole")) or _is_of(item, slow)]
    if left_out:
        gone = set(left_out)
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in gone]
    items.sort(key=_place)


def _is_of(item: pytest.Item, slow: Collection[str]) -> bool:
    return bool(slow) and f"{item.path.relative_to(TESTS).as_posix()}::{getattr(item, 'originalname', item.name)}" in slow


def _place(item: pytest.Item) -> int:
    """Groups that take minutes begin first, the longest before the others: one that began late would run alone at the end."""
    group = item.get_closest_marker("xdist_group")
    name = group.args[0] if group is not None else ""
    return GROUPS.index(name) if name in GROUPS else len(GROUPS)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """An xdist worker sends one report for a test that passed. Six messages for each cost a fifth of the short tests' time."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration > SLOW_SECONDS:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call() -> Iterator[None]:
    return (yield _spare_spark_the_handlers())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Iterator[None]:
    return (yield _spare_spark_the_handlers())


def _spare_spark_the_handlers() -> None:
    """Let errors of Spark go to the root logger; else pytest gives its handlers to Spark's loggers, which make them write JSON."""
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        if name in logging.root.manager.loggerDict:
            logging.getLogger(name).propagate = True


def pytest_collection_finish() -> None:
    keep()


@pytest.fixture(scope="session")
def share(request: pytest.FixtureRequest) -> Callable[[Iterable[Any], int], list[Any]]:
    """`share(cases, 7)`: every seventh case, spread over all of them, so that `make unit` stays short; all with ``--whole``."""
    whole = request.config.getoption("--whole")

    def taken(cases: Iterable[Any], step: int) -> list[Any]:
        found = list(cases)[:: 1 if whole else step]
        assert found, "a loop over no cases would prove nothing"
        return found

    return taken


def _twins() -> list[Twin]:
    """Both twins; the pure one alone where kwire was installed without compiled modules, unless KWIRE_REQUIRE_NATIVE=1 forbids that."""
    try:
        for name in MODULES:
            load_twin("codec", name, "native")
    except ImportError as error:
        if os.environ.get("KWIRE_REQUIRE_NATIVE") == "1":
            raise pytest.UsageError(f"KWIRE_REQUIRE_NATIVE=1, but the compiled modules cannot be loaded: {error}") from error
        return ["pure"]
    return ["pure", "native"]


@pytest.fixture(scope="module")
def capture_twin(twin: Twin) -> Iterator[Twin]:
    """What `kwire.capture.impl.series_carry` makes is of this twin."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kwire.capture.impl.backend", twin)
        yield twin


@pytest.fixture(scope="session", params=_twins())
def twin(request: pytest.FixtureRequest) -> Twin:
    name: Twin = request.param
    return name


@pytest.fixture(scope="session")
def codec(twin: Twin) -> TwinCodec:
    return codec_of(twin)


@pytest.fixture(scope="session")
def native_codec() -> TwinCodec:
    """The codec as the native twin runs it: what is compared with `reference_codec`. The pure twin against itself would prove nothing."""
    return codec_of("native")


@pytest.fixture(scope="session")
def reference_codec() -> TwinCodec:
    return codec_of("pure")


@pytest.fixture(scope="session")
def record_codec(twin: Twin) -> RecordReader:
    return record_reader(twin)


@pytest.fixture(scope="session")
def vectors() -> Callable[[str], list[dict[str, Any]]]:
    """The lines of a file of `vectors/data` by its name without suffixes."""
    return vectors_of


@pytest.fixture(scope="session")
def analysis_tables() -> ModuleType:
    """`analysis_tables.py`: the tables of an analysis made by hand, and how to write them."""
    import analysis_tables

    return analysis_tables


@pytest.fixture
def analyzed(tmp_path: Path, analysis_tables: ModuleType) -> Path:
    """A folder with the tables of `analysis_tables.FLEET`, for one test to write to."""
    folder: Path = analysis_tables.write_tables(tmp_path / "out", analysis_tables.tables_of(analysis_tables.FLEET))
    return folder


@pytest.fixture(scope="session")
def large_fleet() -> ModuleType:
    import large_fleet

    return large_fleet
