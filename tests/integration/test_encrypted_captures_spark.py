"""Encrypted captures on Spark: both engines write the same files, the data source gives the same rows, and a large series is divided."""

from __future__ import annotations

import gzip
import ipaddress
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from kwire.cli.entry import commands
from kwire.runs import planning
from kwire.runs.local_processes import LocalProcesses
from kwire.tables import SCHEMAS
from tls_capture import KEY_LOG, PACKET, blocks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.matrix, pytest.mark.spark, pytest.mark.xdist_group("spark")]

SERVER_PORTS = range(9092, 9099)
TABLES = ("requests", "connections")
ROWS_OF_COPY = 87  # requests that can be read, by tests/captures/data/tls-truth.json


def series_of(folder: Path, copies: int) -> str:
    """Rotated files of one capture point: copies of the capture, the clients of each at an address of their own."""
    heads = [block for block in blocks() if block[:4] != PACKET]
    for copy in range(copies):
        address, out = ipaddress.IPv4Address("10.9.0.1").packed[:3] + bytes((copy + 1,)), []
        for block in blocks():
            if block[:4] == PACKET and int.from_bytes(block[28 + 12 : 28 + 14], "big") == 0x0800:
                source = int.from_bytes(block[28 + 34 : 28 + 36], "big")
                place = 28 + (30 if source in SERVER_PORTS else 26)  # where the client's address is
                out.append(block[:place] + address + block[place + 4 :])
        (folder / f"x_{copy + 1:05d}.pcapng.gz").write_bytes(gzip.compress(b"".join(heads + out), 1))
    return str(folder / "x_*.pcapng.gz")


def rows_of(folder: Path, table: str) -> Counter[str]:
    return counted(pq.read_table(folder / table))


def rows_of_one_task(inputs: str, out: Path) -> dict[str, Counter[str]]:
    analyzed(inputs, out, "local")
    return {table: rows_of(out, table) for table in TABLES}


def counted(rows: pa.Table) -> Counter[str]:
    """Rows without the name of their series, which depends on what is given."""
    return Counter(repr(row) for row in rows.drop_columns("series").to_pylist())


def analyzed(inputs: str, out: Path, engine: str, *more: str) -> None:
    done = CliRunner().invoke(commands, ["analyze", inputs, "--out", str(out), "--engine", engine, "--tls-keys", str(KEY_LOG), *more])
    assert done.exit_code in (0, 3, 4), done.output


def test_both_engines_write_the_same_rows_with_keys(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One task for the series, and several: the rows are those of one, certificate subjects of resumed sessions among them."""
    inputs = series_of(tmp_path, 3)
    expected = rows_of_one_task(inputs, tmp_path / "one")
    assert sum(expected["requests"].values()) == 3 * ROWS_OF_COPY
    analyzed(inputs, tmp_path / "spark", "spark")
    monkeypatch.setattr(planning, "SHARE_BYTES", 1 << 14)
    monkeypatch.setattr(LocalProcesses, "for_bytes", lambda _size: LocalProcesses(spark.sparkContext.defaultParallelism))
    for engine in ("spark", "local"):
        analyzed(inputs, tmp_path / f"{engine}-divided", engine)
        assert len(list((tmp_path / f"{engine}-divided" / "requests").iterdir())) > 1
    for out in ("spark", "spark-divided", "local-divided"):
        for table in TABLES:
            assert rows_of(tmp_path / out, table) == expected[table], (out, table)


def test_a_series_goes_on_with_its_shares_and_keys(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--append`: each share has its own carry, and packets are not routed to shares by other rules than those that they began with."""
    inputs = series_of(tmp_path, 3)
    expected = rows_of_one_task(inputs, tmp_path / "one")
    monkeypatch.setattr(planning, "SHARE_BYTES", 1 << 14)
    analyzed(inputs.replace("*", "0000[12]"), tmp_path / "out", "spark", "--append")
    analyzed(inputs, tmp_path / "out", "spark", "--append")
    for table in TABLES:
        assert rows_of(tmp_path / "out", table) == expected[table], table


def test_the_data_source_reads_with_keys(spark: SparkSession, tmp_path: Path) -> None:
    inputs = series_of(tmp_path, 2)
    expected = rows_of_one_task(inputs, tmp_path / "one")
    for table in TABLES:
        source = spark.read.format("kwire").option("table", table).option("minPartitions", "3").option("tlsKeys", str(KEY_LOG))
        assert counted(source.load(inputs).toArrow().cast(SCHEMAS[table])) == expected[table], table
    without = spark.read.format("kwire").option("table", "requests").load(inputs)
    assert 0 < without.count() < 2 * ROWS_OF_COPY
