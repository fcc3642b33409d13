"""Analyses from and to an S3-compatible server that the test starts, by the commands of docs/how-to/object-stores.md."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import re
import runpy
import shlex
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from kwire import analysis, tables
from kwire.capture.files.inputs import expand_inputs
from kwire.cli.entry import commands
from kwire.errors import InputError
from kwire.files.file_systems import StoreOptions, store_options
from kwire.runs import planning
from kwire.runs.job_request import JobRequest
from kwire.spark import convert
from kwire.spark.job import run_job
from kwire.spark.session import open_session
from kwire.spark.source.data_source import KwireDataSource
from script_modules import module_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from standalone_cluster import Cluster

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark-processes")]

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "captures" / "data"
PAGE = (ROOT / "docs" / "how-to" / "object-stores.md").read_text("utf-8")
TRUTH = {name: each["requests_whole"] for name, each in json.loads((DATA / "truth.json").read_text()).items() if "requests_whole" in each}


@pytest.fixture(scope="module")
def server() -> ModuleType:
    return module_of(ROOT / "tests" / "s3_server.py")


@pytest.fixture(scope="module")
def credentials(server: ModuleType) -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        patch.setenv("AWS_ACCESS_KEY_ID", server.ACCESS_KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", server.SECRET_KEY)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("AWS_CONFIG_FILE", os.devnull)
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
        yield patch


class Store:
    def __init__(self, server: Any) -> None:
        import boto3

        self.server = server
        self.endpoint: str = server.endpoint
        self.client: Any = boto3.client("s3", endpoint_url=server.endpoint, region_name="us-east-1")

    def put(self, bucket: str, **objects: bytes) -> None:
        self.client.create_bucket(Bucket=bucket)
        for name, data in objects.items():
            self.client.put_object(Bucket=bucket, Key=name, Body=data)

    def keys(self, bucket: str, prefix: str = "") -> list[str]:
        found = self.client.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", [])
        return [each["Key"].removeprefix(prefix) for each in found if not each["Key"].endswith("/")]

    def get(self, bucket: str, key: str) -> bytes:
        found: bytes = self.client.get_object(Bucket=bucket, Key=key)["Body"].read()
        return found

    def rows(self, bucket: str, folder: str, table: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for name in self.keys(bucket, f"{folder}/{table}/"):
            found += pq.read_table(io.BytesIO(self.get(bucket, f"{folder}/{table}/{name}"))).to_pylist()
        return found


@pytest.fixture(scope="module")
def store(server: ModuleType, credentials: pytest.MonkeyPatch) -> Iterator[Store]:
    with server.running_s3() as running:
        found = Store(running)
        seed, late, v6, sll = ((DATA / f"{name}.pcap.gz").read_bytes() for name in ("seed", "late-join", "ipv6", "any-sll2"))
        packed = pa.compress(gzip.decompress(late), codec="zstd", asbytes=True)
        log = (DATA / "old-0.11-requests.log.gz").read_bytes()
        found.put(
            "captures",
            **{
                "monday/seed.pcap.gz": seed,
                "monday/late-join.pcap.zst": packed,
                "tuesday/seed.pcap.gz": seed,
                "tuesday/odd [1]#%é.pcap.gz": v6,
                "tuesday/notes.txt": b"no capture",
                "wednesday/any-sll2.pcap.gz": sll,
                "logs/kafka-request.log.gz": log,
            },
        )
        found.put("reports")
        yield found


@pytest.fixture(scope="module")
def spark(store: Store, without_session: None) -> Iterator[SparkSession]:
    """One session for all tests; its workers have the credentials of the environment, as those of a cluster would."""
    with open_session("local[2]", "kwire tests of stores") as session:
        yield session


def kwire(*arguments: str, **how: Any) -> Result:
    result = CliRunner().invoke(commands, list(arguments), **how)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def counted(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(row, default=str, sort_keys=True) for row in rows)


def requests_by_file(rows: list[dict[str, Any]]) -> dict[str, int]:
    return dict(Counter(row["capture"].rpartition("/")[2] for row in rows))


def test_the_commands_of_the_page(store: Store, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All of them in their order, then what stands in the buckets."""
    monkeypatch.chdir(tmp_path)
    Path("local.pcap.gz").write_bytes((DATA / "seed.pcap.gz").read_bytes())
    shell = "\n".join(re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
    lines = [shlex.split(line) for line in shell.splitlines()]
    assert len([line for line in lines if line[0] == "kwire"]) == 7
    said = {}
    for line in lines:
        if line[0] == "export":
            name, _, value = line[1].partition("=")
            if name == "AWS_ENDPOINT_URL":
                monkeypatch.setenv(name, store.endpoint)
            assert value
            continue
        result = kwire(*(store.endpoint if part.startswith("http://localhost") else part for part in line[1:]))
        assert result.exit_code == 0, (line, result.output)
        said[shlex.join(line[1:])] = result.stdout
    assert store.server.copies == 0  # nothing is renamed

    monday = store.rows("reports", "monday", "requests")
    assert requests_by_file(monday) == {
        "seed.pcap.gz": TRUTH["seed.pcap"], "late-join.pcap.zst": TRUTH["late-join.pcap"], "any-sll2.pcap.gz": TRUTH["any-sll2.pcap"],
    }  # fmt: skip
    with store_options(StoreOptions(endpoint=store.endpoint)):
        expected = analysis.run(["s3://captures/monday/", "s3://captures/wednesday/"])
    assert counted(monday) == counted(expected["requests"].to_pylist())
    assert counted(store.rows("reports", "monday", "clients")) == counted(expected["clients"].to_pylist())
    tuesday = store.rows("reports", "tuesday", "requests")
    assert requests_by_file(tuesday) == {"seed.pcap.gz": TRUTH["seed.pcap"], "odd%20%5B1%5D%23%25%C3%A9.pcap.gz": TRUTH["ipv6.pcap"]}
    assert len(store.rows("reports", "local", "requests")) == TRUTH["seed.pcap"]
    assert "Clients" in said["diff s3://reports/monday s3://reports/tuesday"]

    for folder in ("monday", "tuesday", "local"):
        keys = store.keys("reports", f"{folder}/")
        assert {"_SUCCESS", "_manifest.json", "report.html"} <= set(keys)
        assert not [key for key in keys if key.startswith("_staging")]
        named = json.loads(store.get("reports", f"{folder}/_manifest.json"))["parts"]
        assert sorted(key for key in keys if "/" in key) == sorted(f"{table}/{name}" for table, names in named.items() for name in names)
    written = b"".join(store.get("reports", key) for key in store.keys("reports"))
    assert not re.search(rb"wJalr|AKIAIO", written)


def test_the_last_thing_written_is_what_makes_it_complete(store: Store) -> None:
    """The order in which the objects of one analysis were made, by the server's own record."""
    made = [path for method, path in store.server.log if method == "PUT" and path.startswith("/reports/local/") and path[-1] != "/"]
    assert made[0] == "/reports/local/_staging/run.json"
    assert all(re.match(r"/reports/local/\w+/", path) for path in made[1:-5])
    expected = ("_manifest.json", "_digest.arrow", "report.html", "_history.json", "_SUCCESS")
    assert made[-5:] == [f"/reports/local/{name}" for name in expected]


def test_the_example(store: Store, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "object_stores.py"))["main"]("s3://captures/wednesday", "s3://reports/local", store.endpoint)
    said = capsys.readouterr().out.splitlines()
    assert said[1] == f"1 files, {TRUTH['any-sll2.pcap']} requests"
    assert requests_by_file(store.rows("reports", "local", "requests")) == {"any-sll2.pcap.gz": TRUTH["any-sll2.pcap"]}  # --overwrite
    assert "_SUCCESS" in store.keys("reports", "local/")


