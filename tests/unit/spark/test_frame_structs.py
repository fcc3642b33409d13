"""Frames in Arrow arrays to structs, against the JSON that Kafka's own converters wrote."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from kwire.errors import BadLength, EncodeError, InputError, KwireError, NullNotAllowed, Truncated, UnsupportedVersion
from kwire.schema import catalog
from kwire.spark.body_types import JSON_BODY, NO_BODY, body_type, ddl
from kwire.spark.frame_structs import RequestStruct, ResponseStruct
from kwire.spark.reading_options import ReadingOptions, reading_options
from kwire.spark.request_frames import RequestFrames
from sample_frames import FRAMES, frame, json_of, one

FAILFAST = ReadingOptions("FAILFAST")


def cases_of(kind: str) -> list[tuple[dict[str, Any], Any]]:
    """Frames of Kafka's classes, and what its converters wrote of their bodies."""
    # Two apis got other names, ListClientMetricsResources (74) and AlterIsr (56): frames are read under the newest one.
    old = ("ListClientMetricsResources", "AlterIsr")
    chosen = [case for case in FRAMES if case["kind"] == kind and not case["message"].startswith(old)]
    assert len(chosen) > 300
    return [(case, json_of(case)) for case in chosen]


def test_requests_are_their_headers_and_kafkas_json():
    cases = cases_of("request")
    found = RequestStruct(options=FAILFAST)(pa.array([frame(case) for case, _ in cases], pa.large_binary()))
    for row, (case, value) in zip(found.to_pylist(), cases, strict=True):
        assert json.loads(row["body"]) == value, case["message"]
        header = case["header"]
        assert (row["api_key"], row["api_version"], row["message"]) == (case["api_key"], case["version"], case["message"])
        assert (row["correlation_id"], row["client_id"]) == (header["correlation_id"], header.get("client_id", ""))
        assert (row["error"], row["error_offset"], row["error_path"]) == (None, None, None)


def test_responses_are_their_headers_and_kafkas_json():
    cases = cases_of("response")
    keys = pa.array([case["api_key"] for case, _ in cases], pa.int32())
    versions = pa.array([case["version"] for case, _ in cases], pa.int32())
    found = ResponseStruct(options=FAILFAST)(pa.array([frame(case) for case, _ in cases]), keys, versions)
    for row, (case, value) in zip(found.to_pylist(), cases, strict=True):
        assert json.loads(row["body"]) == value, case["message"]
        assert (row["api_key"], row["api_version"], row["message"]) == (case["api_key"], case["version"], case["message"])
        assert (row["correlation_id"], row["error"]) == (case["header"]["correlation_id"], None)


@pytest.mark.parametrize(("kind", "step"), [("request", 11), ("response", 11)])
def test_typed_bodies_hold_what_kafkas_json_says(kind, step):
    for case, value in cases_of(kind)[::step]:
        body = body_type(case["message"], case["version"], None, kind) if value else None
        if body is None:
            continue
        frames = pa.array([frame(case)])
        if kind == "request":
            found = RequestStruct(body, FAILFAST)(frames)
        else:
            found = ResponseStruct(body, FAILFAST)(frames, pa.array([case["api_key"]]), pa.array([case["version"]]))
        definition = catalog()[case["message"]]
        for field in definition.fields:
            name = field.name[0].lower() + field.name[1:]
            if isinstance(value.get(name), (int, str)) and field.type in ("int8", "int16", "int32", "int64", "string", "uuid", "bool"):
                typed = next(iter(found.to_pylist()))["body"]
                assert value[name] in typed.values(), (case["message"], name)


def test_frames_behind_their_lengths():
    """A length that does not match the bytes is a fault of its row, and the rest of the row is not read."""
    cases = cases_of("request")
    framed = [bytes.fromhex(case["hex"]) for case, _ in cases]
    assert framed[0][:4] == len(framed[0][4:]).to_bytes(4, "big")
    found = RequestStruct(JSON_BODY, FAILFAST, framed=True)(pa.array(framed)).to_pylist()
    assert [json.loads(row["body"]) for row in found] == [value for _, value in cases]
    whole = framed[0]
    given = [b"other", whole, None, whole[:-1], whole + b"!", whole[4:], b"\0\0", b""]
    array = pa.array(given, pa.large_binary()).slice(1)
    kept = ReadingOptions(corrupt_record="bad")
    requests = RequestStruct(JSON_BODY, kept, framed=True)(array)
    responses = ResponseStruct(NO_BODY, kept, framed=True)(array, pa.array([3] * 7), pa.array([0] * 7))
    for rows in (requests, responses):
        rows.validate(full=True)
        rows = rows.to_pylist()
        assert [row and row["error"] for row in rows] == [None, None, *["BAD_LENGTH"] * 5]
        assert [row and row["bad"] for row in rows] == [None, None, *given[3:]]
        assert {(row["api_key"], row["correlation_id"], row["error_offset"]) for row in rows[2:]} == {(None, None, 0)}
    with pytest.raises(BadLength, match="does not match its size") as error:
        RequestStruct(NO_BODY, FAILFAST, framed=True)(array)
    assert "in row 2 of the batch" in error.value.__notes__[0]


