"""Parts by date that a task writes: one a date, bounded in open files, waiting rows and dates."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kwire.runs import dated_parts
from kwire.runs.dated_parts import DatedParts
from kwire.runs.output import OutputFolder
from kwire.runs.parts import STAGING
from kwire.tables import SCHEMAS
from kwire.tables.dates import NO_DATE

NOON = datetime(2026, 11, 22, 12, tzinfo=timezone.utc)


def connections(*days: int) -> pa.RecordBatch:
    rows = [dict.fromkeys(SCHEMAS["connections"].names) | {"first_seen": NOON + timedelta(days=day)} for day in days]
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMAS["connections"])


def written(out: Path, *batches: pa.RecordBatch) -> dict[str, list[int]]:
    """Of each part the days after the 22nd that its rows have."""
    OutputFolder(str(out), tuple(SCHEMAS)).begin()
    begun: list[str] = []
    with DatedParts(str(out), begun.append) as parts:
        for batch in batches:
            parts.write("connections", "part-00000", batch)
    staged = {path.relative_to(out / STAGING).as_posix() for path in (out / STAGING).rglob("*.parquet")}
    assert sorted(begun) == sorted(staged)
    return {part: [(time - NOON).days for time in pq.ParquetFile(out / STAGING / part).read()["first_seen"].to_pylist()] for part in begun}


def test_a_task_writes_one_part_a_date_however_often_dates_take_turns(tmp_path: Path) -> None:
    assert written(tmp_path / "out", *[connections(0, 1, 0), connections(1, 2)] * 3) == {
        "connections/date=2026-11-22/part-00000.parquet": [0] * 6,
        "connections/date=2026-11-23/part-00000.parquet": [1] * 6,
        "connections/date=2026-11-24/part-00000.parquet": [2] * 3,
    }


def test_rows_wait_as_long_as_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dated_parts, "_WAITING_ROWS", 3)
    found = written(tmp_path / "out", connections(0, 0, 0, 1), connections(0, 1), connections(0, 1, 1))
    assert {part: len(rows) for part, rows in found.items()} == {
        "connections/date=2026-11-22/part-00000.parquet": 5,
        "connections/date=2026-11-23/part-00000.parquet": 4,
    }


def test_a_date_goes_on_in_a_further_part_where_too_many_files_are_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dated_parts, "_WAITING_ROWS", 0)  # every row is written at once
    monkeypatch.setattr(dated_parts, "_OPEN_FILES", 1)
    assert written(tmp_path / "out", connections(0), connections(1), connections(0, 0)) == {
        "connections/date=2026-11-22/part-00000.parquet": [0],
        "connections/date=2026-11-23/part-00000.parquet": [1],
        "connections/date=2026-11-22/part-00000-001.parquet": [0, 0],
    }


def test_dates_beyond_the_bound_are_filed_as_rows_without_a_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dated_parts, "MAX_DATES", 2)
    assert written(tmp_path / "out", connections(0, 1, 2, 3), connections(0, 3)) == {
        "connections/date=2026-11-22/part-00000.parquet": [0, 0],
        "connections/date=2026-11-23/part-00000.parquet": [1],
        f"connections/{NO_DATE}/part-00000.parquet": [2, 3, 3],
    }


def test_a_task_that_fails_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dated_parts, "_WAITING_ROWS", 0)
    out = tmp_path / "out"
    OutputFolder(str(out), tuple(SCHEMAS)).begin()

    def failing() -> None:
        with DatedParts(str(out), str) as parts:
            parts.write("connections", "part-00000", connections(0, 1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert not [path for path in (out / STAGING / "connections").rglob("*") if path.is_file()]
