"""Tables of an analysis in a Spark catalog: registered in place, or copied into tables managed by the catalog.

| Catalog | Without `partition_by` | With it |
|---|---|---|
| Spark's own (Hive, Glue, in memory) | an external table, partitioned by `date` if the folder is | a managed Parquet table, partitioned by
`date` |
| Delta, Iceberg | a managed table | a managed table, partitioned by `date` |

A managed table is overwritten as a whole each time, because appending to an analysis changes the rows of connections that were open. Delta
and Iceberg do so in one step and keep the history.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kwire.errors import InputError
from kwire.runs.output import MANIFEST, SUCCESS
from kwire.runs.parts import ROWS, output_place
from kwire.tables.column_comments import commented_ddl
from kwire.tables.dates import BEGINS, DATE
from kwire.tables.schemas import SCHEMAS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["DATED", "register_tables"]

DATED: Final[dict[str, tuple[str, ...]]] = {**BEGINS, "group_events": ("time",), "client_hourly": ("hour",)}
"""Tables partitioned by date, with the columns of the time; the first one that is not null gives the date (UTC)."""

_DATE_COMMENT: Final = "day of the row [UTC]"
_DATE_COLUMN: Final = f", `date` DATE COMMENT '{_DATE_COMMENT}'"
_KEYS: Final = frozenset(("TINYINT", "SMALLINT", "INT", "BIGINT", "STRING", "BOOLEAN"))  # types of `partition_by` of a conversion
_FOLDER: Final = "kwire.folder"
_DAY_US: Final = 86_400_000_000
_OVERWRITE_MODE: Final = "spark.sql.sources.partitionOverwriteMode"


def register_tables(spark: SparkSession, out: str, namespace: str, partition_by: str | None = None) -> list[str]:
    """Register the tables of an analysis in the session's catalog, or update those of an earlier run of the same folder.

    Args:
        spark: the session.
        out: output folder of the analysis or of `kwire.spark.convert`, path or URI.
        namespace: database or schema, `db` or `catalog.db`; created if missing. For `convert`, the name of its table, `db.table` or
            `catalog.db.table`, which is partitioned as the folder.
        partition_by: `date` to copy the rows into tables partitioned by day (UTC); None to register the tables in place.

    Returns:
        Names of the tables.

    Raises:
        InputError: the folder has no complete analysis, or a table of that name belongs to another folder.
    """
    if partition_by not in (None, "date"):
        raise InputError(f"tables can be partitioned by date, not by {partition_by}")
    location = _location(out)
    manifest = _manifest(out)
    if ROWS in manifest.get("parts", {}):
        if partition_by is not None:
            raise InputError("partition_by is for tables of an analysis; kwire.spark.convert divides its rows by its own partition_by")
        _register_rows(spark, location, namespace, manifest)
        return [namespace]
    provider = _provider(spark, namespace)
    quoted = _quoted(namespace)
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {quoted}")
    names = [f"{quoted}.`{table}`" for table in SCHEMAS]
    there = {name for name in names if spark.catalog.tableExists(name)}
    for name in sorted(there):  # before anything is changed
        _check_ours(spark, name, location)
    for table, name in zip(SCHEMAS, names, strict=True):
        dated = partition_by is not None and table in DATED
        if provider == "parquet" and partition_by is None:
            by_date = _is_by_date(out, table)
            columns = commented_ddl(SCHEMAS[table]) + _DATE_COLUMN if by_date else commented_ddl(SCHEMAS[table])
            _in_place(spark, name, name in there, columns, DATE if by_date else None, location, f"{location}/{table}")
            continue
        rows = _rows(spark, f"{location}/{table}", table, dated)
        _copied(spark, name, name in there, provider, rows, DATE if dated else None, location)
    return [f"{namespace}.{table}" for table in SCHEMAS]


def _register_rows(spark: SparkSession, location: str, table: str, manifest: Mapping[str, Any]) -> None:
    """Register the table of a conversion, whose columns Spark finds in the files."""
    namespace, _, _ = table.rpartition(".")
    name = _quoted(table)
    if namespace:
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {_quoted(namespace)}")
    there = spark.catalog.tableExists(name)
    if there:
        _check_ours(spark, name, location)
    by = manifest.get("partition_by")
    kinds = dict(spark.read.parquet(location).dtypes)
    if by is not None:  # Spark guesses its type from the names of folders
        kinds[by] = next((each["type"] for each in manifest["columns"] if each["name"] == by and each["type"] in _KEYS), "DATE")
    columns = ", ".join(f"{_name(column)} {kind}" for column, kind in kinds.items())
    provider = _provider(spark, namespace)
    if provider != "parquet":
        _copied(spark, name, there, provider, spark.read.schema(columns).parquet(location), by, location)
        return
    _in_place(spark, name, there, columns, by, location, location)


def _in_place(spark: SparkSession, name: str, there: bool, columns: str, by: str | None, location: str, folder: str) -> None:
    """Create an external table, partitioned by a column if the folder is."""
    if there:
        spark.sql(f"DROP TABLE {name}")  # of an external table the files stay
    spark.sql(f"CREATE TABLE {name} ({columns}) USING parquet{_partitions(by)} LOCATION '{folder}' {_properties(location)}")
    if by is not None:
        spark.sql(f"ALTER TABLE {name} RECOVER PARTITIONS")


def _copied(spark: SparkSession, name: str, there: bool, provider: str, rows: DataFrame, by: str | None, location: str) -> None:
    """Create a managed table, or overwrite its rows."""
    with _viewed(spark, rows, name) as view, _whole_tables(spark):
        if there:
            spark.sql(f"INSERT OVERWRITE {name} SELECT * FROM {view}")
        else:  # in one step, so that no reader finds it empty; comments come with the rows
            spark.sql(f"CREATE TABLE {name} USING {provider}{_partitions(by)} {_properties(location)} AS SELECT * FROM {view}")


def _partitions(by: str | None) -> str:
    return "" if by is None else f" PARTITIONED BY ({_name(by)})"


def _name(text: str) -> str:
    return f"`{text.replace('`', '``')}`"


def _quoted(path: str) -> str:
    return ".".join(map(_name, path.split(".")))


def _manifest(out: str) -> dict[str, Any]:
    filesystem, path = output_place(out)
    with filesystem.open_input_stream(f"{path}/{MANIFEST}", compression=None) as file:
        found = json.loads(file.read())
    return found if isinstance(found, dict) else {}


def _location(out: str) -> str:
    from pyarrow.fs import FileType

    filesystem, path = output_place(out)
    if filesystem.get_file_info(f"{path}/{SUCCESS}").type is not FileType.File:
        raise InputError(f"{out} holds no complete analysis; run kwire analyze first.")
    return (out.rstrip("/") if "://" in out else Path(out).absolute().as_uri()).replace("'", "%27")


def _is_by_date(out: str, table: str) -> bool:
    from pyarrow.fs import FileSelector

    filesystem, path = output_place(out)
    return any(info.base_name.startswith(f"{DATE}=") for info in filesystem.get_file_info(FileSelector(f"{path}/{table}")))


def _provider(spark: SparkSession, namespace: str) -> str:
    first = namespace.partition(".")[0]
    catalog = first if "." in namespace and spark.conf.get(f"spark.sql.catalog.{first}", None) else spark.catalog.currentCatalog()
    kind = (spark.conf.get(f"spark.sql.catalog.{catalog}", None) or "").lower()
    return next((each for each in ("iceberg", "delta") if each in kind), "parquet")


def _check_ours(spark: SparkSession, name: str, location: str) -> None:
    found = {row[0]: row[1] for row in spark.sql(f"SHOW TBLPROPERTIES {name}").collect()}
    if found.get(_FOLDER) != location:
        whose = f"of {found[_FOLDER]}" if _FOLDER in found else "not of an analysis"
        raise InputError(f"the table {name.replace('`', '')} is there already and is {whose}; choose another --catalog.")


def _properties(location: str) -> str:
    return f"TBLPROPERTIES ('{_FOLDER}'='{location}')"


def _rows(spark: SparkSession, location: str, table: str, dated: bool) -> DataFrame:
    from pyspark.sql.functions import expr

    # its schema is known: without, Spark runs a job to look into a file; a folder by date has a column of its own, of any type
    rows = spark.read.schema(commented_ddl(SCHEMAS[table])).parquet(location).select(*SCHEMAS[table].names)
    if dated:
        time = f"coalesce({', '.join(DATED[table])})"
        # whatever the session's time zone is
        day = expr(f"date_from_unix_date(CAST(floor(unix_micros({time}) / {_DAY_US}) AS INT))")
        rows = rows.select("*", day.alias(DATE, metadata={"comment": _DATE_COMMENT}))
    return rows


@contextmanager
def _viewed(spark: SparkSession, rows: DataFrame, name: str) -> Iterator[str]:
    view = f"kwire_{abs(hash(name)):x}"
    rows.createOrReplaceTempView(view)
    try:
        yield view
    finally:
        spark.catalog.dropTempView(view)


@contextmanager
def _whole_tables(spark: SparkSession) -> Iterator[None]:
    """Overwrite all partitions, even in a session that overwrites only partitions with new rows."""
    before = spark.conf.get(_OVERWRITE_MODE, None)
    spark.conf.set(_OVERWRITE_MODE, "static")
    try:
        yield
    finally:
        spark.conf.unset(_OVERWRITE_MODE) if before is None else spark.conf.set(_OVERWRITE_MODE, before)
