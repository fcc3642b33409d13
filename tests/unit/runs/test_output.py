"""The output folder: staged, published as a whole, complete only when `_SUCCESS` is there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from kwire.errors import InputError
from kwire.runs.output import HISTORY, MANIFEST, SUCCESS, OutputFolder
from kwire.runs.parts import STAGING, PartWriter

SCHEMA = pa.schema([("n", pa.int64())])
TABLES = ("first", "second")


def write(out: Path, table: str, name: str, *numbers: int) -> str:
    with PartWriter(str(out), table, name, SCHEMA) as part:
        part.write(pa.record_batch({"n": list(numbers)}, schema=SCHEMA))
    return f"{table}/{name}"


def numbers(out: Path, table: str) -> list[int]:
    found: list[int] = ds.dataset(out / table, format="parquet").to_table()["n"].to_pylist()
    return found


def analyze(out: Path, *values: int, overwrite: bool = False) -> None:
    folder = OutputFolder(str(out), TABLES)
    with folder.writing(overwrite=overwrite):
        parts = [write(out, table, "part-0.parquet", *values) for table in TABLES]
        folder.publish({"version": "x"}, parts)
        folder.complete()


def test_a_run_publishes_its_tables_and_says_what_it_wrote(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    analyze(out, 1, 2)
    assert sorted(path.name for path in out.iterdir()) == [SUCCESS, MANIFEST, "first", "second"]
    assert numbers(out, "first") == [1, 2]
    manifest = json.loads((out / MANIFEST).read_text())
    assert manifest["version"] == "x"
    assert manifest["parts"] == {"first": ["part-0.parquet"], "second": ["part-0.parquet"]}


def test_parts_of_dates_are_published_and_dates_without_parts_go(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def dated(run: str, *days: int, kept: tuple[str, ...] = ()) -> list[str]:
        folder = OutputFolder(str(out), TABLES)
        with folder.writing(append=True):
            parts = [write(out, "first", f"date=2026-11-{day}/part-{run}.parquet", day) for day in days]
            told = {"version": "x", "run": 0, "series": [], "captures": [], "target_releases": [], "broker_release": None}
            folder.publish(told, parts, kept)
            assert not (out / SUCCESS).exists()
            assert OutputFolder(str(out), TABLES).begin(append=True) is not None  # killed here, the next run publishes once more
        OutputFolder(str(out), TABLES)._remove(STAGING)
        return parts

    early, late, _ = dated("a", 22, 23, 24)
    (again,) = dated("b", 23, kept=(early,))
    assert {path.relative_to(out).as_posix() for path in (out / "first").rglob("*")} == {
        "first/date=2026-11-22", "first/date=2026-11-23", early, again,
    }  # fmt: skip
    assert numbers(out, "first") == [22, 23]
    assert late != again
    assert json.loads((out / MANIFEST).read_text())["parts"] == {"first": [early.partition("/")[2], again.partition("/")[2]]}


def test_nothing_looks_complete_before_the_end(tmp_path: Path) -> None:
    out = tmp_path / "out"
    folder = OutputFolder(str(out), TABLES)
    folder.begin()
    part = write(out, "first", "part-0.parquet", 1)
    assert [path.name for path in out.iterdir()] == [STAGING]
    folder.publish({}, [part])
    assert not (out / SUCCESS).exists()
    folder.complete()
    assert (out / SUCCESS).exists()
    assert not (out / STAGING).exists()


def test_half_a_part_is_never_seen(tmp_path: Path) -> None:
    folder = tmp_path / "out" / STAGING / "first"
    folder.parent.mkdir(parents=True)

    def fail() -> None:
        with PartWriter(str(tmp_path / "out"), "first", "part-0.parquet", SCHEMA) as part:
            part.write(pa.record_batch({"n": [1]}, schema=SCHEMA))
            assert all(path.name.startswith(".") for path in folder.iterdir())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(folder.iterdir()) == []


def test_a_task_that_runs_twice_writes_its_part_once(tmp_path: Path) -> None:
    out = tmp_path / "out"
    folder = OutputFolder(str(out), TABLES)
    folder.begin()
    write(out, "first", "part-0.parquet", 1, 2)
    (out / STAGING / "first" / ".part-1.parquet-99").touch()  # of an attempt that was killed
    folder.publish({}, [write(out, "first", "part-0.parquet", 1, 2)])
    assert [path.name for path in (out / "first").iterdir()] == ["part-0.parquet"]
    assert numbers(out, "first") == [1, 2]


def test_rows_come_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    OutputFolder(str(out), TABLES).begin()
    with PartWriter(str(out), "first", "p.parquet", SCHEMA) as part:
        for start in range(0, 600_000, 100_000):  # more than one row group
            part.write(pa.record_batch({"n": range(start, start + 100_000)}, schema=SCHEMA))
    assert numbers(out / STAGING, "first") == list(range(600_000))


def test_what_a_killed_run_left_is_in_nobodys_way(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = (
        "import os, sys; from kwire.runs.output import OutputFolder; OutputFolder(sys.argv[1], ('first', 'second')).begin(); "
        "open(sys.argv[1] + '/_staging/half', 'w').close(); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(out)], check=False).returncode == -9
    assert (out / STAGING / "half").exists()
    assert not (out / SUCCESS).exists()
    analyze(out, 3)
    assert numbers(out, "first") == [3]
    assert not (out / STAGING).exists()


def test_a_uri_serves_as_well_as_a_path(tmp_path: Path) -> None:
    out = tmp_path / "with space"
    uri = out.as_uri()
    folder = OutputFolder(uri, TABLES)
    with folder.writing():
        with PartWriter(uri, "first", "p.parquet", SCHEMA) as part:
            part.write(pa.record_batch({"n": [7]}, schema=SCHEMA))
        folder.publish({}, ["first/p.parquet"])
        folder.complete()
    assert numbers(out, "first") == [7]
    assert (out / SUCCESS).exists()


def test_what_earlier_reports_found_stays_when_files_are_added_and_goes_with_the_analysis(tmp_path: Path) -> None:
    out = tmp_path / "out"
    analyze(out, 1)
    (out / HISTORY).write_text("[]")
    folder = OutputFolder(str(out), TABLES)
    with folder.writing(overwrite=True):
        parts = [write(out, table, "part-1.parquet", 2) for table in TABLES]
        folder.publish({"version": "x"}, parts, [f"{table}/part-0.parquet" for table in TABLES])
        folder.complete()
    assert (out / HISTORY).exists()
    analyze(out, 3, overwrite=True)
    assert not (out / HISTORY).exists()


def test_a_scheme_that_nobody_knows() -> None:
    with pytest.raises(InputError, match=r"^moon://x cannot be opened"):
        OutputFolder("moon://x", TABLES)