def test_headers_without_bodies():
    """A body that cannot be read is not looked at; a header that cannot is a fault."""
    for kind, make in (("request", RequestStruct), ("response", ResponseStruct)):
        cases = [case for case, _ in cases_of(kind)]
        of_requests = () if kind == "request" else [pa.array([case[name] for case in cases]) for name in ("api_key", "version")]
        found = make(NO_BODY, FAILFAST)(pa.array([frame(case)[: case["header_size"]] for case in cases]), *of_requests)
        assert "body" not in found.type.names
        for row, case in zip(found.to_pylist(), cases, strict=True):
            told = (case["api_key"], case["version"], case["message"], case["header"]["correlation_id"], None)
            assert tuple(row[name] for name in ("api_key", "api_version", "message", "correlation_id", "error")) == told
        cut = make(NO_BODY)(pa.array([frame(cases[0])[:3]]), *(each[:1] for each in of_requests)).to_pylist()
        assert cut[0]["error"] == "TRUNCATED"


def test_a_message_without_fields_is_an_empty_struct():
    whole = frame(one("ApiVersionsRequest", 0))
    body = body_type("ApiVersionsRequest", 0, None, "request")
    found = RequestStruct(body)(pa.array([whole, None, whole + b"!", frame(one("HeartbeatRequest", 0))]))
    found.validate(full=True)
    rows = found.to_pylist()
    assert [row and (row["body"], row["error"]) for row in rows] == [({}, None), None, (None, "TRAILING_BYTES"), (None, None)]
    assert RequestFrames()(found).to_pylist() == [whole, None, None, None]
    with pytest.raises(InputError, match="no field of it: its struct would be empty"):
        ddl("ApiVersionsRequest", 0)


@pytest.mark.parametrize("typed", [False, True], ids=["json", "typed"])
def test_structs_become_the_frames_of_kafkas_classes_again(typed):
    cases = [case for case, _ in cases_of("request")]
    frames = [frame(case) for case in cases]
    if typed:
        bodies = [body_type(case["message"], case["version"], None, "request") for case in cases]
        made = [RequestFrames()(RequestStruct(body)(pa.array([each])))[0].as_py() for body, each in zip(bodies, frames, strict=True)]
    else:
        made = RequestFrames()(RequestStruct()(pa.array(frames))).to_pylist()
    assert made == frames


def test_bodies_of_all_versions_become_their_frames_again():
    """Fields that a version lacks are null, and are not written."""
    cases = [case for case, _ in cases_of("request")]
    names = sorted({case["message"] for case in cases})
    assert len(names) > 50
    for name in names:
        frames = [frame(case) for case in cases if case["message"] == name]
        assert RequestFrames()(RequestStruct(body_type(name, None, None, "request"), FAILFAST)(pa.array(frames))).to_pylist() == frames


def test_only_structs_of_requests_become_frames():
    def rows(**fields: Any) -> Any:
        return pa.array([None, {"api_key": 12, "api_version": 0, "body": None}, {"api_key": 12, "api_version": 0, **fields}])

    # group "g", generation 7, member "m"; the body of another message is null
    body = {"group_id": "g", "generation_id": 7, "member_id": "m", "group_instance_id": "not in version 0"}
    whole = bytes.fromhex("000c 0000 00000005 ffff 000167 00000007 00016d")
    assert RequestFrames()(rows(correlation_id=5, body=body)).to_pylist() == [None, None, whole]
    with pytest.raises(EncodeError, match="group_id") as found:
        RequestFrames()(rows(body={"group_id": None}))
    assert found.value.__notes__ == ["in row 2 of the batch"]
    with pytest.raises(InputError, match="no request with API key 12 and version 99"):
        RequestFrames()(pa.array([{"api_key": 12, "api_version": 99, "body": body}]))
    with pytest.raises(InputError, match="it lacks api_version, body"):
        RequestFrames()(pa.array([{"api_key": 12}]))


