"""`kwire.spark.convert` in processes of this machine: rows of captures, request logs, Parquet and Arrow files as Parquet, or nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from kwire.errors import InputError
from kwire.spark import convert
from kwire.spark.source import file_rows
from kwire.tables import from_capture
from kwire.tables.schemas import SCHEMAS

DATA = Path(__file__).resolve().parents[2] / "captures" / "data"
LOG = DATA / "old-0.11-requests.log.gz"
SEED = DATA / "seed.pcap.gz"
HEADER = ["api_key", "api_version", "correlation_id", "client_id"]


def heartbeat(number: int) -> bytes:
    """HeartbeatRequest v0 in header version 1: correlation id, client id "c0" to "c2", group "g", generation 7, member "m"."""
    head = bytes.fromhex("000c0000") + number.to_bytes(4, "big") + b"\0\2c" + str(number % 3).encode()
    return head + bytes.fromhex("0001 67 00000007 0001 6d")


FRAMES = [heartbeat(number) for number in range(1000)]


@pytest.fixture(params=["parquet", "arrow"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder named by its format: a file of 1,000 frames in several row groups or batches."""
    where = tmp_path / request.param
    where.mkdir()
    write(where, pa.table({"day": ["mon", "tue"] * 500, "value": pa.array(FRAMES, pa.binary())}))
    return where


def write(where: Path, rows: pa.Table, name: str = "a") -> None:
    if where.name == "parquet":
        pq.write_table(rows, where / f"{name}.parquet", row_group_size=64)
    else:
        with pa.ipc.new_file(str(where / f"{name}.arrow"), rows.schema) as writer:
            writer.write_table(rows.combine_chunks(), 64)


def of_frames(folder: Path, out: Path, **given: Any) -> Any:
    return convert(str(folder), str(out), source=folder.name, column="value", **given)


def rows_of(out: Path) -> pa.Table:
    """All rows, without the columns that are folders."""
    return pa.concat_tables([pq.ParquetFile(path).read() for path in sorted(out.rglob("part-*.parquet"))])


def names(out: Path) -> set[str]:
    return {path.name.partition("-")[0] for path in out.iterdir()}


@pytest.mark.parametrize("table", ["requests", "connections", "violations", "clients"])
def test_tables_of_a_capture(tmp_path: Path, table: str) -> None:
    report = convert(str(SEED), str(tmp_path / "out"), table=table)
    expected = from_capture(str(SEED), table) if table != "clients" else None
    found = rows_of(tmp_path / "out")
    assert found.schema.equals(SCHEMAS[table])
    assert found.num_rows == report.rows
    if expected is not None:
        assert found.drop_columns("series").equals(expected.drop_columns("series"))
    assert names(tmp_path / "out") == ({"part", "_SUCCESS", "_manifest.json"})


def test_request_logs_and_columns(tmp_path: Path) -> None:
    convert([str(LOG)], str(tmp_path / "out"), columns=["client_id", "api_name"])
    expected = from_capture(str(LOG)).select(["client_id", "api_name"])
    assert rows_of(tmp_path / "out").equals(expected)
    assert expected.num_rows > 0


def test_a_message_of_a_capture(tmp_path: Path) -> None:
    fields = "topics.name"
    report = convert(str(SEED), str(tmp_path / "out"), message="MetadataRequest", version=1, fields=fields, columns=f"client_id,{fields}")
    asked = pc.and_(pc.equal(from_capture(str(SEED))["api_key"], 3), pc.equal(from_capture(str(SEED))["api_version"], 1))
    ids = from_capture(str(SEED)).filter(asked)["client_id"].to_pylist()
    assert rows_of(tmp_path / "out")["client_id"].to_pylist() == ids
    assert report.rows == len(ids) > 0


def test_headers_of_frames_with_a_column_of_the_file(tmp_path: Path, folder: Path) -> None:
    report = of_frames(folder, tmp_path / "out", columns=HEADER, keep="day")
    found = rows_of(tmp_path / "out")
    assert found.column_names == ["day", *HEADER]
    expected = [(("mon", "tue")[number % 2], 12, 0, number, f"c{number % 3}") for number in range(1000)]
    assert [tuple(row.values()) for row in found.sort_by("correlation_id").to_pylist()] == expected
    assert (report.rows, report.errors, report.tasks) == (1000, {}, 1)


def test_a_message_of_frames(tmp_path: Path, folder: Path) -> None:
    of_frames(folder, tmp_path / "out", message="HeartbeatRequest", version=0, columns="member_id,generation_id")
    assert rows_of(tmp_path / "out").to_pylist() == [{"member_id": "m", "generation_id": 7}] * 1000


