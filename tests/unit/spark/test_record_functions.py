"""Record batches and records of `__consumer_offsets` in Arrow arrays, against what Kafka's own classes wrote."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Any

import pyarrow as pa
import pytest

from kwire.errors import BadChecksum, Truncated, UnknownApi
from kwire.spark.offset_structs import OffsetStructs
from kwire.spark.reading_options import ReadingOptions
from kwire.spark.record_arrays import RecordArrays
from twin_codecs import vectors_of

FAILFAST = ReadingOptions("FAILFAST")
KEY = bytes.fromhex("000100016700017400000002")  # type 1, OffsetCommit: group g, topic t, partition 2


OFFSETS = [each for each in vectors_of("coordinator-sample") if each["topic"] == "__consumer_offsets"]


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def assert_holds(held: Any, told: Any, kind: Any, path: str) -> None:
    """What Kafka's JSON tells is held; what it leaves out, a field that the version lacks or a tag at its default, is null or a default."""
    if pa.types.is_struct(kind) and told is not None:
        assert {snake(name) for name in told} <= set(held), path
        for name, value in held.items():
            found = next((key for key in told if snake(key) == name), None)
            if found is None:
                values = value.values() if isinstance(value, dict) else (value,)
                assert all(each in (None, -1, 0, "", [], False, "AAAAAAAAAAAAAAAAAAAAAA") for each in values), f"{path}.{name}"
            else:
                assert_holds(value, told[found], kind.field(name).type, f"{path}.{name}")
    elif pa.types.is_list(kind) and told is not None:
        assert len(held) == len(told), path
        for index, (inner, value) in enumerate(zip(held, told, strict=True)):
            assert_holds(inner, value, kind.value_type, f"{path}[{index}]")
    elif pa.types.is_binary(kind) and told is not None:
        assert held == b64decode(told), path
    else:
        assert held == told, path


def test_values_are_typed_structs_of_what_kafkas_json_says():
    keys = {each["type_id"]: bytes.fromhex(each["hex"]) for each in OFFSETS if each["case"] == "record-key"}
    cases = [each for each in OFFSETS if each["case"] == "record-value" and each["type_id"] is not None]
    assert len(cases) > 100
    make = OffsetStructs(FAILFAST)
    found = make(pa.array([keys[each["type_id"]] for each in cases]), pa.array([bytes.fromhex(each["hex"]) for each in cases]))
    for row, case in zip(found.to_pylist(), cases, strict=True):
        name = snake(case["message"].removesuffix("Value").removeprefix("Legacy"))
        assert (row["value_version"], row["is_tombstone"], row["error"]) == (case["version"], False, None)
        assert_holds(row[name], case["json"], make.type.field(name).type, case["message"])
        filled = [field.name for field in make.type if pa.types.is_struct(field.type) and row[field.name] is not None]
        assert filled == [name]


def test_keys_are_columns_and_a_null_value_is_a_tombstone():
    cases = [each for each in OFFSETS if each["case"] == "record-key"]
    found = OffsetStructs(FAILFAST)(pa.array([bytes.fromhex(each["hex"]) for each in cases]), pa.nulls(len(cases), pa.binary()))
    for row, case in zip(found.to_pylist(), cases, strict=True):
        told = case["json"]
        assert (row["kind"], row["type"]) == (case["message"].removesuffix("Key"), case["type_id"])
        assert row["group"] == told.get("group", told.get("groupId"))
        named = (row["topic"], row["partition"], row["member_id"], row["regular_expression"])
        assert named == tuple(told.get(name) for name in ("topic", "partition", "memberId", "regularExpression"))
        assert (row["is_tombstone"], row["offset_commit"], row["error"]) == (True, None, None)


def test_bad_offsets_say_where_and_keep_their_bytes():
    value = bytes.fromhex("00030000000000000007000000010001ff0000000000000009")
    keys = [KEY, KEY, b"\x6b\x65", b"\x00", None, None]
    values = [value, value[:5], value, value, value, None]
    make = OffsetStructs(ReadingOptions(corrupt_record="_corrupt_record"))
    found = make(pa.array([b"", *keys]).slice(1), pa.array([b"", *values], pa.large_binary()).slice(1)).to_pylist()
    assert [row and (row["error"], row["error_in"], row["error_offset"], row["error_path"]) for row in found] == [
        ("BAD_UTF8", "value", 16, "metadata"), ("TRUNCATED", "value", 2, "offset"), ("UNKNOWN_API", "key", 0, "type"),
        ("TRUNCATED", "key", 0, "type"), ("UNKNOWN_API", "key", 0, "type"), None,
    ]  # fmt: skip
    assert [row and row["_corrupt_record"] for row in found] == [
        *({"key": k, "value": v} for k, v in zip(keys[:5], values[:5], strict=True)),
        None,
    ]
    assert (found[0]["group"], found[0]["topic"], found[0]["partition"]) == ("g", "t", 2)
    with pytest.raises(Truncated) as caught:
        OffsetStructs(FAILFAST)(pa.array([KEY, KEY]), pa.array([None, value[:5]]))
    assert "row 1 of the batch" in caught.value.__notes__[-1]
    with pytest.raises(UnknownApi):
        OffsetStructs(FAILFAST)(pa.array([b"\x6b\x65"]), pa.array([value]))


def test_record_batches_are_arrays_of_records():
    cases = [each for each in vectors_of("records-sample") if "batches" in each]
    assert len(cases) > 150
    found = RecordArrays(FAILFAST)(pa.array([None, *(bytes.fromhex(each["hex"]) for each in cases)])).to_pylist()
    assert found[0] is None
    for row, case in zip(found[1:], cases, strict=True):
        told = [(index, batch, record) for index, batch in enumerate(case["batches"]) for record in batch["records"]]
        assert len(row) == len(told), case["id"]
        for held, (index, batch, record) in zip(row, told, strict=True):
            assert (held["batch"], held["magic"], held["producer_id"]) == (index, batch["magic"], batch["producer_id"])
            assert (held["offset"], held["timestamp"], held["is_control"]) == (record["offset"], record["timestamp"], batch["is_control"])
            hexed = [None if data is None else data.hex() for data in (held["key"], held["value"])]
            assert hexed == [record["key_hex"], record["value_hex"]]
            assert [each["key"] for each in held["headers"]] == [key for key, _ in record["headers"]]
            assert held["error"] is None


def test_a_bad_batch_is_one_element_that_says_why():
    cases = [each for each in vectors_of("records-sample") if each["case"] == "bad-checksum"]
    frames = [bytes.fromhex(each["hex"]) for each in cases]
    good = bytes.fromhex(next(each["hex"] for each in vectors_of("records-sample") if (each["case"], each["magic"]) == ("single", 2)))
    for row in RecordArrays()(pa.array([good + frame for frame in frames])).to_pylist():
        assert [each["batch"] for each in row] == list(range(len(row)))
        assert [each["error"] for each in row[:-1]] == [None] * (len(row) - 1)
        assert "checksum does not match" in row[-1]["error"]
        assert f" in batches[{len(row) - 1}].crc" in row[-1]["error"]
        assert (row[-1]["offset"], row[-1]["value"]) == (None, None)
    with pytest.raises(BadChecksum, match=r"buffers\[1\]"):
        RecordArrays(FAILFAST)(pa.array([good, frames[0]]))


@pytest.mark.parametrize("make", [RecordArrays(), OffsetStructs(), OffsetStructs(ReadingOptions(corrupt_record="c"))])
def test_empty_batches_have_the_type(make):
    empty = [pa.array([], pa.binary())] * make.takes
    assert make(*empty).type == make.type
