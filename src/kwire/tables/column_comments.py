"""Descriptions of columns, from their declarations, as field metadata `comment`.

`kwire.tables.schemas.SCHEMAS`, the data source, the Parquet files and the tables of a catalog have them. A test finds columns without a
description.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from kwire.codec.arrow_types import spark_type
from kwire.json_encoding import encode_json
from kwire.protocol.row_columns import REQUEST_COLUMNS
from kwire.tables.columns import CONNECTION_COLUMNS
from kwire.tables.shared_columns import OF_TABLES, SHARED

__all__ = ["COMMENT", "DECLARED", "comment_of", "commented_ddl", "with_comments"]

COMMENT: Final = b"comment"
"""Key of field metadata for the comment of a column, as in Spark."""

DECLARED: Final = {
    "requests": {column.name: column.description for column in REQUEST_COLUMNS},
    "connections": {column.name: column.description for column in CONNECTION_COLUMNS},
}
"""Comments from the declarations of columns, by table; their units are in the sentences."""

_SPARK_SCHEMA: Final = b"org.apache.spark.sql.parquet.row.metadata"


def comment_of(table: str, column: str) -> str:
    declared = DECLARED.get(table, {})
    return declared[column] if column in declared else OF_TABLES.get((table, column)) or SHARED[column].description


def commented_ddl(schema: pa.Schema) -> str:
    """Return a schema as Spark's DDL, with the comments in its metadata."""
    return ", ".join(f"`{field.name}` {spark_type(field.type)}{_ddl_comment(field)}" for field in schema)


def _ddl_comment(field: pa.Field[Any]) -> str:
    comment = (field.metadata or {}).get(COMMENT, b"").decode().replace("\\", "\\\\").replace("'", "\\'")
    return f" COMMENT '{comment}'" if comment else ""


def with_comments(table: str, schema: pa.Schema) -> pa.Schema:
    """Return a schema whose fields carry the comments of a table, with Spark's own form of them for Parquet files."""
    fields = [field.with_metadata({COMMENT: comment_of(table, field.name).encode()}) for field in schema]
    described = [
        {"name": field.name, "type": _spark_json(field.type), "nullable": True, "metadata": {"comment": comment_of(table, field.name)}}
        for field in schema
    ]
    spark = encode_json({"type": "struct", "fields": described})
    return pa.schema(fields, metadata={_SPARK_SCHEMA: spark.encode()})


_SPARK_NAMES: Final[dict[pa.DataType, str]] = {
    pa.bool_(): "boolean", pa.int32(): "integer", pa.int64(): "long", pa.float64(): "double", pa.string(): "string", pa.binary(): "binary",
    pa.timestamp("us", tz="UTC"): "timestamp",
}  # fmt: skip


def _spark_json(kind: Any) -> Any:
    if pa.types.is_map(kind):
        return {"type": "map", "keyType": _spark_json(kind.key_type), "valueType": _spark_json(kind.item_type), "valueContainsNull": True}
    if pa.types.is_list(kind):
        return {"type": "array", "elementType": _spark_json(kind.value_type), "containsNull": True}
    if pa.types.is_struct(kind):
        inner = [kind.field(index) for index in range(kind.num_fields)]
        fields = [{"name": each.name, "type": _spark_json(each.type), "nullable": True, "metadata": {}} for each in inner]
        return {"type": "struct", "fields": fields}
    return _SPARK_NAMES[kind]