def test_a_message_of_all_versions(tmp_path: Path, folder: Path) -> None:
    # HeartbeatRequest v3, which has a group instance id: here "i"
    newer = bytes.fromhex("000c0003 00000001 0001 61 0001 67 00000008 0001 6d 0001 69")
    write(folder, pa.table({"day": ["wed"], "value": pa.array([newer], pa.binary())}), "b")
    of_frames(folder, tmp_path / "out", message="HeartbeatRequest", columns="api_version,generation_id,group_instance_id")
    rows = [tuple(row.values()) for row in rows_of(tmp_path / "out").to_pylist()]
    assert sorted(rows, key=str) == [(0, 7, None)] * 1000 + [(3, 8, "i")]


def test_one_large_file_is_divided_among_processes(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rows, "_OPEN_COST", 1)
    report = of_frames(folder, tmp_path / "out", columns="correlation_id", minPartitions=4)
    assert report.tasks >= 4
    assert len(list((tmp_path / "out").glob("part-*"))) > 1  # a task whose share holds no row group writes none
    assert sorted(rows_of(tmp_path / "out")["correlation_id"].to_pylist()) == list(range(1000))


@pytest.mark.parametrize("columns", [None, "client_id"])
def test_damaged_frames_are_counted(tmp_path: Path, folder: Path, columns: str | None) -> None:
    # cut in the header's client id; of an unknown api key; null: neither a frame nor damaged
    write(folder, pa.table({"day": ["wed"] * 3, "value": pa.array([FRAMES[0][:9], b"\x7f\0" + FRAMES[0][2:], None], pa.binary())}), "b")
    report = of_frames(folder, tmp_path / "out", columns=columns)
    assert report.rows == 1003
    assert report.errors["TRUNCATED"] == 1
    assert sum(report.errors.values()) == 2
    assert json.loads((tmp_path / "out" / "_manifest.json").read_text())["errors"] == report.errors
    dropped = of_frames(folder, tmp_path / "kept", columns=columns, mode="dropmalformed")
    assert (dropped.rows, dropped.errors) == (1001, report.errors)
    assert rows_of(tmp_path / "kept").num_rows == 1001
    with pytest.raises(InputError, match=r"truncated|Truncated|FAILFAST"):
        of_frames(folder, tmp_path / "none", columns=columns, mode="failfast")
    assert not (tmp_path / "none").exists()


def test_malformed_requests_are_counted(tmp_path: Path) -> None:
    capture = str(DATA / "hostile-requests.pcap.gz")
    rows = from_capture(capture, ports=[20192]).num_rows
    assert convert(capture, str(tmp_path / "out"), columns="api_name", ports=[20192]).errors == {"malformed": 7}  # as the capture was made
    report = convert(capture, str(tmp_path / "kept"), columns="api_name", ports=20192, mode="DROPMALFORMED")
    assert (report.rows, report.errors) == (rows - 7, {"malformed": 7})


def test_folders_of_values(tmp_path: Path, folder: Path) -> None:
    odd = pa.array(["a/b=c %é", "", None], pa.string())
    write(folder, pa.table({"day": odd, "value": pa.array(FRAMES[:3], pa.binary())}), "b")
    of_frames(folder, tmp_path / "out", columns=HEADER, keep="day", partition_by="day")
    out = tmp_path / "out"
    # as Spark's ExternalCatalogUtils.escapePathName writes them
    folders = {"day=mon", "day=tue", "day=a%2Fb%3Dc %25é", "day=__HIVE_DEFAULT_PARTITION__"}
    assert {path.name for path in out.iterdir() if path.is_dir()} == folders
    assert rows_of(out).column_names == HEADER
    assert rows_of(out / "day=tue").num_rows == 500
    assert set(rows_of(out / "day=__HIVE_DEFAULT_PARTITION__")["correlation_id"].to_pylist()) == {1, 2}
    of_frames(folder, out, columns="api_key,correlation_id", overwrite=True, partition_by="api_key")
    assert {path.name for path in out.iterdir() if path.is_dir()} == {"api_key=12"}


def test_days_of_requests(tmp_path: Path) -> None:
    convert(str(SEED), str(tmp_path / "out"), columns="api_name", partition_by="date")
    days = {f"date={time.date()}" for time in from_capture(str(SEED))["request_time"].to_pylist()}
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()} == days
    assert rows_of(tmp_path / "out").column_names == ["api_name"]


def test_a_table_without_rows_has_its_columns(tmp_path: Path) -> None:
    convert(str(tmp_path / "z*"), str(tmp_path / "out"), ignoreMissingFiles=True, columns="api_name,client_id")
    assert pq.read_table(tmp_path / "out").column_names == ["api_name", "client_id"]
    convert(str(tmp_path / "z*"), str(tmp_path / "by"), ignoreMissingFiles=True, columns="api_name,client_id", partition_by="client_id")
    assert rows_of(tmp_path / "by" / "client_id=__HIVE_DEFAULT_PARTITION__").column_names == ["api_name"]


