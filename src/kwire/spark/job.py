"""The analysis job: one task a series, the sums put together on the driver, the folder published at the end.

It only schedules: rows come from `kwire.tables`, answers from `kwire.analysis`. Payloads never cross between the JVM and Python, because
each task opens its files and writes its rows itself; what comes back through Spark is one small binary value a series.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

import kwire
from kwire.analysis import Options, finish, merge
from kwire.analysis.owners import NOBODY, read_owners
from kwire.analysis.redaction import Redaction, Redactor
from kwire.capture.inputs import CaptureFile, MissingInput, expand_inputs
from kwire.capture.piece_kinds import kind_of
from kwire.capture.request_log_times import zone_of
from kwire.capture.series import Series, group_series
from kwire.errors import InputError, KwireError
from kwire.spark.output import OutputFolder, PartWriter, progress_file
from kwire.spark.series_task import SeriesResult, SeriesTask, run_task
from kwire.spark.session import open_session
from kwire.tables import SCHEMAS
from kwire.tables.series import begin_series, skip_piece

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["JobReport", "JobRequest", "run_job"]

_POLL_SECONDS: Final = 0.2
_QUICK_LOOK: Final = 8
_DRIVER_PART: Final = "part-driver.parquet"

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """What to analyse and where to.

    Attributes:
        inputs: files, folders, globs, URIs.
        out: the output folder, path or URI.
        master: a Spark master, None for the default.
        ports: where brokers listen; empty to find them out.
        target_releases: empty for the default targets.
        broker_release: of the observed brokers, where no ApiVersions response tells.
        series_rule: which files belong together (`kwire.capture.series.group_series`).
        overwrite: an earlier analysis in `out` may be replaced.
        log_zone: time zone of request logs, None for UTC.
        owners: path of the file that says who answers for which clients, None without one.
        redaction: what to hash in all that is written, None for nothing.
    """

    inputs: tuple[str, ...]
    out: str
    master: str | None = None
    ports: tuple[int, ...] = ()
    target_releases: tuple[str, ...] = ()
    broker_release: str | None = None
    series_rule: str = "name"
    overwrite: bool = False
    log_zone: str | None = None
    owners: str | None = None
    redaction: Redaction | None = None


@dataclass(slots=True)
class JobReport:
    """What became of it.

    Attributes:
        out: the folder as given.
        read: how many files were read.
        skipped: what could not be read, each with the reason.
        warnings: sentences on the order of files.
        requests: rows in table `requests`.
    """

    out: str
    read: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    requests: int = 0


def _quiet(_what: str, _done: int, _total: int) -> None:
    return


def _redaction_of(request: JobRequest, series: Sequence[Series]) -> Redaction | None:
    """What is asked for, and the names of files that a sentence may have."""
    if request.redaction is None:
        return None
    files = (file.location for each in series for file in each.pieces)
    return replace(request.redaction, files=tuple(sorted({*files, *request.inputs, *(each.name for each in series)} - {""})))


def _tasks(request: JobRequest, series: Sequence[Series], out: str, redaction: Redaction | None) -> list[SeriesTask]:
    folder = str(Path.cwd())
    return [
        SeriesTask(
            number,
            each.name,
            tuple(file.location for file in each.pieces),
            each.disorder,
            request.ports,
            out,
            folder,
            request.log_zone,
            redaction,
        )
        for number, each in enumerate(series)
    ]


@contextmanager
def _watching(tasks: Sequence[SeriesTask], total: int, progress: Progress) -> Iterator[None]:
    """Tell how many bytes the tasks have read, while they run."""
    files = [file for task in tasks if (file := progress_file(task.out, task.number)) is not None]
    over = threading.Event()

    def count(file: Path) -> int:
        try:
            return int(file.read_text() or 0)
        except (OSError, ValueError):  # not begun, or being written
            return 0

    def watch() -> None:
        while not over.wait(_POLL_SECONDS):
            progress("Reading captures", min(sum(map(count, files)), total), total)

    watcher = threading.Thread(target=watch, name="kwire-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _run_on(spark: SparkSession, tasks: Sequence[SeriesTask]) -> list[SeriesResult]:
    """One row and one partition a series; works on Spark Connect too, which has no RDDs."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions

    # PySpark's stubs lack it. Unlike mapInArrow it needs no pandas on the driver.
    arrow_udf: Any = functions.arrow_udf  # type: ignore[attr-defined]

    def read(numbers: pa.Array) -> pa.Array:  # type: ignore[type-arg]
        found = [run_task(tasks[number.as_py()]).to_bytes() for number in numbers]
        return pa.array(found, pa.binary())

    frame = spark.range(0, len(tasks), 1, len(tasks)).select(arrow_udf(read, "binary")(functions.col("id")).alias("result"))
    try:
        found = [SeriesResult.from_bytes(bytes(row.result)) for row in frame.collect()]
    except PySparkException as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise KwireError(f"The Spark job failed: {lines[-1] if lines else type(error).__name__}") from error
    return sorted(found, key=lambda result: result.number)


