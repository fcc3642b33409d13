"""Columns of the data source and of its queries."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kwire.codec.arrow_types import spark_type
from kwire.errors import InputError
from kwire.spark.source.message_rows import frame_rows
from kwire.spark.source.options import SourceOptions
from kwire.tables.column_comments import commented_ddl
from kwire.tables.schemas import MESSAGE_EVIDENCE, SCHEMAS

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["chosen_schema", "in_schema", "output_columns", "row_schema", "schema_ddl"]


def row_schema(options: SourceOptions) -> pa.Schema:
    if options.frames is not None:
        from kwire.spark.source.file_rows import frame_schema

        return frame_schema(options)
    if not options.reads_messages:
        return SCHEMAS[options.table]
    made = frame_rows(options).schema
    if twice := [name for name in made.names if made.names.count(name) > 1 or name in MESSAGE_EVIDENCE.names]:
        raise InputError(f"The option columnNameOfCorruptRecord names the column {twice[0]}, which exists already.")
    return pa.schema([*MESSAGE_EVIDENCE, *made])


def schema_ddl(options: SourceOptions) -> str:
    """Return the columns of a query without a user's schema, as Spark's DDL."""
    return commented_ddl(chosen_schema(options))


def chosen_schema(options: SourceOptions) -> pa.Schema:
    """Return the columns of a query without a user's schema."""
    whole = row_schema(options)
    names = whole.names if options.columns is None or options.frames is not None else options.columns
    _check_names(names, whole)
    return whole if names == whole.names else pa.schema([whole.field(name) for name in names])


def in_schema(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the columns of a query, with the schema exactly as declared by Spark."""
    return pa.RecordBatch.from_arrays([rows.column(name) for name in schema.names], schema=schema)


def output_columns(options: SourceOptions, given: StructType) -> pa.Schema:
    """Check the requested schema: the schema of the source, or a user's own with some of its columns in any order."""
    from pyspark.sql.pandas.types import to_arrow_schema

    # until Spark 4.0 times are always in UTC there
    in_utc: dict[str, Any] = {"timezone": "UTC"} if "timezone" in inspect.signature(to_arrow_schema).parameters else {}
    wanted = to_arrow_schema(given, **in_utc)
    whole = row_schema(options)
    _check_names(wanted.names, whole)
    for field in wanted:
        known = whole.field(field.name).type
        if not field.type.equals(known):
            raise InputError(
                f"The kwire data source gives the column {field.name} as {spark_type(known)}, but the schema has another type."
            )
        if not field.nullable:
            raise InputError(f"The column {field.name} of the kwire data source may be null, but the schema has NOT NULL.")
    return wanted


def _check_names(names: Sequence[str], whole: pa.Schema) -> None:
    for name in names:
        if name not in whole.names:
            raise InputError(f"The kwire data source has no column {name!r} here; its columns are {', '.join(whole.names)}.")
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"The schema for the kwire data source has the column {twice[0]} twice.")
