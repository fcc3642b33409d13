"""Record batches of all formats: a byte that says whether checksums count (lowest bit), then the bytes of a `records` field."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from kwire.codec.records import record_reader
from parity.test_records_parity import outcome
from twin_codecs import vectors_of


def seeds() -> Iterator[bytes]:
    for case in vectors_of("records-sample"):
        if len(case["hex"]) <= 3000:
            yield b"\0" + bytes.fromhex(case["hex"])
    yield b"\1" + bytes.fromhex(vectors_of("records-sample")[0]["hex"])


@cache
def reader(twin: Any) -> Any:
    return record_reader(twin)


def compare(data: bytes) -> None:
    check_crc = data[:1] == b"\1"
    assert outcome(reader("native"), data[1:], check_crc) == outcome(reader("pure"), data[1:], check_crc)