def test_fields_leave_the_rest_out_of_the_struct_and_explode_nothing():
    case = one("MetadataResponse", 12)
    body = body_type("MetadataResponse", 12, "controller_id, topics.name, topics.partitions.leader_id", "response")
    found = ResponseStruct(body, FAILFAST)(pa.array([frame(case)]), pa.array([3]), pa.array([12]))
    value = next(value for other, value in cases_of("response") if other is case)
    assert found.to_pylist()[0]["body"] == {
        "controller_id": value["controllerId"],
        "topics": [
            {"name": topic["name"], "partitions": [{"leader_id": each["leaderId"]} for each in topic["partitions"]]}
            for topic in value["topics"]
        ],
    }
    assert value["topics"][0]["partitions"]


def test_ddl_of_a_message():
    assert ddl("MetadataResponse", 12, "topics.name,topics.partitions.leader_id,controller_id") == (
        "`controller_id` INT, `topics` ARRAY<STRUCT<`name`: STRING, `partitions`: ARRAY<STRUCT<`leader_id`: INT>>>>"
    )
    assert ddl("HeartbeatRequest", 0) == "`group_id` STRING, `generation_id` INT, `member_id` STRING"
    # what the version lacks is left out, and nothing at all cannot be a struct
    assert ddl("HeartbeatRequest", 0, ["group_id", "group_instance_id"]) == "`group_id` STRING"
    with pytest.raises(InputError, match="has in version 0 no field of group_instance_id: its struct would be empty"):
        ddl("HeartbeatRequest", 0, ["group_instance_id"])
    with pytest.raises(UnsupportedVersion):
        ddl("HeartbeatRequest", 99)
    with pytest.raises(KwireError, match="no_such_field"):
        ddl("HeartbeatRequest", 0, ["no_such_field"])


def test_a_typed_body_is_null_for_other_messages_and_versions():
    frames = pa.array([frame(one("HeartbeatRequest", 0)), frame(one("HeartbeatRequest", 4)), frame(one("AddOffsetsToTxnRequest", 0)), None])
    body = body_type("HeartbeatRequest", 4, ["group_id"], "request")
    found = RequestStruct(body, FAILFAST)(frames).to_pylist()
    assert [None if row is None else row["body"] is None for row in found] == [True, False, True, None]
    assert [row["message"] for row in found[:3]] == ["HeartbeatRequest", "HeartbeatRequest", "AddOffsetsToTxnRequest"]


@pytest.mark.parametrize("body", [None, "HeartbeatRequest"], ids=["json", "typed"])
def test_a_bad_frame_keeps_its_header_and_says_what_is_wrong(body):
    case = one("HeartbeatRequest", 0)
    whole, size = frame(case), case["header_size"]
    bad = [whole[:-1], whole + b"!", whole[:5], b"", whole[:size] + b"\xff\xfe" + whole[size + 2 :], whole, None]
    body = body_type(body, 0, None, "request") if body else body_type(None, None, None)
    make = RequestStruct(body, ReadingOptions(corrupt_record="_corrupt_record"))
    found = make(pa.array([b"other", *bad]).slice(1)).to_pylist()
    assert [row and row["error"] for row in found] == [
        "TRUNCATED",
        "TRAILING_BYTES",
        "TRUNCATED",
        "TRUNCATED",
        "NULL_NOT_ALLOWED",
        None,
        None,
    ]
    assert [row and row["error_path"] for row in found][:2] == ["member_id", ""]
    assert found[1]["error_offset"] == len(whole)
    assert found[4]["error_offset"] == size
    assert [row and row["_corrupt_record"] for row in found] == [*bad[:5], None, None]
    assert [row and row["message"] for row in found] == [
        "HeartbeatRequest",
        "HeartbeatRequest",
        None,
        None,
        "HeartbeatRequest",
        "HeartbeatRequest",
        None,
    ]
    assert [row is not None and row["body"] is not None for row in found] == [False, False, False, False, False, True, False]


@pytest.mark.parametrize("body", [None, "HeartbeatRequest"], ids=["json", "typed"])
def test_failfast_raises_and_names_the_row(body):
    whole = frame(one("HeartbeatRequest", 0))
    make = RequestStruct(body_type(body, 0, None) if body else body_type(None, None, None), FAILFAST)
    with pytest.raises(Truncated) as caught:
        make(pa.array([whole, whole[:-1]]))
    assert "row 1 of the batch; the mode is FAILFAST" in caught.value.__notes__[-1]
    with pytest.raises(NullNotAllowed):
        make(pa.array([_negative_group(whole)]))


