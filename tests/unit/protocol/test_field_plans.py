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
