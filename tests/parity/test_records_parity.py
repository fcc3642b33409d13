"""Record batches, twin against twin: valid, cut at every byte and mutated bytes give the same batches, rows or faults.

Most inputs are read without a look at the checksums, which would stop nearly every one of them at its header.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from damaged_bytes import mutated, told
from kwire.codec.records import record_reader
from kwire.errors import WireError

LIMIT = 1 << 20
OF_BATCHES = ("buffer", "batch", "magic", "base_offset", "producer_id", "is_control", "error")
BATCH = (
    "position", "size", "index", "magic", "crc", "attributes", "stored_offset", "stored_count", "count", "last_offset", "next_offset",
    "last_offset_delta", "partition_leader_epoch", "base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence",
    "last_sequence", "compression", "timestamp_type", "is_transactional", "is_control", "delete_horizon_ms", "payload_start", "payload_end",
)  # fmt: skip


def fault(error: WireError | None) -> Any:
    return error and told(error)


def objects(reader: Any, data: bytes, strict: bool, check_crc: bool) -> Any:
    try:
        batches = reader.decode(data, strict=strict, check_crc=check_crc, max_decompressed=LIMIT)
    except WireError as error:
        return fault(error)
    seen: list[Any] = [batches.tail_bytes, fault(batches.fault)]
    for batch in batches:
        try:
            records = repr((batch.records, batch.base_offset))
        except WireError as error:
            records = fault(error)
        seen.append((records, fault(batch.fault), [getattr(batch, name) for name in BATCH]))
    return seen


def columns(reader: Any, buffers: list[Any], check_crc: bool, errors: str, **options: Any) -> Any:
    try:
        batch = reader.to_arrow(buffers, check_crc=check_crc, errors=errors, **{"max_decompressed": LIMIT, **options})
    except WireError as error:
        return fault(error)
    batch.validate(full=True)
    return batch.schema, batch.to_pylist()


def outcome(reader: Any, data: bytes, check_crc: bool) -> Any:
    return [
        objects(reader, data, True, check_crc),
        objects(reader, data, False, check_crc),
        columns(reader, [data, None, memoryview(data)], check_crc, "raise"),
        columns(reader, [data, data], check_crc, "column"),
        columns(reader, [data, data], check_crc, "column", fields=("offset", "timestamp", "value", "error")),
        columns(reader, [data, data], check_crc, "column", fields=OF_BATCHES, max_decompressed=1 << 12, max_unpacked=3 << 11),
    ]


@pytest.fixture(scope="module")
def compare():
    native, reference = record_reader("native"), record_reader("pure")

    def check(data: bytes, check_crc: bool) -> None:
        assert outcome(native, data, check_crc) == outcome(reference, data, check_crc), (data.hex(), check_crc)

    return check


def test_valid(compare, vectors):
    for case in vectors("records-sample"):
        compare(bytes.fromhex(case["hex"]), True)


def test_cut_at_every_byte(compare, vectors, share):
    for case in vectors("records-sample"):
        data = bytes.fromhex(case["hex"])
        if len(data) <= 150 and case["case"] in ("headers", "nulls-and-empty", "single", "sequence-wraps", "mixed-magic"):
            for end in share(range(len(data)), 5):
                compare(data[:end], False)


def test_cut_with_the_length_that_is_left(compare, vectors, share):
    """The batch is whole by its length, its records are not."""
    for case in vectors("records-sample"):
        data = bytes.fromhex(case["hex"])
        if case["case"] in ("headers", "nulls-and-empty") and len(data) <= 1500:
            for end in share(range(61 if case["magic"] == 2 else 18, len(data), 3), 5):
                compare(data[:8] + (end - 12).to_bytes(4, "big") + data[12:end], False)


def test_mutated(compare, vectors, share):
    chance = random.Random(2025)
    for case in vectors("records-sample"):
        data = bytes.fromhex(case["hex"])
        if not data or len(data) > 1500:
            continue
        for _ in share(range(3), 2):
            changed = mutated(data, chance)
            if len(changed) != len(data):
                changed = changed[:8] + (len(changed) - 12).to_bytes(4, "big", signed=True) + changed[12:]
            compare(changed, chance.random() < 0.1)
