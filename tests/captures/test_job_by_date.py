"""An analysis whose rows are divided by date: the rows of one that is not, each in the folder of its day, also after --append.

Tasks run in this process; what Spark adds is tested in tests/integration.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.dataset as ds
import pytest

from counted_rows import counted_folders, run, written
from kwire.analysis.digests.storing import read_digest
from kwire.errors import InputError
from kwire.report import summarize
from kwire.report.analysis_folder import AnalysisFolder
from kwire.runs.output import MANIFEST, SUCCESS
from kwire.tables import SCHEMAS
from kwire.tables.dates import BEGINS, NO_DATE
from pcap_files import later, pieces_of

DATA = Path(__file__).parent / "data"
PROVENANCE = {"series", "capture", "packet_number", "explanation", "evidence_request_index"}
DAYS = ["date=2026-11-22", "date=2026-11-23"]


pytestmark = pytest.mark.usefixtures("job_in_process")


@pytest.fixture
def over_midnight(tmp_path: Path) -> list[str]:
    """Four files of a capture that crosses midnight (UTC) between the 22nd and the 23rd of November 2026, about half way."""
    data = gzip.decompress((DATA / "topicids.pcap.gz").read_bytes())
    run([DATA / "topicids.pcap.gz"], tmp_path / "as-it-was")
    times = sorted(rows(tmp_path / "as-it-was", "requests", "request_time"))
    shift = datetime(2026, 11, 23, tzinfo=timezone.utc) - times[len(times) // 2]
    return written(pieces_of(later(data, int(shift.total_seconds())), 4), tmp_path)


def rows(out: Path, table: str, column: str) -> list[Any]:
    found: list[Any] = ds.dataset(out / table, format="parquet").to_table(columns=[column])[column].to_pylist()
    return found


def by_date(inputs: list[str], out: Path, **more: Any) -> Path:
    return run(inputs, out, partition_by="date", **more)


def tables(out: Path) -> dict[str, Counter[str]]:
    """The rows of all tables but `captures`, the folder of their date left out."""
    found = counted_folders(out, PROVENANCE, without=["captures"])
    assert found.keys() == SCHEMAS.keys() - {"captures"}
    return found


def check_dates(out: Path) -> None:
    """Each row lies in the folder of its day, and the manifest names just the files that are there."""
    named = json.loads((out / MANIFEST).read_text())["parts"]
    for table, times in BEGINS.items():
        assert {path.relative_to(out / table).as_posix() for path in (out / table).rglob("*.parquet")} == set(named[table])
        assert all((out / table / name).parent.parent == out / table for name in named[table])
        for folder in (out / table).iterdir():
            assert list(folder.iterdir())
            for row in ds.dataset(folder, format="parquet").to_table(columns=list(times)).to_pylist():
                begin = next((row[name] for name in times if row[name] is not None), None)
                assert folder.name == (NO_DATE if begin is None else f"date={begin.astimezone(timezone.utc):%Y-%m-%d}")


def test_the_rows_are_those_of_an_analysis_that_is_not_divided(over_midnight: list[str], tmp_path: Path) -> None:
    out = by_date(over_midnight, tmp_path / "dated")
    check_dates(out)
    assert sorted(path.name for path in (out / "requests").iterdir()) == DAYS
    flat = run(over_midnight, tmp_path / "flat")
    assert tables(out) == tables(flat)
    assert [path.name for path in (out / "telemetry").iterdir()] == [NO_DATE]  # a table without rows has its columns and the date
    assert summarize(str(out)) == summarize(str(flat))
    assert AnalysisFolder(out).count("requests") == AnalysisFolder(flat).count("requests")


def test_readers_of_hive_folders_see_the_date(over_midnight: list[str], tmp_path: Path) -> None:
    out = by_date(over_midnight, tmp_path / "dated")
    expected = Counter(time.astimezone(timezone.utc).date() for time in rows(out, "requests", "request_time"))
    assert {str(day) for day in expected} == {"2026-11-22", "2026-11-23"}
    query = f"SELECT date, count(*) FROM '{out}/requests/**/*.parquet' GROUP BY date"
    assert dict(duckdb.sql(query).fetchall()) == expected
    requests = ds.dataset(out / "requests", partitioning="hive")
    assert requests.count_rows(filter=ds.field("date") == "2026-11-23") == expected[datetime(2026, 11, 23, tzinfo=timezone.utc).date()]


def test_going_on_gives_the_tables_of_one_run(over_midnight: list[str], tmp_path: Path) -> None:
    whole = tables(by_date(over_midnight, tmp_path / "whole"))
    for count in (1, 2, 4):
        grown = by_date(over_midnight[:count], tmp_path / "grown", append=True)
        check_dates(grown)
    assert tables(grown) == whole


def test_packed_series_go_on_too(over_midnight: list[str], tmp_path: Path) -> None:
    def named(count: int) -> list[str]:
        """Two series, of so many files each."""
        listed = []
        for series in ("a", "b"):
            for number, file in enumerate(over_midnight[:count]):
                path = tmp_path / f"{series}_{number:05d}.pcap"
                path.write_bytes(Path(file).read_bytes())
                listed.append(str(path))
        return listed

    whole = tables(run(named(4), tmp_path / "whole"))
    by_date(named(2), tmp_path / "grown", append=True)
    grown = by_date(named(4), tmp_path / "grown", append=True)
    check_dates(grown)
    assert tables(grown) == whole


def test_the_layout_changes_when_an_analysis_is_replaced_and_never_when_it_grows(over_midnight: list[str], tmp_path: Path) -> None:
    out = run(over_midnight[:1], tmp_path / "out")
    with pytest.raises(InputError, match="was made with --partition-by left out; use the same, or --overwrite"):
        by_date(over_midnight, out, append=True)
    by_date(over_midnight, out, overwrite=True)
    check_dates(out)
    with pytest.raises(InputError, match="was made with --partition-by date; use the same, or --overwrite"):
        run(over_midnight, out, append=True)
    assert (out / SUCCESS).exists()
    run(over_midnight, out, overwrite=True)
    assert all(path.is_file() for path in (out / "requests").iterdir())


def test_a_changed_part_of_a_date_makes_the_digest_old(over_midnight: list[str], tmp_path: Path) -> None:
    out = by_date(over_midnight, tmp_path / "out")
    folder = AnalysisFolder(out)
    assert read_digest(folder.filesystem, folder.path, None) is not None
    next((out / "requests" / DAYS[0]).glob("*.parquet")).unlink()
    assert read_digest(folder.filesystem, folder.path, None) is None
