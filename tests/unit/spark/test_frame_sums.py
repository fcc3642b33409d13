"""Sums over frames that workers make, and which columns cross."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from kwire.errors import InputError, Truncated
from kwire.spark import frame_sums
from kwire.spark.body_types import body_type
from kwire.spark.frame_rows import FrameRows
from kwire.spark.frame_sums import FrameSums, aggregates_of, frames_to_rows
from kwire.spark.reading_options import ReadingOptions

# Metadata v12: api key, version, correlation id, client id, no tags; one without a client id, and one that is cut
OF_A = [bytes.fromhex(f"0003000c{number:08x}00016100") for number in range(3)]
NAMELESS = bytes.fromhex("0003000c00000009ffff00")
CUT = bytes.fromhex("0003")
HEADERS = body_type(None, None, None)
PLAIN = ReadingOptions()
LEADERS = body_type("MetadataResponse", 12, "topics.name")


def batches(*parts: list[bytes | None]) -> Any:
    return iter([pa.RecordBatch.from_pydict({"frame": pa.array(part, pa.binary())}) for part in parts])


def sums(aggregate: Any, *parts: list[bytes | None], **given: Any) -> list[dict[str, Any]]:
    rows = frames_to_rows("frame", (), HEADERS, PLAIN, True, given.get("columns"), aggregate)
    assert isinstance(rows, FrameSums)
    made = list(rows(batches(*parts)))
    for each in made:
        assert each.schema.names == rows.schema.names
        assert each.schema.types == rows.schema.types
    return [row for each in made for row in each.to_pylist()]


def test_a_row_a_group_over_all_batches():
    found = sums("count, sum(frame_length)", [OF_A[0], None, OF_A[1]], [], [OF_A[2], NAMELESS, CUT], columns=("client_id", "error"))
    assert found == [
        {"client_id": "a", "error": None, "count": 3, "sum(frame_length)": 36},
        {"client_id": None, "error": None, "count": 2, "sum(frame_length)": 11},  # the null among them
        {"client_id": None, "error": "TRUNCATED", "count": 1, "sum(frame_length)": 2},
    ]


def test_groups_are_the_columns_that_are_not_summed():
    assert sums(["min(api_version)", "max(correlation_id)"], OF_A) == [
        {"api_key": 3, "client_id": "a", "error": None, "min(api_version)": 12, "max(correlation_id)": 2}
    ]


def test_groups_that_hardly_repeat_are_given_on_the_way(monkeypatch):
    monkeypatch.setattr(frame_sums, "MOST_ROWS", 4)
    monkeypatch.setattr(frame_sums, "ROWS_AT_ONCE", 1)
    frames = [bytes.fromhex(f"0003000c{number:08x}00016100") for number in range(9)]
    parts = [[frame, frames[0]] for frame in frames]
    found = sums("count", *parts, columns=("correlation_id",))
    assert len(found) > 9
    assert sum(row["count"] for row in found) == 18
    assert sum(row["count"] for row in found if row["correlation_id"] == 0) == 10


def test_no_frames_no_rows():
    assert sums("count") == sums("count", []) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("avg(frame_length)", "not 'avg"),
        ("count(api_key)", "not 'count"),
        ("", "not ''"),
        ("count,count", "count twice"),
        ([], "is empty"),
        ("sum(client_id)", "sums integers"),
        ("sum(topic)", "Unknown column 'topic'"),
    ],
)
def test_what_is_no_sum(text, reason):
    with pytest.raises(InputError, match=reason.replace("(", r"\(")):
        frames_to_rows("frame", (), HEADERS, PLAIN, True, ("api_key",), text)


def test_sums_beside_what_they_leave_no_row_for():
    with pytest.raises(InputError, match="is a grouping column"):
        frames_to_rows("frame", (), HEADERS, PLAIN, True, ("api_key",), "max(api_key)")
    with pytest.raises(InputError, match="columnNameOfCorruptRecord"):
        frames_to_rows("frame", (), HEADERS, ReadingOptions(corrupt_record="bad"), True, None, "count")


def test_an_expression_has_the_name_that_spark_gives():
    assert [tuple(each) for each in aggregates_of(" count ,sum(frame_length)")] == [
        ("count", "count", ""), ("sum(frame_length)", "sum", "frame_length"),
    ]  # fmt: skip
    assert [each.merged for each in aggregates_of("count,min(api_key)")] == ["sum", "min"]


def test_columns_that_are_asked_for():
    rows = FrameRows("frame", (), HEADERS, PLAIN, True, ("body_offset", "header_version", "frame_length"))
    [made] = rows(batches([OF_A[0], None, CUT]))
    assert made.to_pylist() == [
        {"body_offset": 12, "header_version": 2, "frame_length": 12},
        {"body_offset": None, "header_version": None, "frame_length": None},
        {"body_offset": None, "header_version": None, "frame_length": 2},
    ]
    assert FrameRows("frame", (), LEADERS, PLAIN, False, ("error", "topics.name")).schema.names == ["error", "topics.name"]


def test_modes_see_errors_that_are_not_asked_for():
    [made] = FrameRows("frame", (), HEADERS, ReadingOptions("DROPMALFORMED"), True, ("api_key",))(batches([CUT, OF_A[0]]))
    assert made.to_pylist() == [{"api_key": 3}]
    with pytest.raises(Truncated, match="row 1"):
        list(FrameRows("frame", (), HEADERS, ReadingOptions("FAILFAST"), True, ("api_key",))(batches([OF_A[0], CUT])))


@pytest.mark.parametrize("columns", [("nothing",), ("api_key", "api_key"), ()])
def test_columns_that_are_not_there(columns):
    with pytest.raises(InputError):
        FrameRows("frame", (), HEADERS, PLAIN, True, columns)
