"""The data source without a JVM: what its reader plans and reads, held against the tables, brokers' request logs and what Spark offers."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import datasource
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from kwire.analysis import run
from kwire.errors import InputError, KwireError, WireError
from kwire.runs import planning
from kwire.spark.source.batch import KwireReader, batch_reader
from kwire.spark.source.options import source_options
from kwire.spark.source.schema import row_schema
from kwire.tables import ROW_TABLES, from_capture

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "captures" / "data"
FLEET = ROOT / "examples" / "upgrade-fleet.pcap.gz"
LOG = DATA / "upgrade-fleet-requests.jsonl.gz"
CAPTURES = [FLEET, *(DATA / name for name in ("late-join.pcap.gz", "hostile-requests.pcap.gz", "real.pcapng.gz", "telemetry.pcapng.gz"))]


def reader_of(path: object, schema: StructType | None = None, **options: object) -> KwireReader:
    paths = json.dumps([str(each) for each in path]) if isinstance(path, list) else None
    given = {name: str(value) for name, value in options.items()} | ({"paths": paths} if paths else {"path": str(path)})
    checked = source_options(given)
    made = batch_reader(from_arrow_schema(row_schema(checked)) if schema is None else schema, checked)
    assert isinstance(made, KwireReader)
    return made


def read(reader: KwireReader) -> pa.Table:
    schema = reader.rows.schema
    travelled = pickle.dumps((reader, reader.partitions()))
    there, partitions = pickle.loads(travelled)
    batches = [batch for partition in partitions for batch in there.read(partition)]
    assert all(batch.schema.equals(schema) for batch in batches)
    return pa.Table.from_batches(batches, schema=schema)


def rows_of(path: object, **options: object) -> list[dict[str, Any]]:
    return read(reader_of(path, **options)).to_pylist()


# tables


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name.partition(".")[0])
@pytest.mark.parametrize("table", ROW_TABLES)
def test_rows_are_those_of_from_capture(path: Path, table: str) -> None:
    got, expected = read(reader_of(path, table=table)), from_capture(str(path), table)
    assert set(got.column("series").to_pylist()) <= {str(path)}
    assert repr(got.drop_columns("series").to_pylist()) == repr(expected.drop_columns("series").to_pylist())  # NaN equals nothing


@cache
def answers() -> dict[str, pa.Table]:
    return run([str(FLEET)])


@pytest.mark.parametrize("table", ["group_events", "upgrade_impact", "brokers"])
def test_tables_that_sum_up_are_those_of_the_analysis(table: str) -> None:
    assert read(reader_of(FLEET, table=table)).equals(answers()[table])


def test_verdicts_are_of_the_releases_that_are_asked_for() -> None:
    rows = rows_of(FLEET, table="upgrade_impact", targetReleases="4.0.0,4.1")
    assert {row["target_release"].rpartition(".")[0] for row in rows} == {"4.0", "4.1"}
    with pytest.raises(InputError, match=r"9\.9"):
        reader_of(FLEET, table="upgrade_impact", targetReleases="9.9")


def test_a_request_log_is_read_in_its_zone() -> None:
    utc = rows_of(LOG)
    assert len(utc) == len(gzip.decompress(LOG.read_bytes()).splitlines())
    old = DATA / "old-0.11-requests.log.gz"
    times = [Counter(row["request_time"] for row in rows_of(old, **options)) for options in ({}, {"logZone": "Asia/Tokyo"})]
    hours = {(a - b).total_seconds() / 3600 for a, b in zip(sorted(times[0]), sorted(times[1]), strict=True)}
    assert hours == {9.0}


def test_shares_of_a_series_are_the_series(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "SHARE_BYTES", 1 << 15)
    reader = reader_of(FLEET, minPartitions=3)
    assert len(reader.partitions()) == 3
    order = [("connection_id", "ascending"), ("request_index", "ascending"), ("stream_offset", "ascending")]
    expected = from_capture(str(FLEET)).drop_columns("series").sort_by(order)
    assert read(reader).drop_columns("series").sort_by(order).equals(expected)
    assert len(reader_of(FLEET, minPartitions=3, table="violations").partitions()) == 1


def test_paths_globs_lists_and_series(tmp_path: Path) -> None:
    for name in ("x_00001.pcap.gz", "x_00002.pcap.gz", "y.pcap.gz"):
        shutil.copy(DATA / "seed.pcap.gz", tmp_path / name)
    (tmp_path / "notes.txt").write_text("no capture")
    assert [len(part.value[0].locations) for part in reader_of(tmp_path).partitions()] == [2, 1]
    assert [len(part.value[0].locations) for part in reader_of(tmp_path, series="file").partitions()] == [1, 1, 1]
    assert len(reader_of(tmp_path / "x_*.pcap.gz").partitions()) == 1
    assert len(reader_of([tmp_path / "y.pcap.gz", tmp_path / "x_00001.pcap.gz"]).partitions()) == 2
    assert len(reader_of(tmp_path, pathGlobFilter="y*").partitions()) == 1
    with pytest.raises(InputError, match=r"no file matches .*z\*"):
        reader_of([tmp_path / "y.pcap.gz", tmp_path / "z*"]).partitions()
    assert len(reader_of([tmp_path / "y.pcap.gz", tmp_path / "z*"], ignoreMissingFiles="true").partitions()) == 1
    assert read(reader_of(tmp_path / "z*", ignoreMissingFiles="true")).num_rows == 0


def test_relative_paths_are_those_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(DATA / "seed.pcap.gz", tmp_path / "y.pcap.gz")
    monkeypatch.chdir(tmp_path)
    reader = reader_of("y.pcap.gz")
    partitions = reader.partitions()
    monkeypatch.chdir("/")
    assert sum(batch.num_rows for each in partitions for batch in reader.read(each)) > 0


def test_a_file_that_is_none_fails_the_query_unless_it_may_be_left_out(tmp_path: Path) -> None:
    shutil.copy(DATA / "seed.pcap.gz", tmp_path / "a_001.pcap.gz")
    (tmp_path / "a_002.pcap").write_text("something else altogether")
    with pytest.raises(InputError, match=r"a_002\.pcap is not a capture file"):
        rows_of(tmp_path)
    kept = from_capture(str(DATA / "seed.pcap.gz")).num_rows
    assert len(rows_of(tmp_path, ignoreCorruptFiles="true")) == kept
    rules = {row["rule"] for row in rows_of(tmp_path, ignoreCorruptFiles="true", table="violations")}
    assert "capture_unreadable" in rules
    with pytest.raises(InputError, match=r"a_002\.pcap is not a capture file"):
        rows_of(tmp_path, table="clients")
    alone = {"path": tmp_path / "a_002.pcap", "ignoreCorruptFiles": "true"}
    assert rows_of(**alone) == rows_of(**alone, table="clients") == rows_of(**alone, message="MetadataRequest", version=1) == []
    assert [row["rule"] for row in rows_of(**alone, table="violations")] == ["capture_unreadable"]


def test_modes_of_tables() -> None:
    path = DATA / "hostile-requests.pcap.gz"
    bodies = Counter(from_capture(str(path), ports=[20192]).column("body").to_pylist())
    assert bodies["malformed"] == 7  # as the capture was made
    assert Counter(row["body"] for row in rows_of(path, mode="dropmalformed", ports="20192")) == bodies - Counter(malformed=7)
    with pytest.raises(KwireError, match=r"hostile-requests.* of [\d.:-]+ at packet \d+, is malformed, .*FAILFAST"):
        rows_of(path, mode="FAILFAST", ports="20192")
    assert rows_of(FLEET, mode="FAILFAST") == rows_of(FLEET)


def test_a_schema_of_ones_own_takes_columns_in_any_order() -> None:
    schema = StructType.fromJson(
        {
            "type": "struct",
            "fields": [
                {"name": name, "type": kind, "nullable": True, "metadata": {}}
                for name, kind in (("api_name", "string"), ("request_time", "timestamp"), ("api_key", "integer"))
            ],
        }
    )
    expected = from_capture(str(FLEET)).select(["api_name", "request_time", "api_key"])
    assert read(reader_of(FLEET, schema)).equals(expected)
    for field, kind, nullable, said in (
        ("api_nam", "string", True, "has no column 'api_nam' here"),
        ("api_key", "short", True, "gives the column api_key as INT"),
        ("api_key", "integer", False, "may be null"),
    ):
        wrong = StructType.fromJson({"type": "struct", "fields": [{"name": field, "type": kind, "nullable": nullable, "metadata": {}}]})
        with pytest.raises(InputError, match=said):
            reader_of(FLEET, wrong)


# messages


def logged(api_key: int, version: int) -> dict[tuple[str, int], dict[str, Any]]:
    """What the broker of the capture logged of an api version, by connection and correlation id."""
    found = {}
    for line in gzip.decompress(LOG.read_bytes()).splitlines():
        entry = json.loads(line)
        header = entry["requestHeader"]
        if (header["requestApiKey"], header["requestApiVersion"]) == (api_key, version):
            found[entry["connection"].rpartition("-")[0], header["correlationId"]] = entry
    assert found
    return found


def of_connection(row: dict[str, Any]) -> tuple[str, int]:
    return row["connection_id"].rpartition("-")[0], row["correlation_id"]


@pytest.mark.parametrize("version", [0, 1])
def test_elements_of_responses_are_what_the_broker_logged(version: int) -> None:
    fields = "topics.name,topics.partitions.partition_index,topics.partitions.leader_id"
    rows = rows_of(FLEET, message="MetadataResponse", version=version, fields=fields)
    expected = Counter(
        (place, topic["name"], part["partitionIndex"], part["leaderId"])
        for place, entry in logged(3, version).items()
        for topic in entry["response"]["topics"]
        for part in topic["partitions"] or [{"partitionIndex": None, "leaderId": None}]
    )
    columns = fields.split(",")
    found = Counter((of_connection(row), *(row[name] for name in columns)) for row in rows if row["topics.name"] is not None)
    assert found == expected


def test_requests_are_what_the_broker_logged() -> None:
    rows = rows_of(FLEET, message="OffsetCommitRequest", version=2, fields="group_id,topics.name,topics.partitions.committed_offset")
    expected = Counter(
        (place, entry["requestHeader"]["clientId"], entry["request"]["groupId"], topic["name"], part["committedOffset"])
        for place, entry in logged(8, 2).items()
        for topic in entry["request"]["topics"]
        for part in topic["partitions"]
    )
    names = ("client_id", "group_id", "topics.name", "topics.partitions.committed_offset")
    assert Counter((of_connection(row), *(row[name] for name in names)) for row in rows) == expected


def test_what_stands_beside_a_message_finds_its_request() -> None:
    requests = {(row["connection_id"], row["request_index"]): row for row in from_capture(str(FLEET)).to_pylist()}
    for message, time in (("MetadataRequest", "request_time"), ("MetadataResponse", "response_time")):
        rows = rows_of(FLEET, message=message, version=4)
        assert len(rows) == sum((row["api_key"], row["api_version"]) == (3, 4) for row in requests.values()) > 0
        for row in rows:
            request = requests[row["connection_id"], row["request_index"]]
            assert row["time"] == request[time]
            assert all(row[name] == request[name] for name in ("capture", "correlation_id", "client_id", "software_name", "principal"))
            same_frame = (row["packet_number"], row["stream_offset"]) == (request["packet_number"], request["stream_offset"])
            assert same_frame == (message == "MetadataRequest")


def test_a_refused_api_versions_request_is_answered_in_version_0() -> None:
    """KIP-511; the broker of the capture knows ApiVersions up to version 4."""
    refused = [row for row in from_capture(str(FLEET)).to_pylist() if row["api_key"] == 18 and row["error_code"] == 35]
    assert {row["api_version"] for row in refused} == {5}
    rows = rows_of(FLEET, message="ApiVersionsResponse", version=0, fields="error_code")
    assert sum(row["error_code"] == 35 for row in rows) == len(refused)
    assert rows_of(FLEET, message="ApiVersionsResponse", version=5) == []


def test_modes_of_messages() -> None:
    path = DATA / "hostile-requests.pcap.gz"
    whole = rows_of(path, message="MetadataRequest", version=1, ports="20192", columnNameOfCorruptRecord="bytes")
    (bad,) = [row for row in whole if row["error"] is not None]
    # its frame as it lies in the stream, found by its header: api key 3, version 1, correlation id
    head = (3).to_bytes(2, "big") + (1).to_bytes(2, "big") + bad["correlation_id"].to_bytes(4, "big")
    assert bad["bytes"].startswith(head)
    assert bad["bytes"] in gzip.decompress(path.read_bytes())
    assert bad["topics"] is None
    kept = rows_of(path, message="MetadataRequest", version=1, ports="20192", mode="DROPMALFORMED")
    assert len(kept) == len(whole) - 1
    assert all(row["error"] is None for row in kept)
    with pytest.raises(WireError, match=r"MetadataRequest v1") as raised:
        rows_of(path, message="MetadataRequest", version=1, ports="20192", mode="FAILFAST")
    assert any(f"hostile-requests.pcap.gz at packet {bad['packet_number']}, of" in note for note in raised.value.__notes__)


def test_a_schema_with_sparks_usual_name_for_corrupt_records_has_them_filled() -> None:
    path, options = DATA / "hostile-requests.pcap.gz", {"message": "MetadataRequest", "version": 1, "ports": "20192"}
    field = {"name": "_corrupt_record", "type": "binary", "nullable": True, "metadata": {}}
    table = read(reader_of(path, StructType.fromJson({"type": "struct", "fields": [field]}), **options))
    assert table.column_names == ["_corrupt_record"]
    assert len(table) - table.column(0).null_count == 1


def test_messages_of_damaged_captures() -> None:
    """Frames cut by snaplen end where the capture does: their rows say so."""
    rows = rows_of(DATA / "snaplen-96.pcap.gz", message="MetadataResponse", version=1, fields="topics.name")
    assert rows
    assert {row["error"] for row in rows} == {"TRUNCATED"}


def test_a_request_log_holds_no_messages() -> None:
    with pytest.raises(InputError, match=r"is a request log, which has no message bytes"):
        rows_of(LOG, message="MetadataRequest", version=1)


# conditions


@pytest.mark.parametrize(
    ("condition", "mask"),
    [
        (datasource.EqualTo(("api_key",), 3), lambda rows: pc.equal(rows["api_key"], 3)),
        (datasource.In(("api_name",), ("Fetch", "Metadata")), lambda rows: pc.is_in(rows["api_name"], pa.array(["Fetch", "Metadata"]))),
        (datasource.GreaterThan(("latency_us",), 1000), lambda rows: pc.greater(rows["latency_us"], 1000)),
        (datasource.IsNull(("group_id",)), lambda rows: pc.is_null(rows["group_id"])),
        (datasource.IsNotNull(("group_id",)), lambda rows: pc.is_valid(rows["group_id"])),
        (datasource.StringStartsWith(("client_id",), "legacy"), lambda rows: pc.starts_with(rows["client_id"], "legacy")),
        (datasource.Not(datasource.EqualTo(("api_key",), 3)), None),
        (datasource.EqualTo(("api_key",), 1 << 40), None),
        (datasource.EqualTo(("api_key",), None), None),
        (datasource.EqualTo(("a", "b"), 3), None),
    ],
    ids=lambda each: repr(each)[:40] if isinstance(each, datasource.Filter) else "",
)
def test_conditions_are_applied_or_left_to_spark(condition: datasource.Filter, mask: Any) -> None:
    reader: Any = reader_of(FLEET, pushFilters="true")
    assert reader.pushFilters([condition]) == [condition]  # Spark checks again
    expected = from_capture(str(FLEET))
    got = read(reader)
    assert got.drop_columns("series").equals((expected if mask is None else expected.filter(mask(expected))).drop_columns("series"))
    assert got.num_rows > 0


def test_a_reader_takes_conditions_only_when_asked() -> None:
    """Spark refuses one that could in a session where that is off, which is the default."""
    assert type(reader_of(FLEET)).pushFilters is datasource.DataSourceReader.pushFilters