def _negative_group(whole: bytes) -> bytes:
    size = one("HeartbeatRequest", 0)["header_size"]
    return whole[:size] + b"\xff\xfe" + whole[size + 2 :]


def test_unknown_apis_and_versions_are_told():
    header = b"\x7f\x00\x00\x00\x00\x00\x00\x07\x00\x01a"
    version = b"\x00\x03\x00\x63\x00\x00\x00\x08\x00\x01b\x00"
    found = RequestStruct()(pa.array([header, version])).to_pylist()
    assert [(row["error"], row["correlation_id"], row["client_id"], row["message"]) for row in found] == [
        ("UNKNOWN_API", 7, "a", None), ("UNSUPPORTED_VERSION", 8, "b", "MetadataRequest"),
    ]  # fmt: skip


def test_the_answer_to_a_refused_version_is_read_in_version_0():
    answer = bytes.fromhex("00000009002300000001001200000004")  # error 35; api 18 in versions 0 to 4
    frames, keys, versions = pa.array([answer, answer]), pa.array([18, 18]), pa.array([99, 3])
    for row in ResponseStruct(options=FAILFAST)(frames, keys, versions).to_pylist():
        assert (row["api_version"], row["correlation_id"], row["error"]) == (0, 9, None)
        assert json.loads(row["body"]) == {"errorCode": 35, "apiKeys": [{"apiKey": 18, "minVersion": 0, "maxVersion": 4}]}
    typed = ResponseStruct(body_type("ApiVersionsResponse", 0, ["error_code"]), FAILFAST)
    assert [row["body"] for row in typed(frames, keys, versions).to_pylist()] == [{"error_code": 35}] * 2


def test_response_headers_with_tags_and_cut_ones():
    plain = bytes.fromhex("00000009 00 00000000 0000 00")  # Heartbeat v4: correlation id 9, no tags; throttle time, no error, no tags
    tagged = bytes.fromhex("0000000a 01 05 02 aabb 00000000 0000 00")  # a tag 5 of two bytes in the header
    frames = pa.array([b"left out", plain, tagged, plain[:4], plain[:3], b"", None, plain + b"!"]).slice(1)
    keys, versions = pa.array([12] * 7), pa.array([4] * 7)
    for body in (body_type(None, None, None), body_type("HeartbeatResponse", 4, ["error_code"])):
        found = ResponseStruct(body)(frames, keys, versions).to_pylist()
        assert [row and (row["correlation_id"], row["error"], row["error_offset"]) for row in found] == [
            (9, None, None), (10, None, None), (None, "TRUNCATED", 4), (None, "TRUNCATED", 0), (None, "TRUNCATED", 0), None,
            (9, "TRAILING_BYTES", len(plain)),
        ]  # fmt: skip
        assert [row is not None and row["body"] is not None for row in found] == [True, True, False, False, False, False, False]


def test_a_response_without_its_request_is_null():
    answer = frame(one("HeartbeatResponse", 0))
    found = ResponseStruct()(pa.array([answer, answer]), pa.array([12, None]), pa.array([None, 0]))
    assert found.to_pylist() == [None, None]


def test_empty_batches_have_the_type():
    for make in (
        RequestStruct(),
        RequestStruct(body_type("HeartbeatRequest", 4, None), ReadingOptions(corrupt_record="c")),
        ResponseStruct(),
        ResponseStruct(body_type("HeartbeatResponse", 4, None), FAILFAST),
    ):
        empty = [pa.array([], pa.binary()), *[pa.array([], pa.int16())] * (make.takes - 1)]
        assert make(*empty).type == make.type


def test_options_are_read_in_any_case_and_checked():
    assert reading_options({"MODE": "failfast", "columnnameofcorruptrecord": "c"}, "f") == ReadingOptions("FAILFAST", "c")
    assert reading_options({"mode": "dropMalformed"}, "f", drops=True).drops
    with pytest.raises(InputError, match="from_x has no mode DROPMALFORMED; its modes are PERMISSIVE, FAILFAST"):
        reading_options({"mode": "DROPMALFORMED"}, "from_x")
    with pytest.raises(InputError, match="from_x has no option 'modus'"):
        reading_options({"modus": "FAILFAST"}, "from_x")


def test_bodies_are_of_the_kind_that_is_asked_for():
    with pytest.raises(InputError, match="takes the name of a request, which HeartbeatResponse is not"):
        body_type("HeartbeatResponse", 0, None, "request", "from_kafka_request")
    for version, fields in ((0, None), (None, ["group_id"])):
        with pytest.raises(InputError, match="needs a message for version and fields"):
            body_type(None, version, fields)
