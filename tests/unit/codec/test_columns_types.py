"""Kafka's types in Arrow and in Spark."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

import kwire
from kwire.codec.arrow_types import SPARK_TYPES, arrow_scalar, spark_ddl, spark_type
from kwire.codec.catalog_codec import Codec
from kwire.codec.plan import SCALAR_OPS
from kwire.schema import catalog
from kwire.schema.model import SCALARS


def test_every_scalar_has_a_type_that_spark_takes():
    assert set(SCALAR_OPS) == SCALARS
    assert {name: str(arrow_scalar(code)) for name, code in SCALAR_OPS.items()} == {
        "bool": "bool", "int8": "int8", "int16": "int16", "uint16": "int32", "int32": "int32", "uint32": "int64", "int64": "int64",
        "float64": "double", "uuid": "string", "string": "string", "bytes": "binary", "records": "binary",
    }  # fmt: skip
    assert {str(arrow_scalar(code)) for code in SCALAR_OPS.values()} == {str(kind) for kind in SPARK_TYPES}


def test_every_message_has_a_spark_schema():
    for name, message in catalog().messages.items():
        for version in {message.valid_versions.lowest, message.valid_versions.highest}:
            ddl = spark_ddl(kwire.arrow_schema(name, version, errors="column"))
            assert ddl.endswith("`error` STRING, `error_offset` BIGINT, `error_path` STRING")


def test_ddl():
    fields = ("topics.name", "topics.topic_id", "topics.partitions.replica_nodes", "throttle_time_ms")
    assert spark_ddl(kwire.arrow_schema("MetadataResponse", 12, fields)) == (
        "`message_index` INT, `topics.name` STRING, `topics.topic_id` STRING, `topics.partitions.replica_nodes` ARRAY<INT>, "
        "`throttle_time_ms` INT"
    )
    assert spark_ddl(kwire.arrow_schema("ApiVersionsResponse", 0)) == (
        "`error_code` SMALLINT, `api_keys` ARRAY<STRUCT<`api_key`: SMALLINT, `min_version`: SMALLINT, `max_version`: SMALLINT>>"
    )
    with pytest.raises(KeyError):
        spark_type(pa.uint8())


def test_minus_zero_stays_minus_zero(twin):
    # AlterClientQuotas v0: one entry without an entity, one operation: key "k", value -0.0 (sign bit alone), remove; validate_only
    body = bytes.fromhex("00000001 00000000 00000001 0001 6b 8000000000000000 01 00")
    [[entry]] = Codec(catalog(), twin).to_arrow("AlterClientQuotasRequest", [body], 0).column("entries").to_pylist()
    assert math.copysign(1.0, entry["ops"][0]["value"]) == -1.0
