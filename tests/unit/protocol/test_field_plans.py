"""What the native reader of captures is told to read: the same fields as Python's rules, with the numbers that its C structs have."""

from __future__ import annotations

import re
from pathlib import Path

from kwire.protocol.row_columns import BODY_COLUMNS, MOST_BODY_COLUMNS
from kwire.protocol.tracking.field_plans import Mark, Trait, field_plan_of
from kwire.protocol.tracking.first_fields import request_fields, response_fields
from kwire.schema import catalog
from kwire.tables import row_callbacks

PYX = Path(__file__).parents[3] / "pyx"


def numbers_in(header: str) -> dict[str, int]:
    """Every enumerator of a .pxd that has a plain number or a shifted one."""
    found = re.findall(r"^    ([A-Z][A-Z_]*) = (\d+)(?: << (\d+))?\b", (PYX / header).read_text("utf-8"), re.MULTILINE)
    return {name: int(number) << int(shift or 0) for name, number, shift in found}


def words_of(header: str, enum: str, prefix: str = "") -> tuple[str, ...]:
    """The enumerators of an enum in small letters, in the order of their numbers."""
    body = re.search(rf"^cdef enum {enum}:\n((?:    .*\n)+)", (PYX / header).read_text("utf-8"), re.MULTILINE)
    assert body is not None
    found = re.findall(r"^    ([A-Z_]+) = (\d+)", body[1], re.MULTILINE)
    assert [int(number) for _, number in found] == list(range(len(found)))
    return tuple(name.removeprefix(prefix).lower() for name, _ in found)


def test_marks_and_traits_have_the_numbers_of_the_headers() -> None:
    marks, traits = numbers_in("protocol/field_plan.pxd"), numbers_in("protocol/field_plans.pxd")
    assert {each.name: each.value for each in Mark} == {each.name: marks[each.name] for each in Mark}
    assert {each.name: each.value for each in Trait} == {each.name: traits[each.name] for each in Trait}


def test_rows_have_room_for_the_columns_that_bodies_feed() -> None:
    assert numbers_in("protocol/request_rows.pxd")["MOST_COLUMNS"] == MOST_BODY_COLUMNS >= len(BODY_COLUMNS)


def test_words_stand_at_the_places_of_the_headers() -> None:
    assert words_of("protocol/request_rows.pxd", "RowState") == row_callbacks.ROW_STATES
    assert words_of("protocol/request_rows.pxd", "RowBody", "BODY_") == row_callbacks.ROW_BODIES
    assert words_of("tables/series_rows.pxd", "ConnectionState", "STATE_") == row_callbacks.STATES
    assert words_of("protocol/exchange_state.pxd", "SoftwareSource", "FROM_") == row_callbacks.SOURCES
    assert words_of("protocol/exchange_state.pxd", "PeerRole") == row_callbacks.ROLES


def test_every_released_version_has_a_field_plan_but_where_tokens_follow_without_a_header() -> None:
    without = []
    for key in catalog().api_keys:
        for kind, message in (("request", catalog().request(key)), ("response", catalog().response(key))):
            assert message is not None
            without += [(kind, message.name, version) for version in message.valid_versions if field_plan_of(kind, key, version) is None]
    assert without == [("request", "SaslHandshakeRequest", 0), ("response", "SaslHandshakeResponse", 0)]


def columns_marked(marks: list[tuple[tuple[str, ...], int]]) -> dict[str, tuple[str, ...]]:
    """By name of the column the path that feeds it."""
    return {BODY_COLUMNS[mark // Mark.COLUMN - 1].name: path for path, mark in marks if mark >= Mark.COLUMN}


def test_what_is_marked_is_what_the_rules_read() -> None:
    for key in catalog().api_keys:
        message = catalog().request(key)
        assert message is not None
        for version in message.valid_versions:
            request, response = field_plan_of("request", key, version), field_plan_of("response", key, version)
            if request is None or response is None:
                continue
            asked, answered = request_fields(key, version), response_fields(key, version)
            marked = {mark: path for path, mark in request.marks}
            assert columns_marked(request.marks) == asked.columns
            assert columns_marked(response.marks) == answered.columns
            assert marked.get(Mark.TOPIC_NAMES if asked.topic_name == "" else Mark.TOPICS) == asked.topics
            codes = tuple(path for path, mark in response.marks if Mark.ERROR_CODE <= mark < Mark.USED_TOPICS)
            assert sorted(codes) == sorted(answered.error_codes)


def test_what_produce_and_fetch_ask_for() -> None:
    produce, fetch = field_plan_of("request", 0, 9), field_plan_of("response", 1, 13)
    assert produce is not None
    assert fetch is not None
    assert produce.header_version == 2
    assert produce.traits == Trait.PRODUCE | Trait.USES_TOPICS
    assert (("topic_data", "partition_data", "records"), Mark.RECORDS) in produce.marks
    assert (("topic_data", "partition_data", "index"), Mark.USED_NUMBER) in produce.marks
    assert fetch.header_version == 1
    assert (("responses", "topic_id"), Mark.USED_ID) in fetch.marks
    assert (("responses", "partitions", "error_code"), Mark.USED_ERROR) in fetch.marks


def test_what_a_heartbeat_and_a_metadata_response_ask_for() -> None:
    heartbeat, metadata = field_plan_of("request", 12, 4), field_plan_of("response", 3, 12)
    assert heartbeat is not None
    assert metadata is not None
    assert heartbeat.traits == Trait.WATCHED_ON_ERROR | Trait.KEEPS_REQUEST
    assert metadata.traits & Trait.LEARNS
    assert {path for path, mark in metadata.marks if mark == Mark.KEY_PART} == {
        ("brokers",), ("cluster_id",), ("topics", "name"), ("topics", "topic_id"),
    }  # fmt: skip


def test_apis_of_the_cluster_tell_the_role() -> None:
    vote, shutdown = field_plan_of("request", 52, 0), field_plan_of("request", 7, 1)
    assert vote is not None
    assert shutdown is not None
    assert vote.traits & Trait.CONTROLLER_API
    assert shutdown.traits & Trait.BROKER_API
