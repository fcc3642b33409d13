"""The tables of columns hold together: what they name is there, what is not declared twice, and what native code fills in is in them."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from kwire.protocol.events import ConnectionSummary, RequestCompleted
from kwire.protocol.row_columns import BODY_COLUMNS, REQUEST_COLUMNS, Body, columns_from
from kwire.protocol.tracking.first_fields import request_fields, response_fields
from kwire.schema import catalog
from kwire.tables.columns import DECLARED, SUMMARY_COLUMNS
from kwire.tables.observed_rows import GROUP_STEPS, TOPIC_USE
from kwire.tables.request_logs.exchange_kinds import LOGGED_COLUMNS
from kwire.tables.schemas import CONNECTIONS, REQUESTS
from kwire.tables.shared_columns import SHARED

PYX = Path(__file__).parents[3] / "pyx"
SCHEMAS = {"requests": REQUESTS, "connections": CONNECTIONS, "topic_use": TOPIC_USE, "group_steps": GROUP_STEPS}


def test_schemas_have_the_declared_columns_in_their_order() -> None:
    assert {table: [each.name for each in columns] for table, columns in DECLARED.items()} == {
        table: schema.names for table, schema in SCHEMAS.items()
    }


def test_every_column_says_what_it_holds() -> None:
    unsaid = [(table, each.name) for table, columns in DECLARED.items() for each in columns if not each.description]
    assert unsaid == []


def test_units_are_in_the_descriptions() -> None:
    units = {"_us": "microseconds", "_ms": "milliseconds", "_bytes": "bytes"}
    for columns in DECLARED.values():
        for each in columns:
            assert all(unit in each.description for ending, unit in units.items() if each.name.endswith(ending)), each.name


def test_a_column_has_the_same_redaction_class_in_each_declaration() -> None:
    classes: dict[str, set[str]] = {}
    for columns in DECLARED.values():
        for each in columns:
            classes.setdefault(each.name, set()).add(each.redaction)
    for name, shared in SHARED.items():
        classes.setdefault(name, set()).add(shared.redaction)
    assert {name for name, found in classes.items() if len(found) > 1} == set()


def test_events_have_what_columns_take_from_them() -> None:
    of_row = {each.name for each in dataclasses.fields(RequestCompleted)}
    of_connection = {each.name for each in dataclasses.fields(ConnectionSummary)}
    assert {*columns_from(REQUEST_COLUMNS, "state", "time"), *(each.name for each in BODY_COLUMNS)} <= of_row
    assert set(SUMMARY_COLUMNS) <= of_connection


def test_every_body_column_is_fed_by_some_message() -> None:
    fed: set[str] = set()
    for key in catalog().api_keys:
        message = catalog().request(key)
        assert message is not None
        for version in message.valid_versions:
            fed |= request_fields(key, version).columns.keys() | response_fields(key, version).columns.keys()
    assert fed == {each.name for each in BODY_COLUMNS}


def test_request_logs_give_no_column_that_is_not_declared() -> None:
    assert len(set(LOGGED_COLUMNS)) == len(LOGGED_COLUMNS)
    assert set(LOGGED_COLUMNS) <= set(REQUESTS.names)
    assert {each.name for each in BODY_COLUMNS} <= set(LOGGED_COLUMNS)


def test_native_rows_fill_in_declared_columns_at_the_numbers_of_their_names() -> None:
    text = (PYX / "tables/connection_row.pxd").read_text("utf-8")
    listed = re.search(r"cdef inline tuple connection_cells\(\):.*?return \((.*?)\n    \)", text, re.DOTALL)
    assert listed is not None
    cells = re.findall(r'"(\w+)"', listed[1])
    assert set(cells) <= set(CONNECTIONS.names)
    enum = re.search(r"cdef enum:\n    # Where a row has each column, as `connection_cells` names them\n(.*?)\n\n", text, re.DOTALL)
    assert enum is not None
    numbered = [(name, int(number)) for name, number in re.findall(r"(\w+) = (\d+)", enum[1])]
    assert [number for _, number in numbered] == list(range(len(cells)))
    assert [name.lower() for name, _ in numbered] == cells


def test_a_body_column_has_a_type_that_native_rows_hold() -> None:
    assert {each.type for each in BODY_COLUMNS} <= {"int32", "string"}
    assert all(isinstance(each.source, Body) and bool(each.source.field) != bool(each.source.entity) for each in BODY_COLUMNS)
