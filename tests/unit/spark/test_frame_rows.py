"""Batches with frames to rows, and pushed metrics to arrays of points."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from kwire.errors import BadLength, InputError, NullNotAllowed, Truncated, UnsupportedVersion
from kwire.spark.body_types import body_type, ddl
from kwire.spark.frame_rows import FrameRows
from kwire.spark.frame_sums import frames_to_rows
from kwire.spark.metric_arrays import MetricArrays
from kwire.spark.reading_options import ReadingOptions
from sample_frames import FRAMES, frame, json_of, one, written
from twin_codecs import vectors_of

FAILFAST, DROP = ReadingOptions("FAILFAST"), ReadingOptions("DROPMALFORMED")


REQUESTS = [each for each in FRAMES if each["kind"] == "request"]


def mapped(rows: FrameRows, frames: list[bytes | None], **kept: list[Any]) -> list[dict[str, Any]]:
    batch = pa.RecordBatch.from_pydict({"frame": pa.array(frames, pa.binary()), **kept})
    made = list(rows(iter([batch])))
    for each in made:
        assert each.schema.names == [*kept, *rows.schema.names]
        assert pa.schema(list(each.schema)[len(kept) :]) == rows.schema
    return [row for each in made for row in each.to_pylist()]


HEADERS = body_type(None, None, None)
HEARTBEAT = body_type("HeartbeatRequest", 0, "group_id,member_id")
LEADERS = body_type("MetadataResponse", 12, "topics.name,topics.partitions.leader_id")


def test_headers_of_every_request():
    rows = FrameRows("frame", ("id",), HEADERS, FAILFAST)
    found = mapped(rows, [None, *map(frame, REQUESTS)], id=list(range(len(REQUESTS) + 1)))
    assert found[0] == {"id": 0, "api_key": None, "api_version": None, "correlation_id": None, "client_id": None, "error": None}
    for row, (number, case) in zip(found[1:], enumerate(REQUESTS, 1), strict=True):
        header = case["header"]
        assert (row["id"], row["api_key"], row["api_version"], row["error"]) == (number, case["api_key"], case["version"], None)
        assert (row["correlation_id"], row["client_id"]) == (header["correlation_id"], header.get("client_id"))


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_frames_in_any_binary_column(kind):
    whole = frame(one("HeartbeatRequest", 0))
    column = pa.array([b"left out", None, whole, None, b"\x00", whole, b"left out"], pa.binary()).cast(kind).slice(1, 5)
    batch = pa.RecordBatch.from_arrays([column], names=["frame"])
    for body in (HEADERS, HEARTBEAT):
        [made] = FrameRows("frame", (), body, ReadingOptions(corrupt_record="bad"))(iter([batch]))
        assert made.column("error").to_pylist() == [None, None, None, "TRUNCATED", None]
        assert made.column("bad").to_pylist() == [None, None, None, b"\x00", None]
        first = made.column(0).is_valid().to_pylist()
        assert first == [False, True, False, False, True]
    with pytest.raises(Truncated) as caught:
        list(FrameRows("frame", (), HEADERS, FAILFAST)(iter([batch])))
    assert "row 3 of the batch" in caught.value.__notes__[-1]


def test_a_response_is_a_row_for_each_element():
    case = one("MetadataResponse", 12)
    told = [
        (topic["name"], partition["leaderId"])
        for topic in json_of(case)["topics"]
        for partition in topic["partitions"] or [{"leaderId": None}]
    ]
    assert len(told) > 1
    found = mapped(FrameRows("frame", ("id",), LEADERS, FAILFAST), [frame(case), None, frame(case)], id=["a", "b", "c"])
    assert [(row["id"], row["topics.name"], row["topics.partitions.leader_id"]) for row in found] == [
        *(("a", *each) for each in told), ("b", None, None), *(("c", *each) for each in told),
    ]  # fmt: skip
    bodies = [frame(case)[case["header_size"] :]]
    assert mapped(FrameRows("frame", (), LEADERS, FAILFAST, header=False), bodies) == [
        {"topics.name": name, "topics.partitions.leader_id": leader, "error": None, "error_offset": None, "error_path": None}
        for name, leader in told
    ]


def test_requests_of_other_messages_are_left_out():
    frames = [frame(one("HeartbeatRequest", version)) for version in (0, 4, 0)] + [frame(one("MetadataRequest", 0)), None]
    found = mapped(FrameRows("frame", ("id",), HEARTBEAT, FAILFAST), frames, id=[0, 1, 2, 3, 4])
    told = json_of(one("HeartbeatRequest", 0))
    held = [(row["id"], row["group_id"], row["member_id"]) for row in found]
    assert held == [(0, told["groupId"], told["memberId"]), (2, told["groupId"], told["memberId"]), (4, None, None)]


def test_requests_of_other_messages_in_a_column_of_views():
    frames = pa.array([frame(one("HeartbeatRequest", version)) for version in (0, 4, 0)], pa.binary_view())
    [found] = FrameRows("frame", (), HEARTBEAT, FAILFAST)(iter([pa.RecordBatch.from_arrays([frames], names=["frame"])]))
    assert found.column("group_id").to_pylist() == [json_of(one("HeartbeatRequest", 0))["groupId"]] * 2


def test_modes_are_as_in_sparks_readers():
    case = one("HeartbeatRequest", 0)
    whole, size = frame(case), case["header_size"]
    negative = whole[:size] + b"\xff\xfe" + whole[size + 2 :]
    frames = [whole, whole[:-1], negative, b"\x00", whole]
    found = mapped(FrameRows("frame", ("id",), HEARTBEAT, ReadingOptions(corrupt_record="bad")), frames, id=[0, 1, 2, 3, 4])
    assert [(row["id"], row["error"], row["bad"]) for row in found] == [
        (0, None, None), (1, "TRUNCATED", frames[1]), (2, "NULL_NOT_ALLOWED", negative), (3, "TRUNCATED", b"\x00"), (4, None, None),
    ]  # fmt: skip
    assert (found[2]["error_offset"], found[2]["error_path"]) == (size, "group_id")
    assert [row["id"] for row in mapped(FrameRows("frame", ("id",), HEARTBEAT, DROP), frames, id=[0, 1, 2, 3, 4])] == [0, 4]
    for bad, error in ((frames[1], Truncated), (negative, NullNotAllowed), (b"\x00", Truncated)):
        with pytest.raises(error):
            mapped(FrameRows("frame", (), HEARTBEAT, FAILFAST), [whole, bad])
    with pytest.raises(Truncated) as caught:
        mapped(FrameRows("frame", (), HEADERS, FAILFAST), [whole, b"\x00"])
    assert "row 1 of the batch" in caught.value.__notes__[-1]
    assert len(mapped(FrameRows("frame", (), HEADERS, DROP), [whole, b"\x00", None])) == 2


def test_responses_cut_in_their_headers():
    found = mapped(FrameRows("frame", (), LEADERS, ReadingOptions()), [b"\x00\x00", frame(one("MetadataResponse", 12))[:-1]])
    assert [(row["error"], row["error_offset"] is None) for row in found] == [("TRUNCATED", False)] * 2


@pytest.mark.parametrize("kind", ["request", "response"])
def test_all_versions_in_one_table_hold_what_kafkas_json_says(kind):
    # Two apis got other names: frames with their keys are read under the newest one.
    old = ("ListClientMetricsResources", "AlterIsr")
    cases = [case for case in FRAMES if case["kind"] == kind and not case["message"].startswith(old)]
    columns = {"of": [case["api_key"] for case in cases], "in": [case["version"] for case in cases]}
    batch = pa.RecordBatch.from_pydict({"frame": pa.array(map(frame, cases)), **columns})
    given = {"api_key": "of", "api_version": "in"} if kind == "response" else {}
    for name in {case["message"] for case in cases}:
        held = [case for case in cases if case["message"] == name]
        [made] = FrameRows("frame", ("of", "in"), body_type(name, None, None), FAILFAST, **given)(iter([batch]))
        assert made.select(["of", "api_version"]).to_pylist() == [{"of": case["api_key"], "api_version": case["version"]} for case in held]
        assert [written(row, case) for row, case in zip(made.to_pylist(), held, strict=True)] == [json_of(case) for case in held], name


def test_elements_of_all_versions():
    cases = [one("MetadataResponse", version) for version in (13, 0, 9, 0, 12)]
    body = body_type("MetadataResponse", None, "topics.name,topics.topic_id,topics.partitions.offline_replicas")
    assert body.rows_schema.names == ["api_version", "topics.name", "topics.topic_id", "topics.partitions.offline_replicas"]
    columns = {"id": list(range(5)), "version": [case["version"] for case in cases]}
    found = mapped(FrameRows("frame", ("id", "version"), body, FAILFAST, api_version="version"), [*map(frame, cases)], **columns)
    partitions = [
        (number, case["version"], topic["name"], topic.get("topicId"), each.get("offlineReplicas"))
        for number, case in enumerate(cases)
        for topic in json_of(case)["topics"]
        for each in topic["partitions"] or [{}]
    ]
    assert {None} < {topic_id for *_, topic_id, _ in partitions}
    assert [(row["id"], row["api_version"], *(row[name] for name in body.rows_schema.names[1:])) for row in found] == partitions


# Heartbeat responses: correlation id 9; version 0 has an error code, version 1 a throttle time before it, version 4 tags.
HEARTBEATS = {0: "00000009 001b", 1: "00000009 00000005 001b", 4: "00000009 00 00000005 001b 00"}


def test_responses_beside_those_of_other_apis_and_versions():
    v0, v1, v4 = (bytes.fromhex(HEARTBEATS[version]) for version in (0, 1, 4))
    table = [
        (v4, 12, 4), (v0, 3, 0), (v0, 12, 0), (None, 12, 1), (None, 3, 1), (v1, 12, 99), (v1, None, 1), (v1, 12, None), (v1[:-1], 12, 1),
        (b"", 12, 4), (b"", 3, 4),
    ]  # fmt: skip
    frames, keys, versions = map(list, zip(*table, strict=True))
    kept = {"id": [*range(len(table))], "key": keys, "version": versions}
    given = {"api_key": "key", "api_version": "version"}
    rows = FrameRows("frame", (*kept,), body_type("HeartbeatResponse", None, None), ReadingOptions(corrupt_record="bad"), **given)
    found = mapped(rows, frames, **kept)
    names = ("id", "api_version", "throttle_time_ms", "error_code", "error", "error_offset", "bad")
    assert [tuple(row[name] for name in names) for row in found] == [
        (0, 4, 5, 27, None, None, None), (2, 0, None, 27, None, None, None), (3, 1, None, None, None, None, None),
        (5, 99, None, None, "UNSUPPORTED_VERSION", 0, v1), (6, 1, None, None, None, None, None), (7, None, None, None, None, None, None),
        (8, 1, None, None, "TRUNCATED", 8, v1[:-1]), (9, 4, None, None, "TRUNCATED", 0, b""),
    ]  # fmt: skip
    only = FrameRows("frame", (*kept,), body_type("HeartbeatResponse", 1, None), ReadingOptions(), **given)
    assert [row["id"] for row in mapped(only, frames, **kept)] == [3, 6, 7, 8]
    with pytest.raises(Truncated) as caught:
        mapped(FrameRows("frame", (), body_type("HeartbeatResponse", 1, None), FAILFAST, **given), frames, **kept)
    assert caught.value.index == 8
    sums = frames_to_rows("frame", (), body_type("HeartbeatResponse", None, None), DROP, True, ("api_version",), "count", **given)
    counted = [row for each in sums(iter([pa.RecordBatch.from_pydict({"frame": frames, **kept})])) for row in each.to_pylist()]
    assert {row["api_version"]: row["count"] for row in counted} == {4: 1, 0: 1, 1: 2, None: 1}


def test_refused_api_versions_among_responses_of_all_versions():
    refusal = bytes.fromhex("00000009 0023 00000001 0012 0000 0004")  # error 35; api 18 in versions 0 to 4
    rows = FrameRows("frame", ("version",), body_type("ApiVersionsResponse", None, "error_code"), FAILFAST, api_version="version")
    found = mapped(rows, [refusal, refusal], version=[3, 0])
    assert [(row["api_version"], row["error_code"]) for row in found] == [(0, 35)] * 2


def test_requests_in_unknown_versions_are_named():
    unknown = bytes.fromhex("000c 0063 00000007 0001 61 00")  # Heartbeat v99, client id "a", no tags
    rows = FrameRows("frame", (), body_type("HeartbeatRequest", None, "group_id"), ReadingOptions())
    [whole, found] = mapped(rows, [frame(one("HeartbeatRequest", 0)), unknown])
    assert (whole["api_version"], whole["error"]) == (0, None)
    assert found == {"api_version": 99, "group_id": None, "error": "UNSUPPORTED_VERSION", "error_offset": 2, "error_path": "api_version"}


def test_bodies_of_all_versions():
    # OffsetCommitValue: offset, leader epoch from version 3 on, metadata, commit time, expiry in version 1 alone
    bodies = [bytes.fromhex("0000000000000007 0000 0000000000000001"), bytes.fromhex("0000000000000008 00000002 0000 0000000000000003")]
    rows = FrameRows("frame", ("version",), body_type("OffsetCommitValue", None, None), FAILFAST, False, api_version="version")
    found = mapped(rows, [*bodies, None], version=[2, 3, 3])
    assert [(row["api_version"], row["offset"], row["leader_epoch"], row["expire_timestamp"]) for row in found] == [
        (2, 7, None, None), (3, 8, 2, None), (3, None, None, None),
    ]  # fmt: skip


def test_all_versions_need_to_be_known():
    # Kafka's definition has key in versions 0 to 3, key_type from 1 on, and coordinator_keys from 4 on.
    assert ddl("FindCoordinatorRequest") == "`key` STRING, `key_type` TINYINT, `coordinator_keys` ARRAY<STRING>"
    assert ddl("FindCoordinatorRequest", fields="coordinator_keys,key") == "`key` STRING, `coordinator_keys` ARRAY<STRING>"
    with pytest.raises(InputError, match="HeartbeatResponse needs a version, or api_version"):
        FrameRows("frame", (), body_type("HeartbeatResponse", None, None), FAILFAST)
    with pytest.raises(InputError, match="remove api_key and api_version"):
        FrameRows("frame", (), HEARTBEAT, FAILFAST, api_key="key")


def test_pushed_metrics_are_points():
    cases = vectors_of("telemetry-sample")
    payloads = pa.array([bytes.fromhex(each["metrics_hex"]) for each in cases])
    found = MetricArrays(FAILFAST)(payloads, pa.array([each["compression_id"] for each in cases])).to_pylist()
    assert sum(len(each["metrics"]) for each in cases) > 50
    for row, case in zip(found, cases, strict=True):
        assert len(row) == len(case["metrics"])
        for held, told in zip(row, case["metrics"], strict=True):
            assert (held["metric"], held["type"], held["error"]) == (told["name"], told["type"], None)
            assert (held["time_unix_nano"], held["start_time_unix_nano"]) == (told["time_unix_nano"], told["start_time_unix_nano"])
            assert (dict(held["attributes"]), dict(held["resource"])) == (told["attributes"], told["resource"])
            if not isinstance(told["value"], str):  # infinities and NaN are texts there
                assert held["value"] == float(told["value"])


def test_bad_payloads_say_why():
    payloads, compressions = pa.array([b"\xff\xff", b"x", None, b"", b""]), pa.array([0, 9, 0, None, 4])
    found = MetricArrays()(payloads, compressions).to_pylist()
    assert found[2:] == [None, None, []]
    assert [len(row) for row in found[:2]] == [1, 1]
    assert "unknown compression type 9" in found[1][0]["error"]
    assert found[0][0]["error"] is not None
    assert found[0][0]["metric"] is None
    with pytest.raises(UnsupportedVersion) as caught:
        MetricArrays(FAILFAST)(payloads.slice(1), compressions.slice(1))
    assert "row 0 of the batch" in caught.value.__notes__[-1]


@pytest.mark.parametrize(
    ("case", "body", "header"),
    [
        (one("HeartbeatRequest", 0), HEADERS, True), (one("HeartbeatRequest", 0), HEARTBEAT, True),
        (one("MetadataResponse", 12), LEADERS, True), (one("MetadataResponse", 12), LEADERS, False),
    ],
    ids=["header", "request", "response", "body"],
)  # fmt: skip
def test_frames_behind_their_lengths(case, body, header):
    """The rows are those of the frames alone; a length that does not match is an error of that frame, at its beginning."""
    whole = frame(case)[0 if header else case["header_size"] :]
    length = len(whole).to_bytes(4, "big")
    alone = mapped(FrameRows("frame", ("id",), body, FAILFAST, header), [whole, None], id=[0, 3])
    given = [length + whole, length + whole[:-1], length[:3], None]
    kept = ReadingOptions(corrupt_record="bad")
    found = mapped(FrameRows("frame", ("id",), body, kept, header, framed=True), given, id=[0, 1, 2, 3])
    assert [{name: row[name] for name in alone[0]} for row in found if row["id"] in (0, 3)] == alone
    wrong = [row for row in found if row["id"] in (1, 2)]
    assert [(row["error"], row["bad"]) for row in wrong] == [("BAD_LENGTH", given[1]), ("BAD_LENGTH", given[2])]
    assert {row.get("error_offset", 0) for row in wrong} == {0}
    rows = FrameRows("frame", ("id",), body, FAILFAST, header, framed=True)
    with pytest.raises(BadLength, match="does not match its size"):
        mapped(rows, given, id=[0, 1, 2, 3])
    assert mapped(FrameRows("frame", ("id",), body, DROP, header, framed=True), given, id=[0, 1, 2, 3]) == alone
    sums = frames_to_rows("frame", (), body, ReadingOptions(), header, ("error",), "count", framed=True)
    [counted] = sums(iter([pa.RecordBatch.from_pydict({"frame": given})]))
    assert "BAD_LENGTH" in counted.column("error").to_pylist()
