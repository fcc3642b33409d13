"""Record batches built from what Kafka read in its own, held against the bytes that it wrote."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.codec import from_json
from kwire.codec.records import RecordBatch, control_record, record_reader, record_writer
from kwire.codec.records.compression import unpack

FIELDS = (
    "magic", "compression", "timestamp_type", "base_offset", "partition_leader_epoch", "producer_id", "producer_epoch", "base_sequence",
    "is_transactional", "is_control", "delete_horizon_ms",
)  # fmt: skip


def content(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def built(batch: dict[str, Any], make: Any, times: list[int]) -> RecordBatch:
    """A batch of what Kafka read in one; only what records do not say themselves is given. `times`: what the producer gave them."""
    fields = {name: batch[name] for name in FIELDS}
    records = [
        make(
            offset=record["offset"],
            timestamp=time,
            key=content(record["key_hex"]),
            value=content(record["value_hex"]),
            headers=[(name, content(value)) for name, value in record["headers"]],
        )
        for record, time in zip(batch["records"], times, strict=True)
    ]
    if not records or batch["timestamp_type"] == "LogAppendTime":
        fields["max_timestamp"] = batch["max_timestamp"]
    if batch["magic"] == 2 and batch["last_offset"] != (records[-1].offset if records else batch["base_offset"]):
        fields["last_offset"] = batch["last_offset"]
    return RecordBatch(records, **fields)


def cases(vectors: Any) -> Any:
    """Case, its whole batches and, for each batch, the times of its records as the producer gave them.

    Readers see the log append time in all records of a batch that has it; the same batch with create time is among the cases.
    """
    read = [case for case in vectors("records-sample") if "batches" in case]
    created = {
        same_records(case): [[record["timestamp"] for record in each["records"]] for each in case["batches"]]
        for case in read
        if case["batches"] and case["batches"][0]["timestamp_type"] != "LogAppendTime"
    }
    for case in read:
        data = bytes.fromhex(case["hex"])
        data = data[: len(data) - case.get("tail_bytes", 0)]
        if case["magic"] == 2 and any(each["records"] and each["timestamp_type"] == "LogAppendTime" for each in case["batches"]):
            if same_records(case) in created:
                yield case, data, created[same_records(case)]
        else:
            yield case, data, [[record["timestamp"] for record in each["records"]] for each in case["batches"]]


def same_records(case: dict[str, Any]) -> Any:
    contents = [(record["offset"], record["key_hex"], record["value_hex"]) for each in case["batches"] for record in each["records"]]
    return case["case"], case["compression"], case["magic"], str(contents)


def test_batches_are_those_of_kafka(twin, vectors):
    """Byte for byte; of compressed ones the bytes before compression and the rest of the header, for a codec's output is its library's."""
    writer, reader = record_writer(twin), record_reader(twin)
    plain = packed = 0
    for case, data, times in cases(vectors):
        batches = [built(batch, writer.Record, each) for batch, each in zip(case["batches"], times, strict=True)]
        written = writer.encode(batches)
        if all(batch["compression"] == "none" for batch in case["batches"]):
            assert written == data, (case["id"], case["case"])
            plain += 1
            continue
        for theirs, ours in zip(reader.decode(data), reader.decode(written), strict=True):
            label = case["id"], case["case"]
            assert theirs.attributes == ours.attributes, label
            assert unpacked(theirs) == unpacked(ours), label
            for name in ("base_offset", "last_offset", "base_timestamp", "max_timestamp", "producer_id", "count", "last_sequence"):
                assert getattr(theirs, name) == getattr(ours, name), (label, name)
        packed += 1
    assert plain > 50
    assert packed > 100


def unpacked(batch: Any) -> bytes:
    payload = memoryview(batch.data)[batch.payload_start : batch.payload_end]
    codec = batch.attributes & 7
    return bytes(unpack(codec, batch.magic, payload, 1 << 24, 0, "") if codec else payload)


def test_control_records_are_those_of_kafka(vectors):
    seen = set()
    for case in vectors("records-sample"):
        for record in (record for batch in case.get("batches", ()) if batch["is_control"] for record in batch["records"]):
            kind, message = record["control_type"], None
            if "json" in record:
                name = {"KRAFT_VERSION": "KRaftVersionRecord", "KRAFT_VOTERS": "VotersRecord", "LEADER_CHANGE": "LeaderChangeMessage"}
                message = from_json(name.get(kind) or f"{kind.title().replace('_', '')}Record", record["json"], 0)
            made = control_record(kind, message=message, coordinator_epoch=record.get("coordinator_epoch"), offset=record["offset"])
            assert (made.key, made.value, made.offset) == (content(record["key_hex"]), content(record["value_hex"]), record["offset"])
            seen.add(kind)
    assert len(seen) == 7


def test_frames_of_lz4_and_snappy_begin_as_those_of_kafka(twin, vectors):
    """Mark, flags, block size and header checksum, in magic 0 the old one; mark and versions of xerial's stream."""
    writer, reader = record_writer(twin), record_reader(twin)
    seen = set()
    for case, data, times in cases(vectors):
        if case["compression"] in ("lz4", "snappy") and case["magic"] is not None:
            theirs = reader.decode(data)[0]
            ours = reader.decode(writer.encode(built(case["batches"][0], writer.Record, times[0])))[0]
            length = 7 if case["compression"] == "lz4" else 16
            starts = [bytes(each.data[each.payload_start : each.payload_start + length]) for each in (theirs, ours)]
            assert starts[0] == starts[1], (case["id"], case["case"])
            seen.add((case["magic"], case["compression"]))
    assert len(seen) == 6


def test_batches_that_were_read_are_written_as_they_were(twin, vectors):
    for case, data, _ in cases(vectors):
        batches = record_reader(twin).decode(bytes.fromhex(case["hex"]))
        assert record_writer(twin).encode(batches) == data
        for batch in batches:
            assert isinstance(batch.records, list)
        assert record_writer(twin).encode(batches) == data, (case["id"], case["case"])


@pytest.mark.parametrize("level", [1, 9])
def test_levels_change_no_record(twin, vectors, level):
    writer, reader = record_writer(twin), record_reader(twin)
    for case, data, times in cases(vectors):
        if case["case"] in ("150-records", "random-1") and case["compression"] in ("gzip", "lz4", "zstd"):
            batches = [built(batch, writer.Record, each) for batch, each in zip(case["batches"], times, strict=True)]
            again = reader.decode(writer.encode(batches, level=level))
            assert [batch.records for batch in again] == [batch.records for batch in reader.decode(data)]


def test_batches_that_were_read_are_built_again(twin, vectors):
    """`replace()` gives what was read as a batch to be written. With log append time the producer's own times are gone."""
    writer, reader = record_writer(twin), record_reader(twin)
    for case, data, _ in cases(vectors):
        batches = reader.decode(data)
        written = writer.encode([batch.replace() for batch in batches])
        if {(batch["compression"], batch["timestamp_type"]) for batch in case["batches"]} <= {
            ("none", "CreateTime"),
            ("none", "NoTimestampType"),
        }:
            assert written == data
        assert [batch.records for batch in reader.decode(written)] == [batch.records for batch in batches]