def test_only_what_convert_wrote_is_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    convert(str(SEED), str(out))
    (out / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"exists already; pass overwrite=True"):
        convert(str(SEED), str(out))
    convert(str(SEED), str(out), columns="api_name", overwrite=True)
    assert rows_of(out).column_names == ["api_name"]
    assert names(out) == {"part", "_SUCCESS", "_manifest.json", "notes.txt"}
    (out / "_manifest.json").write_text('{"parts": {"requests": ["part-a"]}}')
    with pytest.raises(InputError, match=r"does not hold a table of kwire.spark.convert"):
        convert(str(SEED), str(out), overwrite=True)


def test_a_fault_leaves_nothing_or_the_table_before(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.pcap").write_bytes(b"no capture")
    with pytest.raises(InputError, match=r"a\.pcap"):
        convert([str(SEED), str(tmp_path / "in")], str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    convert(str(SEED), str(tmp_path / "out"))
    before = rows_of(tmp_path / "out")
    with pytest.raises(InputError, match=r"a\.pcap"):
        convert([str(SEED), str(tmp_path / "in")], str(tmp_path / "out"), overwrite=True)
    assert rows_of(tmp_path / "out").equals(before)
    assert names(tmp_path / "out") == {"part", "_SUCCESS", "_manifest.json"}


KILLED = """\
import os, signal, sys
from kwire.runs import parts
from kwire.spark import convert

before = parts.PartWriter.flush
def flush(self):
    before(self)
    os.kill(os.getpid(), signal.SIGKILL)
parts.PartWriter.flush = flush
convert(sys.argv[1], sys.argv[2])
"""


def test_a_kill_leaves_no_row(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = subprocess.run([sys.executable, "-c", KILLED, str(SEED), str(out)], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    assert names(out) == {"_staging"}
    assert convert(str(SEED), str(out)).rows == from_capture(str(SEED)).num_rows
    assert names(out) == {"part", "_SUCCESS", "_manifest.json"}


def test_a_store_without_rename(tmp_path: Path) -> None:
    store: Any = fsspec.filesystem("memory")
    try:
        for overwrite, by, folder in ((False, "api_name", "api_name=Metadata/"), (True, None, "")):
            convert(str(SEED), "memory://lake/out", columns="api_name,client_id", partition_by=by, overwrite=overwrite)
            held = {name.removeprefix("/lake/out/") for name in store.find("/lake/out")}
            assert {"_SUCCESS", "_manifest.json"} < held
            assert any(name.startswith(f"{folder}part-") for name in held)
            assert all(name.startswith("_") or ("=" in name) == (by is not None) for name in held)
        store.pipe("/in/a.pcap", b"no capture")
        with pytest.raises(InputError, match=r"a\.pcap"):
            convert([str(SEED), "memory://in/a.pcap"], "memory://lake/new")
        assert not store.exists("/lake/new")
        with pytest.raises(InputError, match=r"a\.pcap"):
            convert([str(SEED), "memory://in/a.pcap"], "memory://lake/out", overwrite=True)
        assert {name.removeprefix("/lake/out/") for name in store.find("/lake/out")} == held
    finally:
        store.store.clear()
        store.pseudo_dirs[:] = [""]


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"colunm": "value"}, "no option colunm"),
        ({"partition_by": "day"}, "partition_by names the column 'day', which is not written"),
        ({"partition_by": "request_time"}, "takes a column of integers, text or booleans"),
        ({"partition_by": "date", "table": "brokers"}, "needs a column time"),
        ({"partition_by": "api_name", "columns": "api_name"}, "needs a further column beside 'api_name'"),
        ({"columns": "api_nmae"}, "no column 'api_nmae'"),
    ],
)
def test_wrong_options(tmp_path: Path, given: dict[str, Any], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        convert(str(SEED), str(tmp_path / "out"), **given)
    assert not (tmp_path / "out").exists()


def test_sums_are_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InputError, match="aggregate asks for sums of each task"):
        of_frames(folder, tmp_path / "out", aggregate="count")


def test_many_values_are_refused(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kwire.spark.conversion.MOST_VALUES", 999)
    with pytest.raises(InputError, match="'correlation_id' has more than 999 values"):
        of_frames(folder, tmp_path / "out", columns=HEADER, partition_by="correlation_id")
    assert not (tmp_path / "out").exists()


def test_spark_is_not_imported(tmp_path: Path) -> None:
    code = "import sys\nfrom kwire.spark import convert\nconvert(*sys.argv[1:])\nprint('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(SEED), str(tmp_path / "out")], timeout=60, check=True, capture_output=True)
    assert done.stdout == b"False\n"
