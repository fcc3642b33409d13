"""`spark.read.format("kwire")` from a capture to rows of `requests` in the JVM, against its parts: reading the capture without Spark, and
handing the same batches over to Spark. All of it is time of the processor, of Spark and its workers together, so that a noisy machine and
what runs side by side do not count; Spark and its workers are warm.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from captures import repeat_capture
from kwire.spark.session import open_session
from kwire.tables import from_capture
from processor_time import Used
from test_capture_rows import ROWS_OF_COPY

COPIES = 300
TURNS, WARM_UPS = 5, 2
WORK = "data source, a capture to requests"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    # its workers import what lies beside this file
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(Path(__file__).parent), before)))
    try:
        with open_session("local[1]", "kwire benchmarks") as session:
            yield session
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def through_spark(frame: Any) -> float:
    """Bring all rows into the JVM, and drop them there."""
    with Used() as used:
        frame.write.format("noop").mode("overwrite").save()
    return used.seconds


@pytest.mark.skipif(sys.platform != "linux", reason="the time that processes have used is read from /proc")
def test_data_source(record, spark, tmp_path):
    from arrow_file_source import ArrowFileSource

    capture, batches = tmp_path / "repeated.pcap", tmp_path / "requests.arrow"
    size = repeat_capture(capture, COPIES)
    rows = ROWS_OF_COPY * COPIES
    table = from_capture(str(capture))
    with pa.ipc.new_stream(batches, table.schema) as out:
        out.write_table(table)
    kwire = spark.read.format("kwire").load(str(capture))
    spark.dataSource.register(ArrowFileSource)
    handed = spark.read.format("arrow_file").schema(kwire.schema).load(str(batches))
    assert kwire.count() == handed.count() == table.num_rows == rows

    def reading() -> float:
        began = time.process_time()
        from_capture(str(capture))
        return time.process_time() - began

    works: dict[str, Callable[[], float]] = {"source": lambda: through_spark(kwire), "batches": lambda: through_spark(handed)}
    for _ in range(WARM_UPS):
        for work in works.values():
            work()
    for _ in range(TURNS):
        parts = reading(), works["batches"]()
        record(WORK, "native", works["source"](), rows, size)
        record(WORK, "from_capture", parts[0], rows, size)
        record(WORK, "handing batches over", parts[1], rows, size)
        record(WORK, "both parts", sum(parts), rows, size)
