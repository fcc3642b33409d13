"""Record batches of magic 2 built with their checksums, from the same rows in memory; against the builders of aiokafka and kafka-python.

A row is key, value, timestamp, headers. aiokafka's and kafka-python's builders take a call for each, kwire takes the list; `native records`
makes `Record` objects of the rows first, in the time that is measured. All write the same records. A message of the table is a record.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from aiokafka.record._crecords import DefaultRecordBatchBuilder

from kwire.codec.records import RecordBatch, record_writer

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python reads its schemas with a call that 3.11 deprecates
    from kafka.record.default_records import DefaultRecordBatchBuilder as KafkaPythonBuilder

Rows = list[tuple[bytes | None, bytes, int, list[tuple[str, bytes]]]]

RECORDS = 20_000  # of a run
UNLIMITED = 1 << 30
SHAPES = {  # records of a batch, bytes of a value, headers of a record
    "100 x 90 B": (100, 90, 0),
    "1000 x 1 KB": (1000, 1000, 0),
    "10000 x 60 B": (10000, 60, 0),
    "1000 x 90 B, 3 headers": (1000, 90, 3),
}


def rows_of(records: int, size: int, headers: int) -> Rows:
    """Every second record has a key."""
    return [
        (
            None if index % 2 else b"key-%06d" % index,
            (b"value %06d " % index * (size // 13 + 1))[:size],
            1700000000000 + 3 * index,
            [(f"header-{each}", b"abcde") for each in range(headers)],
        )
        for index in range(records)
    ]


def kwire_rows(twin: Any) -> Callable[[Rows], bytes]:
    encode = record_writer(twin).encode
    return lambda rows: encode(RecordBatch(rows))


def native_records(rows: Rows) -> bytes:
    writer = record_writer("native")
    record = writer.Record
    return writer.encode(RecordBatch([record(-1, timestamp, -1, key, value, headers) for key, value, timestamp, headers in rows]))


def aiokafka(rows: Rows) -> bytearray:
    builder = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, UNLIMITED)
    append = builder.append
    for offset, (key, value, timestamp, headers) in enumerate(rows):
        append(offset, timestamp, key, value, headers)
    return builder.build()


def kafka_python(rows: Rows) -> bytearray:
    builder = KafkaPythonBuilder(2, 0, 0, -1, -1, -1, UNLIMITED)
    append = builder.append
    for offset, (key, value, timestamp, headers) in enumerate(rows):
        append(offset, timestamp, key, value, headers)
    return builder.build()  # type: ignore[no-any-return]


WRITERS: dict[str, Callable[[Rows], Any]] = {
    "native": kwire_rows("native"),
    "native records": native_records,
    "pure": kwire_rows("pure"),
    "aiokafka": aiokafka,
    "kafka-python": kafka_python,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("who", WRITERS)
def test_records_writing(race, who, shape):
    count, size, headers = SHAPES[shape]
    write = WRITERS[who]
    batches = [rows_of(count, size, headers) for _ in range(max(1, (2000 if who in ("pure", "kafka-python") else RECORDS) // count))]
    expected = WRITERS["native"](batches[0])
    written = bytes(write(batches[0]))
    assert written[:12] + written[16:] == expected[:12] + expected[16:]  # kafka-python writes leader epoch 0, the others -1

    def run() -> None:
        for rows in batches:
            write(rows)

    race(f"writing records {shape}", who, run, count * len(batches), len(expected) * len(batches))
