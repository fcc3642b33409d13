"""Every column of every table says what it holds, and in which unit; Arrow, Parquet and Spark get the same text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kwire.runs.parts import STAGING, PartWriter
from kwire.spark.source.options import source_options
from kwire.spark.source.schema import schema_ddl
from kwire.tables.column_comments import COMMENT, DECLARED, comment_of, with_comments
from kwire.tables.schemas import SCHEMAS
from kwire.tables.shared_columns import CLASSES_OF_TABLES, OF_TABLES, SHARED

COLUMNS = [(table, field) for table, schema in SCHEMAS.items() for field in schema]


def is_measured(kind: Any) -> bool:
    while pa.types.is_list(kind):
        kind = kind.value_type
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_timestamp(kind) or pa.types.is_struct(kind)


def test_every_column_is_described() -> None:
    assert len(COLUMNS) > 200
    for table, field in COLUMNS:
        text = comment_of(table, field.name)
        assert field.metadata[COMMENT].decode() == text
        assert text, f"{table}.{field.name}"
        assert not text.endswith("."), f"{table}.{field.name}: {text}"
        if table not in DECLARED:  # whose sentences hold their units
            assert text.endswith("]") == is_measured(field.type), f"what is counted or measured has a unit: {table}.{field.name}: {text}"


def test_nothing_is_described_that_is_not_there() -> None:
    others = {(table, field.name) for table, field in COLUMNS if table not in DECLARED}
    assert set(SHARED) == {name for _, name in others}
    assert {*OF_TABLES, *CLASSES_OF_TABLES} <= others
    assert all(set(DECLARED[table]) == set(SCHEMAS[table].names) for table in DECLARED)


def test_a_column_without_a_description_is_a_fault() -> None:
    with pytest.raises(KeyError, match="new_column"):
        with_comments("requests", pa.schema([("new_column", pa.int32())]))


@pytest.mark.parametrize("table", SCHEMAS)
def test_parquet_files_say_to_spark_what_they_hold(table: str, tmp_path: Path) -> None:
    """`org.apache.spark.sql.parquet.row.metadata`, which Spark writes and reads, is the schema as `StructType.json` has it."""
    (tmp_path / STAGING).mkdir()
    with PartWriter(str(tmp_path), table, "part.parquet", SCHEMAS[table]):
        pass
    path = tmp_path / STAGING / table / "part.parquet"
    said = json.loads(pq.read_metadata(path).metadata[b"org.apache.spark.sql.parquet.row.metadata"])
    assert [each["name"] for each in said["fields"]] == SCHEMAS[table].names
    assert [each["metadata"]["comment"] for each in said["fields"]] == [comment_of(table, name) for name in SCHEMAS[table].names]
    assert pq.read_schema(path).field(0).metadata[COMMENT].decode() == comment_of(table, SCHEMAS[table].names[0])


@pytest.mark.parametrize("table", SCHEMAS)
def test_spark_reads_the_schema_that_arrow_has(table: str) -> None:
    types = pytest.importorskip("pyspark.sql.types")
    pandas_types = pytest.importorskip("pyspark.sql.pandas.types")
    said = SCHEMAS[table].metadata[b"org.apache.spark.sql.parquet.row.metadata"]
    declared = types.StructType.fromJson(json.loads(said))
    plain = pandas_types.from_arrow_schema(SCHEMAS[table])
    assert [(field.name, field.dataType) for field in declared] == [(field.name, field.dataType) for field in plain]


def test_the_data_source_declares_them() -> None:
    ddl = schema_ddl(source_options({"path": "x", "table": "violations", "columns": "rule,severity"}))
    assert (
        ddl
        == "`rule` STRING COMMENT 'id of the rule that is broken (docs: violations)', `severity` STRING COMMENT 'error, warning or info'"
    )