def test_the_data_source_takes_the_options_to_its_tasks(store: Store) -> None:
    """As Spark calls it: planned on the driver, sent as a pickle, read where the environment says nothing."""
    from pyspark.sql.pandas.types import from_arrow_schema

    options = {"path": "s3a://captures/monday/", "table": "requests", "endpoint": store.endpoint, "region": "us-east-1"}
    reader = KwireDataSource(options).reader(from_arrow_schema(tables.SCHEMAS["requests"]))
    partitions = reader.partitions()
    remote = pickle.loads(pickle.dumps(reader))
    found = Counter(name for each in partitions for batch in remote.read(each) for name in batch.column("capture").to_pylist())
    assert found == {
        "s3://captures/monday/seed.pcap.gz": TRUTH["seed.pcap"],
        "s3://captures/monday/late-join.pcap.zst": TRUTH["late-join.pcap"],
    }


def test_a_conversion_from_a_bucket_to_a_bucket(store: Store) -> None:
    """Staged by names that no other run has; what is replaced goes, and a fault leaves the table before."""
    options = {"endpoint": store.endpoint, "region": "us-east-1", "columns": "api_name,client_id"}
    for overwrite, by in ((False, "api_name"), (True, None)):
        report = convert("s3a://captures/monday/seed.pcap.gz", "s3://reports/rows", partition_by=by, overwrite=overwrite, **options)
        assert report.rows == TRUTH["seed.pcap"]
        parts = [key for key in store.keys("reports", "rows/") if key.endswith(".parquet")]
        assert all(("api_name=" in key) == (by is not None) for key in parts)
        assert "_SUCCESS" in store.keys("reports", "rows/")
    with pytest.raises(InputError):
        convert("s3://captures/none.pcap", "s3://reports/rows", overwrite=True, **options)
    assert [key for key in store.keys("reports", "rows/") if key.endswith(".parquet")] == parts


