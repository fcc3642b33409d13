"""Conversion of frames, captures and request logs to a Parquet table.

Each task opens its input, decodes it and writes its part itself: no row passes through the JVM or between processes, and only the names
of parts and counts come back. The output folder is published as that of an analysis (`kwire.runs.output`).
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import kwire
from kwire.capture.tls.session_keys import tls_options
from kwire.codec.arrow_types import spark_type
from kwire.errors import InputError, KwireError
from kwire.files.file_systems import store_options
from kwire.json_encoding import encode_json
from kwire.runs.dated_parts import DatedParts, undivided
from kwire.runs.local_processes import LocalProcesses, processors
from kwire.runs.parts import ROWS
from kwire.runs.store_folder import output_folder
from kwire.runs.workers import run_each
from kwire.spark.reading_options import PERMISSIVE
from kwire.spark.session import choose_engine, open_spark
from kwire.spark.shared_places import check_shared_with
from kwire.spark.shipping import ship_for_job
from kwire.spark.source.file_rows import FileRows
from kwire.spark.source.options import SourceOptions, source_options
from kwire.spark.source.schema import chosen_schema, in_schema, row_schema
from kwire.spark.source.series_rows import SeriesRows
from kwire.spark.task_running import slots_of, workers_of
from kwire.tables.dates import BEGINS, DATE, rows_by_date, rows_by_number
from kwire.tables.schemas import TIME

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["Conversion", "convert"]

MOST_VALUES: Final = 4000
"""Largest number of values of `partition_by` in a task."""

_ESCAPED: Final = re.compile(r"[\x00-\x1f\"#%'*/:=?\\\x7f{\[\]^]")  # as in Hive and Spark
_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_MALFORMED: Final = "malformed"


@dataclass(slots=True)
class Conversion:
    """Result of `convert`.

    Attributes:
        out: output folder, as given.
        engine: engine of the tasks, `local` or `spark`.
        rows: number of rows written.
        errors: number of rows that could not be read, by `error` (of the table `requests` those whose `body` is `malformed`), also if
            they are dropped.
        tasks: number of tasks.
        cpu_seconds: CPU time of all tasks.
        warnings: sentences on executors.
    """

    out: str
    engine: Literal["local", "spark"]
    rows: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    tasks: int = 0
    cpu_seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)


def convert(
    inputs: str | Iterable[str],
    out: str,
    *,
    message: str | None = None,
    version: int | None = None,
    columns: str | Iterable[str] | None = None,
    partition_by: str | None = None,
    spark: SparkSession | SparkContext | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Conversion:
    """Convert frames in Parquet or Arrow files, captures or request logs to a Parquet table, without rows in the JVM.

    The rows are those of ``spark.read.format("kwire")`` with the same options, in `out/part-*.parquet`. `out` looks complete only when all
    rows are written.

    Args:
        inputs: files, folders, globs and URIs.
        out: output folder, path or URI.
        message: message to decode; None for a table of captures, or for request headers of frames.
        version: its version; None for the columns of all versions, if frames are read.
        columns: columns to write, a sequence or one text with commas; None for all.
        partition_by: column whose values become folders, `COLUMN=VALUE/`: integers, text or booleans. `date` is also the day of a row
            with a time (UTC).
        spark: session or context that runs the tasks; None for the active session, else local processes without Java.
        overwrite: replace an earlier table in `out`.
        options: options of the data source, such as ``source="parquet", column="frame", keep="day"`` or ``table="connections"``.

    Raises:
        InputError: a wrong option, nothing can be read, `out` exists or cannot be written, or a row is invalid with ``mode="FAILFAST"``.
            The run leaves no folder that looks complete.
    """
    paths = [inputs] if isinstance(inputs, str) else list(inputs)
    asked = {"message": message, "version": version, "columns": columns, **options}
    given = {name: _text(value) for name, value in asked.items() if value is not None}
    found = source_options({**given, "paths": encode_json(paths)}, strict=True)
    with store_options(found.store), tls_options(found.tls):
        folder = output_folder(out, (ROWS,))
        task = _Task.of(found, partition_by, folder.location)
        report = Conversion(out, choose_engine("auto", None) if spark is None else "spark")
        with folder.writing(overwrite=overwrite), _session(report, spark, paths) as session:
            planned: list[tuple[Any, ...]] = task.rows.plan(processors() if session is None else slots_of(session))
            size = sum(part.size // part.share[1] for parts in planned for part in parts)
            workers = workers_of(LocalProcesses.for_bytes(size) if session is None else session)
            results, report.cpu_seconds = run_each(workers, list(enumerate(planned)), task)
            parts = [part for result in results for part in result.parts] or task.write_empty()
            report.tasks, report.rows = len(results), sum(result.rows for result in results)
            report.errors = dict(sum((Counter(result.errors) for result in results), Counter()))
            folder.publish(_manifest(report, task, paths, given), parts)
            folder.complete()
    return report


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (str, int)) else ",".join(map(str, value))


@contextmanager
def _session(
    report: Conversion, spark: SparkSession | SparkContext | None, inputs: Sequence[str]
) -> Iterator[SparkSession | SparkContext | None]:
    if report.engine == "local":
        yield None
        return
    with open_spark(None) if spark is None else nullcontext(spark) as session:
        check_shared_with(session, report.out, inputs)
        report.warnings += ship_for_job(session)
        yield session


def _manifest(report: Conversion, task: _Task, inputs: Sequence[str], options: Mapping[str, str]) -> dict[str, Any]:
    columns = [{"name": each.name, "type": spark_type(each.type)} for each in task.schema]
    made = {"version": kwire.__version__, "backend": kwire.backend, "inputs": list(inputs), "options": dict(options)}
    return made | {"partition_by": task.by, "columns": columns} | asdict(report)


@dataclass(frozen=True, slots=True)
class _Result:
    parts: list[str]
    rows: int
    errors: Counter[str]


@dataclass(frozen=True, slots=True)
class _Task:
    """Work of all tasks; its input is a number and what to read.

    Attributes:
        rows: reader of rows.
        out: output folder.
        schema: columns to write, the one of `by` included.
        fault: column that is not null (or `malformed`) for a row that could not be read; None for none.
        by: column of the folders, or `date`; None for no folders.
        drops: whether rows that could not be read are left out.
    """

    rows: FileRows | SeriesRows
    out: str
    schema: pa.Schema
    fault: str | None
    by: str | None
    drops: bool

    @classmethod
    def of(cls, options: SourceOptions, by: str | None, out: str) -> _Task:
        """Check the options, and add the columns that the task needs."""
        if options.frames is not None and options.frames.aggregate is not None:
            raise InputError("convert writes rows, but aggregate asks for sums of each task: read them with the data source.")
        schema = chosen_schema(options)
        drops = options.reading.drops
        if drops:  # here, so that they are counted
            options = replace(options, reading=options.reading._replace(mode=PERMISSIVE))
        reads_bytes = options.frames is not None or options.reads_messages
        fault = "error" if reads_bytes else "body" if options.table == "requests" else None
        if options.frames is not None and options.columns is not None and "error" not in options.columns:
            options = replace(options, columns=(*options.columns, "error"))
        whole = row_schema(options)
        needed = [*schema.names, *((fault,) if fault is not None else ())]
        if by == DATE and DATE not in schema.names:
            times = ("time",) if reads_bytes else BEGINS.get(options.table, ("time",))
            if not all(name in whole.names and whole.field(name).type == TIME for name in times):
                raise InputError(f"partition_by='{DATE}' needs a column {times[0]} with times, which these rows do not have.")
            needed += times
        elif by is not None:
            _check_column(schema, by)
        read = pa.schema([whole.field(name) for name in dict.fromkeys(needed)])
        rows = SeriesRows(options, read) if options.frames is None else FileRows(options, read)
        return cls(rows, out, schema, fault, by, drops)

    @property
    def _written(self) -> pa.Schema:
        if self.by not in self.schema.names:
            return self.schema
        return pa.schema([each for each in self.schema if each.name != self.by])

    def __call__(self, given: tuple[int, Any]) -> _Result:
        number, parts = given
        result = _Result([], 0, Counter())
        name = f"part-{number:05d}-{secrets.token_hex(4)}"
        count = 0
        try:
            with DatedParts(self.out, result.parts.append, self._divided(), {ROWS: self._written}) as writer:
                for batch in self.rows.read(parts):
                    kept = self._counted(batch, result.errors)
                    count += kept.num_rows
                    writer.write(ROWS, name, kept)
        except InputError:
            raise
        except KwireError as error:  # a fault of the input, so that Spark need not try again
            raise InputError("; ".join([str(error), *getattr(error, "__notes__", ())])) from error
        return replace(result, rows=count)

    def write_empty(self) -> list[str]:
        """Write a part without rows, which has the columns."""
        found: list[str] = []
        folder = "" if self.by is None else f"{self.by}={_NULL}/"
        with DatedParts(self.out, found.append, undivided, {ROWS: self._written}) as writer:
            writer.write(ROWS, f"{folder}part-driver-{secrets.token_hex(4)}", pa.RecordBatch.from_pylist([], schema=self._written))
        return found

    def _counted(self, batch: pa.RecordBatch, errors: Counter[str]) -> pa.RecordBatch:
        if self.fault is None:
            return batch
        found: Any = batch.column(self.fault)
        if self.fault != "error":
            found = pc.if_else(pc.equal(found, pa.scalar(_MALFORMED)), found, pa.scalar(None, pa.string()))
        if found.null_count == len(found):
            return batch
        errors.update({each["values"]: each["counts"] for each in found.drop_null().value_counts().to_pylist()})
        return batch.filter(found.is_null()) if self.drops else batch

    def _divided(self) -> Any:
        if self.by is None:
            return lambda table, batch: undivided(table, self._selected(batch))
        if self.by not in self.schema.names:
            table = self.rows.options.table if self.fault != "error" else ""
            return lambda _, batch: ((folder, self._selected(rows)) for folder, rows in rows_by_date(table, batch))
        return partial(self._by_value, set())

    def _by_value(self, seen: set[str], _table: str, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        assert self.by is not None
        values: Any = pc.dictionary_encode(batch.column(self.by))
        numbers = np.asarray(values.indices.fill_null(-1))
        names = values.dictionary.to_pylist()
        for number, rows in rows_by_number(numbers, batch):
            folder = f"{self.by}={_folder_text(names[number] if number >= 0 else None)}"
            seen.add(folder)
            if len(seen) > MOST_VALUES:
                raise InputError(f"The column {self.by!r} has more than {MOST_VALUES:,} values: choose another one for partition_by.")
            yield folder, self._selected(rows)

    def _selected(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return in_schema(batch, self._written)


def _check_column(schema: pa.Schema, by: str) -> None:
    if by not in schema.names:
        raise InputError(f"partition_by names the column {by!r}, which is not written; choose from {', '.join(schema.names)}.")
    kind = schema.field(by).type
    if not (pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_boolean(kind)):
        raise InputError(f"The column {by!r} holds {kind}; partition_by takes a column of integers, text or booleans.")
    if len(schema) == 1:
        raise InputError(f"partition_by needs a further column beside {by!r}, because the files do not hold that one.")


def _folder_text(value: Any) -> str:
    """Return a value as Hive and Spark write it in the name of a folder."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return _NULL if value is None or not text else _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", text)
