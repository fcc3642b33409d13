"""The date of a row: in UTC, by its begin, in folders as Hive names them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pyarrow as pa
import pytest

from kwire.tables import SCHEMAS
from kwire.tables.dates import BEGINS, NO_DATE, rows_by_date
from kwire.tables.schemas import TIME

MIDNIGHT = datetime(2026, 11, 23, tzinfo=timezone.utc)
BEFORE = MIDNIGHT - timedelta(microseconds=1)


def requests(*times: tuple[datetime | int | None, datetime | int | None]) -> pa.RecordBatch:
    columns = {"request_time": pa.array([a for a, _ in times], TIME), "response_time": pa.array([b for _, b in times], TIME)}
    return pa.record_batch({**columns, "request_index": pa.array(range(len(times)), pa.int64())})


def found(batch: pa.RecordBatch, table: str = "requests") -> dict[str, list[int]]:
    divided = list(rows_by_date(table, batch))
    assert len({folder for folder, _ in divided}) == len(divided)
    return {folder: rows.column("request_index").to_pylist() for folder, rows in divided}


def test_a_request_belongs_to_the_day_that_it_was_sent_on() -> None:
    rows = requests((BEFORE, MIDNIGHT), (MIDNIGHT, MIDNIGHT), (None, MIDNIGHT), (None, None), (BEFORE, None))
    assert found(rows) == {"date=2026-11-22": [0, 4], "date=2026-11-23": [1, 2], NO_DATE: [3]}


def test_rows_of_one_day_stay_as_they_are() -> None:
    rows = requests((MIDNIGHT, None), (MIDNIGHT + timedelta(hours=23, minutes=59), None))
    assert [(folder, batch is rows) for folder, batch in rows_by_date("requests", rows)] == [("date=2026-11-23", True)]
    assert not list(rows_by_date("requests", rows.slice(0, 0)))


DAY = 86_400_000_000


@pytest.mark.parametrize(
    ("microseconds", "folder"),
    [
        (-1, "date=1969-12-31"),
        (0, "date=1970-01-01"),
        (2_932_897 * DAY - 1, "date=9999-12-31"),
        (2_932_897 * DAY, NO_DATE),
        (-719_162 * DAY, "date=0001-01-01"),
        (-719_162 * DAY - 1, NO_DATE),
        (2**63 - 1, NO_DATE),
    ],
)
def test_times_that_damaged_files_may_hold_have_a_folder(microseconds: int, folder: str) -> None:
    assert found(requests((microseconds, None), (MIDNIGHT, None))) == {folder: [0], "date=2026-11-23": [1]}


def test_the_time_columns_are_those_of_the_tables() -> None:
    assert all(SCHEMAS[table].field(name).type.equals(TIME) for table, names in BEGINS.items() for name in names)