def test_files_with_frames_in_a_bucket(store: Store) -> None:
    """Parquet and Arrow files are opened in the store by the tasks."""
    from pyspark.sql.pandas.types import from_arrow_schema

    # Metadata v12: api key, version, correlation id, client id "a", no tags
    frames = pa.table({"frame": [bytes.fromhex(f"0003000c{number:08x}00016100") for number in range(100)]})
    parquet, arrow = io.BytesIO(), io.BytesIO()
    pq.write_table(frames, parquet, row_group_size=30)
    with pa.ipc.new_file(arrow, frames.schema) as writer:
        writer.write_table(frames, 30)
    store.put("frames", **{"a.parquet": parquet.getvalue(), "a.arrow": arrow.getvalue()})
    for source in ("parquet", "arrow"):
        options = {"path": "s3://frames/", "source": source, "column": "frame", "columns": "correlation_id", "endpoint": store.endpoint}
        asked = from_arrow_schema(pa.schema([("correlation_id", pa.int32())]))
        reader = KwireDataSource({**options, "region": "us-east-1"}).reader(asked)
        remote = pickle.loads(pickle.dumps(reader))
        found = [row for each in reader.partitions() for batch in remote.read(each) for row in batch.column(0).to_pylist()]
        assert found == list(range(100))


