"""Record batches as Kafka's own Java classes wrote and read them."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.codec import to_json
from kwire.codec.records import read_control
from kwire.errors import BadChecksum

BATCH_FIELDS = (
    "position", "size", "magic", "base_offset", "last_offset", "next_offset", "partition_leader_epoch", "attributes", "crc", "compression",
    "timestamp_type", "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "last_sequence", "count", "is_transactional",
    "is_control", "delete_horizon_ms",
)  # fmt: skip


def text(content: bytes | None) -> str | None:
    return None if content is None else content.hex()


def as_java_reads(batch: Any) -> dict[str, Any]:
    """A batch with the names and spellings of the vectors."""
    seen = {name: getattr(batch, name) for name in BATCH_FIELDS}
    if batch.magic == 2:
        seen |= {"last_offset_delta": batch.last_offset_delta, "base_timestamp": batch.base_timestamp}
    seen["records"] = records = []
    for record in batch.records:
        entry: dict[str, Any] = {
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key_hex": text(record.key),
            "value_hex": text(record.value),
            "headers": [[name, text(value)] for name, value in record.headers],
        }
        if batch.magic == 2:
            entry["sequence"] = record.sequence
        if batch.is_control:
            control = read_control(record)
            entry |= {"control_type": control.control_type, "control_type_id": control.control_type_id}
            if control.message is None:
                entry["coordinator_epoch"] = control.coordinator_epoch
            else:
                entry["json"] = to_json(control.message, 0)
        records.append(entry)
    return seen


def read_cases(vectors: Any) -> Any:
    return [(case, bytes.fromhex(case["hex"])) for case in vectors("records-sample") if "batches" in case]


def test_the_sample_has_every_kind_of_batch(vectors):
    held = {(case["magic"], case["compression"]) for case in vectors("records-sample")}
    assert held >= {(magic, codec) for magic in (0, 1, 2) for codec in ("none", "gzip", "snappy", "lz4")} | {(2, "zstd")}
    assert {case["case"] for case in vectors("records-sample")} >= {
        "bad-checksum", "commit", "delete-horizon", "mixed-magic", "partial-only", "partial-tail-v0", "sequence-wraps", "timestamp-deltas",
    }  # fmt: skip


def test_batches_and_records(record_codec, vectors):
    for case, data in read_cases(vectors):
        batches = record_codec.decode(data)
        assert [as_java_reads(batch) for batch in batches] == case["batches"], (case["id"], case["case"])
        assert batches.tail_bytes == case.get("tail_bytes", 0)
        assert batches.fault is None


def test_bad_checksums(record_codec, vectors):
    cases = [case for case in vectors("records-sample") if "batches" not in case]
    assert {case["magic"] for case in cases} == {0, 1, 2}
    for case in cases:
        with pytest.raises(BadChecksum) as caught:
            record_codec.decode(bytes.fromhex(case["hex"]))
        assert caught.value.path.endswith("].crc")
        assert f"{case['stored_crc']:08x}" == bytes.fromhex(case["hex"])[caught.value.offset : caught.value.offset + 4].hex()


def test_columns(record_codec, vectors):
    cases = read_cases(vectors)
    rows = record_codec.to_arrow([data for _, data in cases]).to_pylist()
    expected = []
    for buffer, (case, _) in enumerate(cases):
        for index, batch in enumerate(case["batches"]):
            expected += [
                {
                    "buffer": buffer,
                    "batch": index,
                    **{
                        name: batch[name]
                        for name in (
                            "magic", "base_offset", "partition_leader_epoch", "attributes", "is_transactional", "is_control",
                            "producer_id", "producer_epoch",
                        )
                    },
                    "sequence": record.get("sequence", -1),
                    "offset": record["offset"],
                    "timestamp": record["timestamp"],
                    "key": None if record["key_hex"] is None else bytes.fromhex(record["key_hex"]),
                    "value": None if record["value_hex"] is None else bytes.fromhex(record["value_hex"]),
                    "headers": [
                        {"key": name, "value": None if value is None else bytes.fromhex(value)} for name, value in record["headers"]
                    ],
                    "error": None,
                }
                for record in batch["records"]
            ]  # fmt: skip
    assert rows == expected