def _check_some_readable(files: Sequence[CaptureFile]) -> None:
    """Say at once that nothing can be read, where that is quick to see; the job would find out, after Spark has started.

    Raises:
        InputError: none of a few files is a capture or a request log.
    """
    if len(files) > _QUICK_LOOK:
        return
    faults = []
    for file in files:
        try:
            kind_of(file.location)
            return
        except InputError as error:
            faults.append(error)
    raise _none_readable([str(fault) for fault in faults])


def _none_readable(reasons: Sequence[str]) -> InputError:
    if len(reasons) == 1:
        return InputError(reasons[0])
    return InputError(f"none of the {len(reasons)} files can be read; the first: {reasons[0]}")


def _gather(results: Sequence[SeriesResult], report: JobReport) -> list[str]:
    """Take over what the tasks say; gives the parts that they wrote.

    Raises:
        InputError: a task could not write, or no file could be read.
    """
    for result in results:
        if result.fault:
            raise InputError(result.fault)
        report.read += result.read
        report.skipped += result.skipped
    if not report.read:
        raise _none_readable([reason for _, reason in report.skipped])
    return [part for result in results for part in result.parts]


def _manifest(request: JobRequest, captures: pa.Table) -> dict[str, Any]:
    """What the folder was made from: enough to tell whether the same input would give the same tables."""
    columns = ("capture", "series", "sha256", "packets")
    return {
        "version": kwire.__version__,
        "backend": kwire.backend,
        "inputs": list(request.inputs),
        "ports": list(request.ports),
        "series_rule": request.series_rule,
        "target_releases": list(request.target_releases),
        "broker_release": request.broker_release,
        "log_zone": request.log_zone,
        "captures": captures.select(columns).to_pylist(),
    }


def _write_table(out: str, table: str, rows: pa.Table) -> str:
    with PartWriter(out, table, _DRIVER_PART, SCHEMAS[table]) as part:
        for batch in rows.to_batches():
            part.write(batch)
    return f"{table}/{_DRIVER_PART}"


def _missing_rows(missing: Sequence[MissingInput]) -> pa.Table:
    carry = begin_series("")
    batches = [batch for each in missing for batch in skip_piece(each.argument, carry, InputError(each.reason))["violations"]]
    return pa.Table.from_batches(batches, schema=SCHEMAS["violations"])


def run_job(request: JobRequest, *, progress: Progress = _quiet, page: Callable[[str], object] | None = None) -> JobReport:
    """Analyse captures into an output folder.

    Args:
        request: what to analyse and where to.
        progress: told what is going on, and how many of how many bytes are read (0 of 0 where that cannot be said).
        page: called with the folder when the tables are there, before it is marked complete.

    Raises:
        InputError: nothing can be read, the folder exists or cannot be written, there is no Spark or no Java. Nothing is left of the run
            then that looks complete.
    """
    owners = NOBODY if request.owners is None else read_owners(request.owners)
    options = Options(target_releases=request.target_releases, broker_release=request.broker_release, owners=owners)
    options.check()
    zone_of(request.log_zone)
    files, missing = expand_inputs(request.inputs)
    series = group_series(files, request.series_rule)
    _check_some_readable(files)
    folder = OutputFolder(request.out, tuple(SCHEMAS))
    report = JobReport(request.out, skipped=[(each.argument, each.reason) for each in missing])
    report.warnings = [each.disorder for each in series if each.disorder]
    with folder.writing(overwrite=request.overwrite):
        redaction = _redaction_of(request, series)
        redactor = None if redaction is None else Redactor(redaction)
        tasks = _tasks(request, series, folder.location, redaction)
        progress("Starting Spark", 0, 0)
        with open_session(request.master) as spark, _watching(tasks, sum(file.size for file in files), progress):
            results = _run_on(spark, tasks)
        progress("Putting the answers together", 0, 0)
        parts = _gather(results, report)
        answers = finish(merge(result.partial for result in results), options)
        manifest = _manifest(request, answers["captures"])
        if missing:
            answers["violations"] = _missing_rows(missing)
        if redactor is not None:
            answers, manifest = redactor.tables(answers), redactor.manifest(manifest)
        parts += [_write_table(folder.location, table, rows) for table, rows in answers.items()]
        written = {part.partition("/")[0] for part in parts}
        parts += [_write_table(folder.location, table, schema.empty_table()) for table, schema in SCHEMAS.items() if table not in written]
        report.requests = pc.sum(answers["captures"]["requests"]).as_py() or 0
        folder.publish(manifest, parts)
        page_is_whole = False
        try:
            if page is not None:
                progress("Making the page", 0, 0)
                page(request.out)
            page_is_whole = True
        finally:
            if not page_is_whole:
                folder.remove_page()
            folder.complete()  # the tables are whole, with or without the page, and the page can be made again
    return report