def test_packets_are_routed_through_a_bucket(store: Store, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks that share a series leave packets for each other in the staging; the URI has the endpoint with it."""
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    store.put("routed", **{"seed.pcap": gzip.decompress((DATA / "seed.pcap.gz").read_bytes())})
    query = f"?region=us-east-1&scheme=http&endpoint_override={store.endpoint.removeprefix('http://')}"
    report = run_job(JobRequest(inputs=(f"s3://routed/seed.pcap{query}",), out=f"s3://routed/out{query}"))
    assert report.requests == len(store.rows("routed", "out", "requests")) == TRUTH["seed.pcap"]
    assert any("/_staging/packets/" in path for method, path in store.server.log if method == "GET")
    assert not [key for key in store.keys("routed") if "_staging" in key]


def test_a_run_that_is_killed_leaves_nothing_that_looks_complete(store: Store, tmp_path: Path) -> None:
    """Killed while it overwrites an analysis: the earlier one is read as it was."""
    command = [sys.executable, "-m", "kwire", "analyze", "s3://captures/tuesday/", "--out", "s3://reports/monday", "--overwrite"]
    before = store.rows("reports", "monday", "requests")
    parts = len(store.keys("reports", "monday/requests/"))
    running: list[subprocess.Popen[bytes]] = []

    def kill(method: str, path: str, query: str) -> None:
        is_whole = (method == "PUT") != ("uploadId" in query)
        if is_whole and path.startswith("/reports/monday/requests/") and running and running[0].poll() is None:
            os.killpg(running[0].pid, signal.SIGKILL)

    with (tmp_path / "log").open("wb") as log:
        store.server.heard = kill
        running.append(
            subprocess.Popen(
                [*command, "--master", "local[1]", "--endpoint", store.endpoint], stdout=log, stderr=log, start_new_session=True
            )
        )
        assert running[0].wait(120) == -signal.SIGKILL, (tmp_path / "log").read_text()
    store.server.heard = lambda _method, _path, _query: None
    keys = store.keys("reports", "monday/")
    assert "_SUCCESS" not in keys
    assert len([key for key in keys if key.startswith("requests/")]) > parts

    options = ("--endpoint", store.endpoint)
    shown = json.loads(kwire("report", "s3://reports/monday", "--json", *options).stdout)
    assert sum(each["requests"] for each in shown["libraries"]) == len(before)
    refused = kwire("analyze", "s3://captures/monday/", "--out", "s3://reports/monday", *options)
    assert (refused.exit_code, "exists already; give --overwrite" in refused.stderr) == (1, True)


def test_the_analysis_that_outlived_it_is_gone_on_with(store: Store, spark: SparkSession) -> None:
    store.client.put_object(Bucket="captures", Key="thursday/seed.pcap.gz", Body=(DATA / "ipv6.pcap.gz").read_bytes())
    arguments = ("s3a://captures/monday/", "s3a://captures/wednesday/", "s3a://captures/thursday/")
    result = kwire("analyze", *arguments, "--out", "s3a://reports/monday", "--append", "--endpoint", store.endpoint)
    assert result.exit_code == 0, result.output
    found = Counter(row["capture"] for row in store.rows("reports", "monday", "requests"))
    assert found == {
        "s3://captures/monday/seed.pcap.gz": TRUTH["seed.pcap"],
        "s3://captures/monday/late-join.pcap.zst": TRUTH["late-join.pcap"],
        "s3://captures/wednesday/any-sll2.pcap.gz": TRUTH["any-sll2.pcap"],
        "s3://captures/thursday/seed.pcap.gz": TRUTH["ipv6.pcap"],
    }
    assert "_SUCCESS" in store.keys("reports", "monday/")


def test_analyses_of_a_store_and_a_disk_are_merged(store: Store, tmp_path: Path) -> None:
    store.put("merged")
    options = ("--endpoint", store.endpoint, "--no-report")
    ours, theirs, both = "s3://merged/one", str(tmp_path / "two"), "s3://merged/both"
    for capture, out in ((DATA / "ipv6.pcap.gz", ours), (DATA / "sasl.pcap.gz", theirs)):
        done = kwire("analyze", str(capture), "--out", out, "--engine", "local", *options)
        assert done.exit_code == 0, done.output
    done = kwire("merge", ours, theirs, "--out", both, *options)
    assert done.exit_code == 0, done.output
    assert "_SUCCESS" in store.keys("merged", "both/")
    expected = analysis.run([str(DATA / "ipv6.pcap.gz"), str(DATA / "sasl.pcap.gz")])
    for table in ("requests", "connections", "clients", "api_usage"):
        assert len(store.rows("merged", "both", table)) == len(expected[table]), table
    done = kwire("merge", both, theirs, "--out", str(tmp_path / "again"), *options)
    assert "would count twice" in done.stderr


def test_a_run_that_fails_removes_what_it_wrote(store: Store, spark: SparkSession) -> None:
    """Nothing of a first run stays; the bucket does."""
    store.put("broken", **{"x.pcap": b"no capture at all"})
    result = kwire("analyze", "s3://broken/x.pcap", "--out", "s3://broken/out", "--endpoint", store.endpoint)
    assert result.exit_code == 1
    assert result.stderr.startswith("kwire: s3://broken/x.pcap is not a capture file")
    assert store.keys("broken") == ["x.pcap"]


def test_globs_and_folders_of_a_bucket(store: Store) -> None:
    with store_options(StoreOptions(endpoint=store.endpoint)):
        names = [
            file.location for file in expand_inputs(["s3://captures/[mt]*day/seed*.gz", "s3a://captures/monday", "s3://captures/logs"])[0]
        ]
    assert names[0] == "s3://captures/monday/seed.pcap.gz"
    assert "s3://captures/tuesday/seed.pcap.gz" in names
    assert names[-2:] == ["s3://captures/monday/late-join.pcap.zst", "s3://captures/logs/kafka-request.log.gz"]


def test_a_store_that_asks_to_slow_down_is_asked_again(store: Store) -> None:
    store.put("shaky", **{"seed.pcap.gz": (DATA / "seed.pcap.gz").read_bytes()})
    store.server.shaky.add("shaky")
    with store_options(StoreOptions("us-east-1", store.endpoint)):
        assert tables.from_capture("s3://shaky/seed.pcap.gz").num_rows == TRUTH["seed.pcap"]
    assert store.server.log.count(("GET", "/shaky/seed.pcap.gz")) > 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("s3://nowhere/x.pcap", "--out", "out"), "there is no bucket nowhere."),
        (("s3://captures/gone.pcap", "--out", "out"), "s3://captures/gone.pcap does not exist."),
        (("s3://captures/monday/", "--out", "s3://nowhere/out"), "s3://nowhere/out cannot be written: there is no bucket nowhere."),
        (
            ("s3://elsewhere/x.pcap", "--out", "out"),
            "s3://elsewhere/x.pcap cannot be read: the bucket elsewhere lies in another region, eu-central-1; name the region.",
        ),
        (
            ("s3://captures/monday/", "--out", "out", "--master", "spark://127.0.0.1:1"),
            "the output folder out is on this machine, but executors of spark://127.0.0.1:1 may be on others; use a URI that all of them "
            "can reach (s3://bucket/...), or file://",
        ),
        (("s3://AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI@captures/x", "--out", "out"), "a s3:// URI holds a password, which would appear"),
    ],
)
def test_faults_in_one_sentence(
    store: Store, arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store.server.elsewhere.add("elsewhere")
    result = kwire("analyze", *arguments, "--region", "us-east-1", "--endpoint", store.endpoint)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"kwire: {said}")
    assert result.stderr.count("\n") == 1
    assert "wJalr" not in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (None, "access to the bucket captures is denied; credentials are taken from AWS_ACCESS_KEY_ID, AWS_PROFILE or the machine's role."),
        (
            "AKIAI44QH8DHBEXAMPLE",
            "the store does not take the credentials (The AWS Access Key Id you provided does not exist in our records).",
        ),
    ],
)
def test_credentials_that_are_none(store: Store, key: str | None, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
        if key is not None:
            monkeypatch.setenv(name, key)
    result = kwire("analyze", "s3://captures/mon*/*", "--out", "s3://reports/x", "--endpoint", store.endpoint)
    assert (result.exit_code, result.stderr) == (1, f"kwire: s3://captures/mon*/* cannot be read: {said}\n")


def test_executors_without_keys(store: Store, standalone_cluster: Cluster, server: ModuleType) -> None:
    """Only the driver has the keys of its environment; `spark.executorEnv` gives them to executors."""
    cluster = standalone_cluster.ready()
    command = ("-m", "kwire", "analyze", "s3://captures/wednesday/", "--out", "s3://reports/executors", "--no-report")

    def run(**environment: str) -> tuple[int, str]:
        settings = " ".join(f"--conf spark.executorEnv.{name}={value}" for name, value in environment.items())
        submit = f"{settings} --conf spark.executorEnv.AWS_EC2_METADATA_DISABLED=true pyspark-shell"
        driver = cluster.driver(*command, "--master", cluster.url, "--endpoint", store.endpoint, PYSPARK_SUBMIT_ARGS=submit)
        _, stderr = driver.communicate(timeout=240)
        return driver.returncode, stderr

    status, told = run()
    assert (status, told.count("\n")) == (1, 1), told
    assert (
        f"is denied to the executor on {socket.gethostname()}; give its machine a role, or set spark.executorEnv.AWS_ACCESS_KEY_ID" in told
    )
    assert run(AWS_ACCESS_KEY_ID=server.ACCESS_KEY, AWS_SECRET_ACCESS_KEY=server.SECRET_KEY) == (0, "")
    assert len(store.rows("reports", "executors", "requests")) == TRUTH["any-sll2.pcap"]


def test_the_python_blocks_of_the_page(
    store: Store, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They follow the shell block, which sets the endpoint."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", store.endpoint)
    blocks = re.findall(r"^```py\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, {})
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"1 files, {TRUTH['any-sll2.pcap']} requests"
    assert said[1].endswith(" clients")
