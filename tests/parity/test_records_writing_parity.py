"""Batches to be written, twin against twin, and what was written read again: whatever a caller gives, the same bytes or the same error."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.codec.records import RecordBatch, record_reader, record_writer
from kwire.errors import EncodeError

CONTENT = st.none() | st.binary(max_size=40) | st.binary(min_size=60, max_size=300)
NAMES = st.text(max_size=8)
HEADERS = st.lists(st.tuples(NAMES, st.none() | st.binary(max_size=10)), max_size=3)
TIMES = st.integers(-1, 2**63 - 1) | st.integers(1_700_000_000_000, 1_700_000_100_000)
GAPS = st.just(0) | st.integers(0, 5) | st.integers(0, 2**20)
CODECS = st.sampled_from(["none", "none", "gzip", "snappy", "lz4", "zstd"])


@st.composite
def batches(draw: Any) -> tuple[list[tuple[Any, ...]], dict[str, Any]]:
    """Rows of offset, timestamp, key, value, headers, and the fields of a batch of them, all of which can be written."""
    magic = draw(st.sampled_from([2, 2, 2, 0, 1]))
    compression = draw(CODECS.filter(lambda name: magic == 2 or name != "zstd"))
    base = draw(st.integers(0, 1000) | st.integers(0, 2**62))
    rows, offset = [], base
    for _ in range(draw(st.integers(1 if compression != "none" and magic < 2 else 0, 8))):
        offset += draw(GAPS)
        rows.append((offset, -1 if magic == 0 else draw(TIMES), draw(CONTENT), draw(CONTENT), draw(HEADERS) if magic == 2 else []))
        offset += 1
    fields: dict[str, Any] = {"magic": magic, "compression": compression}
    if magic == 2:
        fields["partition_leader_epoch"] = draw(st.integers(-(2**31), 2**31 - 1))
        if draw(st.booleans()):
            fields |= {
                "producer_id": draw(st.integers(0, 2**63 - 1)),
                "producer_epoch": draw(st.integers(0, 2**15 - 1)),
                "base_sequence": draw(st.integers(0, 2**31 - 1)),
                "is_transactional": draw(st.booleans()),
            }
        if draw(st.booleans()):
            fields["base_offset"] = max(0, base - draw(st.integers(0, 10)))
        if draw(st.booleans()):
            fields["delete_horizon_ms"] = draw(st.integers(0, 2**62))
    return rows, fields


@settings(max_examples=min(80, settings.default.max_examples), deadline=None)
@given(batches())
def test_what_is_written_is_read(twin, made):
    rows, fields = made
    writer, reader = record_writer(twin), record_reader(twin)
    batch = RecordBatch([writer.Record(offset, time, -1, key, value, headers) for offset, time, key, value, headers in rows], **fields)
    data = writer.encode(batch)
    read = reader.decode(data)
    assert [(r.offset, r.timestamp, r.key, r.value, list(r.headers)) for each in read for r in each.records] == rows
    for each in read if fields["magic"] == 2 else ():
        assert (each.base_offset, each.last_offset, each.max_timestamp) == (batch.base_offset, batch.last_offset, batch.max_timestamp)
        assert (each.attributes, each.base_timestamp, each.last_sequence) == (batch.attributes, batch.base_timestamp, batch.last_sequence)
    assert writer.encode(read) == data
    if twin != "pure" and fields["compression"] == "none":
        assert record_writer("pure").encode(batch) == data


ODD = st.sampled_from([None, True, 1.0, "1", b"1", -2, -1, 0, 2**31, 2**63, [], ("a", b"b")])
ODD_HEADERS = st.sampled_from(
    [None, 5, [], [("a", None)], [["a", b"b"]], [("\ud800", b"")], [("a",)], {"a": b"b"}, [("a", 5)], ((b"a", b"b"),)]
)


@st.composite
def odd_batches(draw: Any) -> tuple[list[Any], dict[str, Any]]:
    """Anything that can be put into rows and fields."""
    sizes = st.integers(0, 6)
    cell = CONTENT | ODD
    rows = [
        tuple((draw(cell), draw(cell), draw(TIMES | ODD), draw(HEADERS | ODD_HEADERS), draw(ODD), draw(ODD))[: draw(sizes)])
        if draw(st.integers(0, 9))
        else draw(ODD)
        for _ in range(draw(st.integers(0, 3)))
    ]
    names = (
        "magic", "compression", "timestamp_type", "base_offset", "last_offset", "partition_leader_epoch", "base_timestamp", "max_timestamp",
        "producer_id", "producer_epoch", "base_sequence", "is_transactional", "is_control", "delete_horizon_ms",
    )  # fmt: skip
    values = ODD | st.integers(-3, 3) | st.sampled_from(["gzip", "CreateTime", "LogAppendTime"])
    return rows, {name: draw(values) for name in draw(st.lists(st.sampled_from(names), max_size=3))}


def outcome(twin: Any, rows: list[Any], fields: dict[str, Any]) -> Any:
    try:
        return record_writer(twin).encode(RecordBatch(rows, **fields))
    except EncodeError as error:
        return error.reason, error.path


@settings(max_examples=min(200, settings.default.max_examples), deadline=None)
@given(odd_batches())
def test_anything(made):
    rows, fields = made
    assert outcome("native", rows, fields) == outcome("pure", rows, fields)
