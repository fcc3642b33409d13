"""Column functions on Kafka's bytes in binary columns of Spark.

They are Arrow functions from Spark 4.1 on, and pandas functions before (`kwire.spark.pandas_functions`). All work in Spark Connect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from kwire.codec.arrow_types import spark_ddl, spark_type
from kwire.errors import InputError
from kwire.schema import catalog
from kwire.spark.body_types import NO_BODY, BodyType, body_type
from kwire.spark.frame_structs import RequestStruct, ResponseStruct
from kwire.spark.frame_sums import FrameSums, frames_to_rows
from kwire.spark.metric_arrays import MetricArrays
from kwire.spark.offset_structs import OffsetStructs
from kwire.spark.pandas_functions import hinted, pandas_function
from kwire.spark.reading_options import paths_of, reading_options
from kwire.spark.record_arrays import RecordArrays
from kwire.spark.request_frames import RequestFrames

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = [
    "from_consumer_offsets", "from_kafka_request", "from_kafka_response", "from_otlp", "from_record_batch", "map_frames", "register",
    "to_kafka_request",
]  # fmt: skip

_PLAIN: Final = re.compile(r"[\w.`]+")


def _function(make: Any, name: str) -> Any:
    try:
        from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined,unused-ignore] # exported by a star only
    except ImportError:
        try:
            return pandas_function(make, name)
        except ImportError as error:
            raise InputError(
                "Column functions need Spark 4.1 or newer, or Spark 3.5 with pandas: run pip install 'kwire[spark]' or pip install pandas."
            ) from error
    # hints as text: a worker without pyarrow reaches the sentence of `kwire.spark`, not the pickle of a class
    return arrow_udf(hinted(make, make.takes, name, "pa.Array", "pa.Array"), spark_type(make.type))


def _called(name: str, make: Any, *columns: Column | str, of_bytes: int = 1) -> Column:
    """Call the function; the result is null where the first `of_bytes` columns, which must be binary, are null."""
    from pyspark.sql import functions

    given = [functions.col(each) if isinstance(each, str) else each for each in columns]
    # A branch that is never taken: the analyzer refuses other types than BINARY in it, and the optimizer removes it.
    checked = [functions.when(functions.lit(False) & (functions.bitmap_count(each) > 0), None).otherwise(each) for each in given[:of_bytes]]
    made: Column = _function(make, name)(*checked, *given[of_bytes:])
    if not hasattr(functions, "arrow_udf") and pa.types.is_struct(make.type):
        made = functions.when(functions.coalesce(*given[:of_bytes]).isNotNull(), made)
    names = [str(each)[8:-2] for each in given]  # Column<'name'>
    return made.alias(f"{name}({', '.join(names)})") if all(map(_PLAIN.fullmatch, names)) else made


def _body(function: str, body: str | None, message: str | None, version: int | None, fields: str | Iterable[str] | None) -> BodyType:
    if body not in (None, "none"):
        raise InputError(f"{function} takes body='none' or, for the type of the body, message and version; not body={body!r}.")
    if body is not None and message is not None:
        raise InputError(f"{function} reads no body with body='none': remove message.")
    found = body_type(message, version, fields, function.rpartition("_")[2], function)
    return found if body is None else NO_BODY


def from_kafka_request(
    col: Column | str,
    options: Mapping[str, str] | None = None,
    *,
    message: str | None = None,
    version: int | None = None,
    fields: str | Iterable[str] | None = None,
    body: str | None = None,
    framed: bool = False,
) -> Column:
    """Convert request frames to structs of `api_key`, `api_version`, `message`, `correlation_id`, `client_id`, `body` and faults.

    Args:
        col: binary column of frames, header and body, without the 4-byte length; a null gives a null.
        options: `mode` (`PERMISSIVE`, the default, or `FAILFAST`) and `columnNameOfCorruptRecord`, the name of an additional field with the
            bytes of an invalid frame. `error`, `error_offset` (in the frame) and `error_path` name the broken rule and its place.
        message: name of the message in `body`, which is null for other frames; without a name, `body` is the text of Kafka's own JSON.
        version: version of that message; it sets the type of `body` (`kwire.spark.ddl`). None reads all versions: fields that a version
            lacks are null.
        fields: fields of the message, such as ``topics.name``: a sequence, or one text with commas.
        body: ``none`` reads headers only, into structs without `body`.
        framed: frames begin with their 4-byte length; `error_offset` counts behind it.

    Raises:
        InputError: no such option or mode, a message that is not a request, or neither Spark 4.1 nor pandas is installed.
        KwireError: no such message, version or field.
    """
    read = reading_options(options, "from_kafka_request")
    kind = _body("from_kafka_request", body, message, version, fields)
    return _called("from_kafka_request", RequestStruct(kind, read, framed), col)


def from_kafka_response(
    col: Column | str,
    api_key: Column | str | int,
    api_version: Column | str | int,
    options: Mapping[str, str] | None = None,
    *,
    message: str | None = None,
    version: int | None = None,
    fields: str | Iterable[str] | None = None,
    body: str | None = None,
    framed: bool = False,
) -> Column:
    """Convert response frames to structs of `api_key`, `api_version`, `message`, `correlation_id`, `body` and faults.

    `api_version` of the struct is the version of the body: 0 where a broker refused the version of an ApiVersions request (KIP-511).

    Args:
        col: as for `from_kafka_request`.
        api_key: API key of the request, a column or one number for all rows.
        api_version: API version of the request, a column or one number for all rows.
        options: as for `from_kafka_request`.
        message: as for `from_kafka_request`.
        version: as for `from_kafka_request`.
        fields: as for `from_kafka_request`.
        body: as for `from_kafka_request`.
        framed: as for `from_kafka_request`.

    Raises:
        InputError, KwireError: as for `from_kafka_request`.
    """
    read = reading_options(options, "from_kafka_response")
    kind = _body("from_kafka_response", body, message, version, fields)
    return _called("from_kafka_response", ResponseStruct(kind, read, framed), col, _number(api_key), _number(api_version))


def to_kafka_request(col: Column | str) -> Column:
    """Convert structs to request frames, without the 4-byte length: the reverse of `from_kafka_request`.

    Args:
        col: struct with `api_key`, `api_version`, `body`, and `correlation_id` and `client_id` if they are not 0 and null; others are
            ignored. `body` is a struct, whose missing fields have their defaults, or Kafka's JSON. A null, or a null body, gives a null.

    Raises:
        InputError: neither Spark 4.1 nor pandas is installed.
    """
    return _called("to_kafka_request", RequestFrames(), col, of_bytes=0)


def _number(given: Column | str | int) -> Column | str:
    if not isinstance(given, int):
        return given
    from pyspark.sql.functions import lit

    return lit(given)


def from_record_batch(col: Column | str, options: Mapping[str, str] | None = None) -> Column:
    """Convert record batches to arrays of records: `batch`, `offset`, `timestamp` (ms), `key`, `value`, `headers` and fields of the batch.

    Args:
        col: binary column of batches, one after another, as in Produce, Fetch and segment files; a null gives a null.
        options: `mode`: PERMISSIVE, the default, returns one element of nulls for an unreadable batch, with the reason in `error`.

    Raises:
        InputError: no such option or mode, or neither Spark 4.1 nor pandas is installed.
    """
    read = reading_options(options, "from_record_batch", keeps=False)
    return _called("from_record_batch", RecordArrays(read), col)


def from_consumer_offsets(key: Column | str, value: Column | str, options: Mapping[str, str] | None = None) -> Column:
    """Convert records of `__consumer_offsets` to structs: classic groups and offsets, KIP-848, share and streams groups.

    `kind` is the kind of record, such as `OffsetCommit` or `ConsumerGroupMemberMetadata`; `group`, `topic`, `partition`, `member_id` and
    `regular_expression` come from the key. `offset_commit`, `group_metadata` and the others hold the value: only the column of its kind is
    not null, and none if `is_tombstone`. `error`, `error_in` (`key` or `value`), `error_offset` and `error_path` describe a fault.

    Args:
        key: binary column of keys, as in Spark's Kafka source.
        value: binary column of values; a null value is a tombstone, and a null key with a null value gives a null.
        options: as for `from_kafka_request`; the corrupt record is a struct of `key` and `value`.

    Raises:
        InputError: no such option or mode, or neither Spark 4.1 nor pandas is installed.
    """
    read = reading_options(options, "from_consumer_offsets")
    return _called("from_consumer_offsets", OffsetStructs(read), key, value, of_bytes=2)


def from_otlp(col: Column | str, compression: Column | str | int = 0, options: Mapping[str, str] | None = None) -> Column:
    """Convert metrics that clients push (KIP-714) to arrays of points, named as in `kwire.protocol.telemetry.decode_metrics`.

    `value` is a DOUBLE, `attributes` and `resource` are maps of texts, `buckets` is JSON.

    Args:
        col: binary column of the field `metrics` of PushTelemetry requests; a null gives a null.
        compression: the field `compression_type`: a column, or a number for all rows (0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd).
        options: `mode`: PERMISSIVE, the default, returns one element of nulls for an unreadable payload, with the reason in `error`.

    Raises:
        InputError: no such option or mode, or neither Spark 4.1 nor pandas is installed.
    """
    read = reading_options(options, "from_otlp", keeps=False)
    return _called("from_otlp", MetricArrays(read), col, _number(compression))


def map_frames(
    df: DataFrame,
    col: str,
    message: str | None = None,
    version: int | None = None,
    fields: str | Iterable[str] | None = None,
    *,
    keep: str | Iterable[str] | None = None,
    bodies: bool = False,
    api_key: str | None = None,
    api_version: str | None = None,
    columns: str | Iterable[str] | None = None,
    aggregate: str | Iterable[str] | None = None,
    framed: bool = False,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """Map the rows of a DataFrame with a column of frames to typed columns in bulk, by `mapInArrow` (Spark 3.5 and newer).

    Without `message` a request frame becomes `api_key`, `api_version`, `correlation_id`, `client_id` and `error`. With one, frames become
    the columns of `kwire.to_arrow` with `error`, `error_offset` and `error_path`: one row for each element of the arrays that `fields` lead
    into, as for `explode_outer`. Frames of another message or version are dropped. Responses and bodies do not hold their API key and
    version: without `api_key` and `api_version`, all are read as that message.

    Args:
        df: DataFrame with a binary column of frames.
        col: name of that column.
        message: as for `from_kafka_request`; also messages that are neither request nor response.
        version: version of that message. None reads all versions: the columns are those of any version, null where a version lacks them,
            after `api_version`.
        fields: as for `from_kafka_request`.
        keep: columns of `df` to copy into each row of a frame, a sequence or one text with commas; by default all but `col`, none with
            `aggregate`. Reading all versions, `api_version` is replaced.
        bodies: the column holds bodies without their headers.
        api_key: name of the column with the API keys of responses or bodies.
        api_version: name of the column with their versions.
        columns: new columns to return, a sequence or one text with commas: each costs Spark time. Headers also have
            `frame_length`, `header_version` and `body_offset` (`kwire.codec.header_scan.HEADER_TYPES`).
        aggregate: sums made in the workers, such as ``count, sum(frame_length)``: `count`, and `sum`, `min` and `max` of integer columns.
            The result has a row for each group of equal `columns` and `keep`, and a column for each sum, named as given. By default the
            groups of headers are those of `api_key`, `api_version`, `client_id` and `error`.
        framed: as for `from_kafka_request`; bodies may begin with their lengths too.
        options: `mode`, DROPMALFORMED too, and `columnNameOfCorruptRecord`.

    Raises:
        InputError: no such column, option or mode; a duplicate column; an invalid sum.
        KwireError: no such message, version or field.
    """
    from pyspark.sql import functions
    from pyspark.sql.types import BinaryType, StructType

    read = reading_options(options, "map_frames", drops=True)
    body = body_type(message, version, fields, None, "map_frames")
    held = {field.name: field for field in df.schema}
    if (given := held.get(col)) is not None and not isinstance(given.dataType, BinaryType):
        raise InputError(f"map_frames takes a BINARY column; {col!r} is of type {given.dataType.simpleString().upper()}.")
    kept = paths_of(keep)
    if kept is None:
        replaced = api_version if version is None else None
        kept = tuple(name for name in held if name not in (col, replaced) and aggregate is None)
    rows = frames_to_rows(col, kept, body, read, not bodies, paths_of(columns), aggregate, api_key, api_version, framed)
    used = [name for name in (*kept, col, api_key, api_version) if name is not None]
    if missing := [name for name in used if name not in held]:
        raise InputError(f"map_frames finds no column {missing[0]!r} in the DataFrame; it has {', '.join(held)}.")
    if twice := [name for name in rows.schema.names if name in kept]:
        raise InputError(f"map_frames creates a column {twice[0]!r} that the DataFrame has too: remove it from keep, or rename it.")
    made = _struct_type(rows.schema)
    needed = df.select(*(f"`{name}`" for name in dict.fromkeys(used)))
    mapped = needed.mapInArrow(rows, StructType([*(held[name] for name in kept), *made.fields]))
    if not isinstance(rows, FrameSums):
        return mapped
    sums = [getattr(functions, each.merged)(f"`{each.name}`").alias(each.name) for each in rows.aggregates]
    return mapped.groupBy(*(f"`{name}`" for name in rows.groups)).agg(*sums)


def _struct_type(schema: pa.Schema) -> StructType:
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import DataType, StructType

    # Spark 4.0 brought fromDDL, which needs no session
    made = DataType.fromDDL(spark_ddl(schema)) if hasattr(DataType, "fromDDL") else from_arrow_schema(schema)
    assert isinstance(made, StructType)
    return made


_IN_SQL: Final[dict[str, Any]] = {
    "from_kafka_request": RequestStruct,
    "from_kafka_response": ResponseStruct,
    "from_record_batch": RecordArrays,
    "from_consumer_offsets": OffsetStructs,
    "from_otlp": MetricArrays,
    "to_kafka_request": RequestFrames,
}


def register(
    spark: SparkSession,
    name: str | None = None,
    *,
    message: str | None = None,
    version: int | None = None,
    fields: str | Iterable[str] | None = None,
    options: Mapping[str, str] | None = None,
) -> None:
    """Register the functions in the SQL of a session under their names and with their defaults, or one with typed bodies.

    Args:
        spark: the session, of Spark Connect too.
        name: name of a function for frames of one message, such as ``heartbeats``; by default all functions are registered.
        message: request or response that it reads, as for `from_kafka_request`; it needs a name.
        version: as for `from_kafka_request`.
        fields: as for `from_kafka_request`.
        options: as for `from_kafka_request`.

    Raises:
        InputError: a name without a message or a message without a name; as for `from_kafka_request`.
        KwireError: no such message, version or field.
    """
    if name is None and message is None and (version, fields, options) == (None, None, None):
        for each, make in _IN_SQL.items():
            spark.udf.register(each, _function(make(), each))
        return
    if name is None or message is None:
        raise InputError("register needs name and message together; version, fields and options need both.")
    kind = str(catalog()[message].kind)
    if kind not in ("request", "response"):
        raise InputError(f"register takes the name of a request or response, which {message} is not.")
    body = body_type(message, version, fields, kind, "register")
    typed = RequestStruct if kind == "request" else ResponseStruct
    spark.udf.register(name, _function(typed(body, reading_options(options, name)), name))
