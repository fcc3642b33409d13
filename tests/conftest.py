"""Fixtures of all tests: the twins, and what Kafka's own Java classes wrote."""

from __future__ import annotations

import gc
import gzip
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from kwire.codec.classes import CompiledCatalog
from kwire.codec.decoding import FrameReader
from kwire.codec.encoding import FrameWriter
from kwire.codec.impl import MODULES, Twin, load_twin
from kwire.codec.records.reading import RecordReader, record_reader
from kwire.schema import catalog

TESTS = Path(__file__).parent
VECTORS = TESTS / "vectors" / "data"
sys.path.insert(0, str(TESTS))  # what several tests share lies in modules beside this one


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole", action="store_true", help="all cases where tests usually take a share of them; `make test` does")


def pytest_configure(config: pytest.Config) -> None:
    # how fast a busy or an emulated machine is says nothing about a strategy or what is tested
    slow = [HealthCheck.too_slow]
    settings.register_profile("share", max_examples=25, deadline=None, suppress_health_check=slow)
    settings.register_profile("whole", max_examples=400, deadline=None, suppress_health_check=slow)
    settings.load_profile("whole" if config.getoption("--whole") else "share")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--whole"):
        left_out = [item for item in items if item.get_closest_marker("whole")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("whole")]


def _keep() -> None:
    """What was made so far stays for the whole run: the collector need not look at it again, and tests that call it are quicker."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish() -> None:
    _keep()


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
    """Each twin that is installed."""
    name: Twin = request.param
    return name


class TwinCodec:
    """The codec as one twin runs it."""

    def __init__(self, twin: Twin) -> None:
        self.twin = twin
        self.compiled = CompiledCatalog(catalog(), twin)
        self.frames = FrameReader(self.compiled)
        self.writer = FrameWriter(self.compiled)

    def decode(self, name: str, data: Any, version: int, fields: tuple[str, ...] | None = None) -> Any:
        return self.compiled.decoder(name, version, fields).decode_whole(data)

    def encode(self, message: Any, version: int) -> bytes:
        return self.writer.encode(message, version)

    def message_class(self, name: str) -> Any:
        return self.compiled.classes(name)[0]


@cache
def _codec(twin: Twin) -> TwinCodec:
    made = TwinCodec(twin)
    _keep()
    return made


@pytest.fixture(scope="session")
def codec(twin: Twin) -> TwinCodec:
    """The codec as the twin of the test runs it."""
    return _codec(twin)


@pytest.fixture(scope="session")
def native_codec() -> TwinCodec:
    """The codec as the native twin runs it: what is compared with `reference_codec`. The pure twin against itself would prove nothing."""
    return _codec("native")


@pytest.fixture(scope="session")
def reference_codec() -> TwinCodec:
    """The codec as the pure twin runs it, to compare with."""
    return _codec("pure")


@pytest.fixture(scope="session")
def record_codec(twin: Twin) -> RecordReader:
    """The reader of record batches as the twin of the test runs it."""
    return record_reader(twin)


@cache
def _vectors(name: str) -> list[dict[str, Any]]:
    with gzip.open(VECTORS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        made = [json.loads(line) for line in lines]
    assert made, name
    _keep()
    return made


@pytest.fixture(scope="session")
def vectors() -> Callable[[str], list[dict[str, Any]]]:
    """The lines of a file of `vectors/data` by its name without suffixes."""
    return _vectors


@pytest.fixture(scope="session")
def analysis_tables() -> ModuleType:
    """`analysis_tables.py`: the tables of an analysis made by hand, and how to write them."""
    import analysis_tables

    return analysis_tables


@pytest.fixture
def analysed(tmp_path: Path, analysis_tables: ModuleType) -> Path:
    """A folder with the tables of `analysis_tables.FLEET`, for one test to write to."""
    folder: Path = analysis_tables.write_tables(tmp_path / "out", analysis_tables.tables_of(analysis_tables.FLEET))
    return folder


@pytest.fixture(scope="session")
def large_fleet() -> ModuleType:
    """`large_fleet.py`: the tables of thousands of clients."""
    import large_fleet

    return large_fleet
