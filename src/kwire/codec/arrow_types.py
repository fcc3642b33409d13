"""Table of Kafka, Arrow and Spark types.

Spark takes neither unsigned integers nor fixed-size or large binary types, so unsigned integers become the next wider signed type, and a
UUID its text (22 characters of base64url, as Kafka writes it). ``records`` fields are the bytes of their batches.

| Kafka | Arrow | Spark |
|---|---|---|
| bool | bool | BOOLEAN |
| int8, int16, int32, int64 | int8, int16, int32, int64 | TINYINT, SMALLINT, INT, BIGINT |
| uint16, uint32 | int32, int64 | INT, BIGINT |
| float64 | double | DOUBLE |
| uuid, string | string | STRING |
| bytes, records | binary | BINARY |
| []T | list<item: T> | ARRAY<T> |
| struct | struct<field: T, ...> | STRUCT<field: T, ...> |
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from kwire.codec.layout import attribute_of
from kwire.codec.plan import SCALAR_OPS, Op
from kwire.schema.model import Message

__all__ = [
    "SPARK_TYPES", "UNKNOWN_TAGS_TYPE", "ArrowArray", "ArrowType", "arrow_scalar", "definition_type", "spark_ddl", "spark_type",
]  # fmt: skip

# pyarrow's stubs have a class per type and per array; code that is generic in them cannot name these.
ArrowArray = Any
ArrowType = Any

_ARROW: Final[dict[int, pa.DataType]] = {
    Op.BOOL: pa.bool_(), Op.INT8: pa.int8(), Op.INT16: pa.int16(), Op.UINT16: pa.int32(), Op.INT32: pa.int32(), Op.UINT32: pa.int64(),
    Op.INT64: pa.int64(), Op.FLOAT64: pa.float64(), Op.UUID: pa.string(), Op.STRING: pa.string(), Op.BYTES: pa.binary(),
}  # fmt: skip

SPARK_TYPES: Final[dict[ArrowType, str]] = {
    pa.bool_(): "BOOLEAN", pa.int8(): "TINYINT", pa.int16(): "SMALLINT", pa.int32(): "INT", pa.int64(): "BIGINT", pa.float64(): "DOUBLE",
    pa.string(): "STRING", pa.binary(): "BINARY",
}  # fmt: skip

_TIME: Final = pa.timestamp("us", tz="UTC")

UNKNOWN_TAGS_TYPE: Final = pa.list_(pa.struct([("tag", pa.int64()), ("value", pa.binary())]))
"""Type of tagged fields that the version does not define: their numbers (32 bits) and their bytes."""


def arrow_scalar(code: int) -> ArrowType:
    """Return the Arrow type of a scalar `Op`."""
    return _ARROW[code]


def definition_type(message: Message, type_name: str) -> ArrowType:
    """Return the Arrow type of a field such as ``[]MetadataResponseTopic``, with the fields of its structs in all versions."""
    if type_name.startswith("[]"):
        return pa.list_(definition_type(message, type_name[2:]))
    if type_name in SCALAR_OPS:
        return _ARROW[SCALAR_OPS[type_name]]
    return pa.struct([(attribute_of(message, field), definition_type(message, field.type)) for field in message.structs[type_name].fields])


def spark_type(kind: ArrowType) -> str:
    """Return an Arrow type as Spark DDL."""
    if pa.types.is_map(kind):
        return f"MAP<{spark_type(kind.key_type)}, {spark_type(kind.item_type)}>"
    if pa.types.is_list(kind):
        return f"ARRAY<{spark_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return (
            f"STRUCT<{', '.join(f'`{kind.field(index).name}`: {spark_type(kind.field(index).type)}' for index in range(kind.num_fields))}>"
        )
    return "TIMESTAMP" if kind == _TIME else SPARK_TYPES[kind]


def spark_ddl(schema: pa.Schema) -> str:
    """Return a schema as Spark DDL, names in backticks for their dots."""
    return ", ".join(f"`{field.name}` {spark_type(field.type)}" for field in schema)
