"""The analysis job: tasks read the captures, tasks for buckets of keys finish the tables, and the folder is published at the end.

Tasks run on Spark or in local processes (`kwire.spark.local_processes`), and write the same tables. The job only schedules: `kwire.tables`
makes rows, `kwire.analysis` the results. Each task opens its files and writes its rows and sums, so payloads never cross between the JVM
and Python. The driver collects only facts of the cluster that every task needs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

import kwire
from kwire.analysis import Options, Partial, merge
from kwire.analysis.answers import Cluster, cluster_of
from kwire.analysis.digests import PAGE, wanted_of
from kwire.analysis.digests.storing import final_tables
from kwire.analysis.owners import NO_OWNERS, read_owners
from kwire.analysis.partials import from_bytes
from kwire.analysis.quality import too_little
from kwire.analysis.redaction import Redaction, Redactor
from kwire.analysis.targets import in_manifest
from kwire.capture.files.capture_points import names_in
from kwire.capture.files.inputs import CaptureFile, MissingInput, expand_inputs
from kwire.capture.files.piece_kinds import kind_of
from kwire.capture.files.series import Series, group_series, is_overlap
from kwire.capture.request_logs.times import zone_of
from kwire.errors import InputError
from kwire.files.file_systems import StoreOptions, store_options
from kwire.schema import Release
from kwire.spark.digest_task import KnownRows, digest_rows, known_rows, merged
from kwire.spark.divided_files import whole_files
from kwire.spark.finish_task import Finishing, finish_tables, gathered, write_table
from kwire.spark.late_columns import fill_late, late_facts
from kwire.spark.local_processes import PROCESS_BYTES, Engine, LocalProcesses, choose_engine
from kwire.spark.merging import border_sentences, copy_analysis, given_analyses
from kwire.spark.phase_times import PhaseTimes
from kwire.spark.plan_facts import plan_facts, undivided_sentences
from kwire.spark.planning import Plan, plan_of, still_written
from kwire.spark.read_running import run_reading
from kwire.spark.route_task import RouteResult, large_files, route_tasks
from kwire.spark.series_state import STATE_VERSION, is_state, sums_of_state
from kwire.spark.series_task import SeriesResult
from kwire.spark.session import open_spark
from kwire.spark.shared_places import check_shared, check_shared_with
from kwire.spark.shipping import ship_for_job
from kwire.spark.store_folder import output_folder
from kwire.spark.sums_files import SumsFile, is_sums, read_whole_sums, remove_sums, sums_file
from kwire.spark.task_running import run_each, slots_of, watching
from kwire.tables import SCHEMAS
from kwire.tables.dates import BEGINS, NO_DATE
from kwire.tables.series import begin_series, skip_piece

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["JobReport", "JobRequest", "plan_job", "run_job"]

_QUICK_LOOK: Final = 8

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """Input of an analysis.

    Attributes:
        inputs: files, folders, globs, URIs.
        out: output folder, path or URI.
        engine: engine of the tasks: `local` (local processes, no Java), `spark`, or `auto`
            (`kwire.spark.local_processes.choose_engine`). The tables are the same.
        master: Spark master, None for the default.
        ports: TCP ports of brokers; empty to detect them.
        target_releases: releases and targets to judge; empty for the default targets.
        broker_release: release of the observed brokers, if no ApiVersions response shows it.
        series_rule: rule that groups files (`kwire.capture.files.series.group_series`).
        overwrite: replace an earlier analysis in `out`.
        log_zone: time zone of request logs, None for UTC.
        owners: path of the file with the owners of clients, None without one.
        redaction: values to hash in all outputs, None for none.
        append: add new files to the analysis in `out`.
        merges: `inputs` are folders of analyses to merge; the options that say how captures are read do not apply.
        partition_by: `date` to divide rows with a time by date, `TABLE/date=2026-11-23/part-*` (UTC); None for no division. region,
            endpoint: region and endpoint of the object stores of `inputs` and `out` (`kwire.files.file_systems.StoreOptions`).
    """

    inputs: tuple[str, ...]
    out: str
    engine: Engine = "auto"
    master: str | None = None
    ports: tuple[int, ...] = ()
    target_releases: tuple[str | Release, ...] = ()
    broker_release: str | None = None
    series_rule: str = "name"
    overwrite: bool = False
    log_zone: str | None = None
    owners: str | None = None
    redaction: Redaction | None = None
    append: bool = False
    merges: bool = False
    partition_by: Literal["date"] | None = None
    region: str | None = None
    endpoint: str | None = None


@dataclass(slots=True)
class JobReport:
    """Result of an analysis.

    Attributes:
        out: output folder, as given.
        engine: engine of the tasks, `local` or `spark`.
        read: number of files read.
        skipped: inputs that could not be read, each with the reason.
        warnings: sentences on files.
        requests: rows in table `requests`.
        unread: number of packets of unknown link types.
        thin: reasons, as sentences, why the captures are too incomplete to trust (`kwire.analysis.quality`).
        bytes_read: stored size of the files to read.
        phases: durations by phase.
        cpu_seconds: CPU time of all tasks.
        keeps: whether a later run can append to the analysis.
        plan: division of the captures into tasks (`kwire.spark.plan_facts`).
    """

    out: str
    engine: Engine = "local"
    read: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    requests: int = 0
    unread: int = 0
    thin: list[str] = field(default_factory=list)
    bytes_read: int = 0
    phases: PhaseTimes = field(default_factory=PhaseTimes)
    cpu_seconds: float = 0.0
    keeps: bool = True
    plan: dict[str, Any] = field(default_factory=dict)


def _quiet(_what: str, _done: int, _total: int) -> None:
    return


def _redaction_of(request: JobRequest, series: Sequence[Series]) -> Redaction | None:
    if request.redaction is None:
        return None
    files = (name for each in series for file in each.pieces for name in names_in(file.location))
    return replace(request.redaction, files=tuple(sorted({*files, *request.inputs, *(each.name for each in series)} - {""})))


def _check_some_readable(files: Sequence[CaptureFile]) -> None:
    """Reject unreadable files early if the check is quick; otherwise the job fails only after Spark has started."""
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


def _take_results(results: Sequence[SeriesResult], report: JobReport) -> list[str]:
    """Merge the reports of the tasks; return the parts that they wrote."""
    for result in results:
        report.keeps = report.keeps and result.keeps
        if result.share == 0:  # the tasks of the other shares read the same files
            report.read += result.read
            report.skipped += result.skipped
    return [part for result in results for part in result.parts]


def _manifest(request: JobRequest, report: JobReport, run: int, entries: Sequence[Mapping[str, Any]], captures: pa.Table) -> dict[str, Any]:
    """Return the inputs and options of the analysis, for comparing runs and for appending."""
    columns = ("capture", "series", "sha256", "packets")
    growing = {} if request.redaction or not report.keeps else {"state": STATE_VERSION, "series": entries}
    return {
        "version": kwire.__version__,
        "backend": kwire.backend,
        "run": run,
        "inputs": list(request.inputs),
        "ports": list(request.ports),
        "series_rule": request.series_rule,
        **in_manifest(request.target_releases, redacted=request.redaction is not None),
        "broker_release": request.broker_release,
        "log_zone": request.log_zone,
        "partition_by": request.partition_by,
        "captures": captures.select(columns).to_pylist(),
        "cost": {
            "plan": report.plan,
            "bytes_read": report.bytes_read,
            "task_cpu_seconds": round(report.cpu_seconds, 2),
            "seconds": {phase: round(seconds, 2) for phase, seconds in report.phases.seconds.items()},
        },
        **growing,
    }


def _like(request: JobRequest, manifests: Sequence[Mapping[str, Any]]) -> JobRequest:
    """Fill in the options that all analyses to merge share."""
    if not manifests:
        return request
    targets, release = ({str(each.get(name) or "") for each in manifests} for name in ("target_releases", "broker_release"))
    first = manifests[0]
    if "targets" in first and not request.target_releases:
        raise InputError(f"the analyses judge {targets.pop()}, which is no Kafka release; give its file or broker again with --to")
    return replace(
        request,
        partition_by=first.get("partition_by"),
        target_releases=request.target_releases or (tuple(first["target_releases"]) if len(targets) == 1 else ()),
        broker_release=request.broker_release or (first["broker_release"] if len(release) == 1 else None),
    )


def _driver_parts(location: str, plan: Plan, tables: Mapping[str, pa.Table], parts: Sequence[str], by_date: bool) -> list[str]:
    """Write the driver's tables, and an empty part of each table without one."""
    name = f"part-driver-{plan.run:03d}"
    written = {part.partition("/")[0] for part in (*parts, *plan.kept)} | tables.keys()
    empty = {table: schema.empty_table() for table, schema in SCHEMAS.items() if table not in written}
    names = {table: f"{NO_DATE}/{name}" if by_date and table in BEGINS else name for table in empty}
    return [write_table(location, table, names.get(table, name), rows) for table, rows in (*tables.items(), *empty.items())]


def _missing_rows(missing: Sequence[MissingInput]) -> list[pa.RecordBatch]:
    carry = begin_series("")
    return [batch for each in missing for batch in skip_piece(each.argument, carry, InputError(each.reason))["violations"]]


def _all_sums(results: Sequence[SeriesResult], kept: Sequence[str], location: str) -> tuple[list[SumsFile], Partial]:
    """Return the files with sums of this run and earlier ones, and the sums that are not divided by key."""
    earlier = [sums_file(location, part) for part in kept if is_sums(part)]
    earlier += [file for part in kept if is_state(part) for file in sums_of_state(location, part)]
    files = [*(file for result in results for file in result.sums), *earlier]
    whole = (from_bytes(result.whole) for result in results)
    return files, merge([*whole, *(read_whole_sums(location, file) for file in earlier)])


def _check_same(request: JobRequest, manifest: Mapping[str, Any]) -> None:
    """Reject appending with other ports, file groups, time zone or layout, or with another version of kwire."""
    if (manifest.get("version"), manifest.get("state")) != (kwire.__version__, STATE_VERSION):
        raise InputError(
            f"{request.out} was written by kwire {manifest.get('version')}, which this version cannot append to; use --overwrite."
        )
    if request.redaction is not None:
        raise InputError(
            "--append keeps earlier rows unchanged, so it cannot be used with --redact; redact a copy of the analysis instead."
        )
    for name, option, asked in (
        ("ports", "--port", list(request.ports)),
        ("series_rule", "--group-files", request.series_rule),
        ("log_zone", "--log-zone", request.log_zone),
        ("partition_by", "--partition-by", request.partition_by),
    ):
        if manifest.get(name) != asked:
            before = _shown(manifest.get(name))
            raise InputError(f"{request.out} was made with {option} {before}; use the same, or --overwrite.")
    from kwire.spark.manifest_types import check_manifest  # needs msgspec, as states do

    check_manifest(request.out, manifest)


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) or "left out" if isinstance(value, list) else "left out" if value is None else str(value)


def run_job(
    request: JobRequest,
    *,
    progress: Progress = _quiet,
    page: Callable[[str], object] | None = None,
    chosen: Callable[[Engine, int], object] | None = None,
) -> JobReport:
    """Analyze captures into an output folder.

    Args:
        request: inputs, output folder and options.
        progress: called with the phase, the bytes read and all bytes (0 and 0 if unknown).
        page: called with the folder when the tables are complete, before the folder is marked complete.
        chosen: called with the engine, `local` or `spark`, and the bytes of the captures, before anything is read.

    Raises:
        InputError: nothing can be read, the folder exists or cannot be written, executors cannot reach a file, or Spark or Java is missing.
            The run leaves no folder that looks complete.
    """
    given = StoreOptions(request.region, request.endpoint)
    with store_options(None if given == StoreOptions() else given):
        job = _Job(request, progress)
        with job.folder.writing(overwrite=request.overwrite, append=request.append) as earlier:
            if earlier is not None:
                _check_same(request, earlier)
            if chosen is not None:
                chosen(job.report.engine, job.size)
            with job.engine() as spark:
                job.plan_tasks(slots_of(spark), earlier)
                results = job.copy(spark) if request.merges else job.read(spark)
                if not job.report.read and earlier is None:
                    raise _none_readable([reason for _, reason in job.report.skipped])
                job.finish(spark, results)
            job.publish(results)
            job.write_page(page)
        return job.report


def plan_job(request: JobRequest, slots: int | None = None) -> tuple[JobReport, Plan]:
    """Plan an analysis as `run_job` does for `slots` tasks at once (default: as many as on this machine); write nothing."""
    job = _Job(request, _quiet)
    job.plan_tasks(LocalProcesses.for_bytes(job.size).slots if slots is None else slots, None)
    return job.report, job.plan


class _Job:
    """One run, which plans its tasks, reads the captures, finishes the tables and publishes them."""

    def __init__(self, request: JobRequest, progress: Progress) -> None:
        if request.engine == "local" and request.master is not None:
            raise InputError("--master needs Spark: add --engine spark, or drop --master")
        check_shared(request.master, request.out, request.inputs)
        self._merged = given_analyses(request.inputs) if request.merges else []
        request = _like(request, [each.manifest for each in self._merged])
        self._request, self._progress = request, progress
        self._owners = NO_OWNERS if request.owners is None else read_owners(request.owners)
        self._options = Options(target_releases=request.target_releases, broker_release=request.broker_release, owners=self._owners)
        self._options.check()
        zone_of(request.log_zone)
        files, self._missing = ([], []) if request.merges else expand_inputs(request.inputs)
        self._series = group_series(files, request.series_rule)
        if files:
            _check_some_readable(files)
        self.folder = output_folder(request.out, tuple(SCHEMAS))
        self._sizes = {piece.location: piece.size for each in self._series for piece in each.pieces}
        self.size = sum(self._sizes.values())
        self.report = JobReport(request.out, choose_engine(request.engine, request.master))
        self.report.skipped = [(each.argument, each.reason) for each in self._missing]
        self.report.warnings = [each.disorder for each in self._series if each.disorder]
        self._redaction = _redaction_of(request, self._series)
        self._redactor = None if self._redaction is None else Redactor(self._redaction)
        self._parts: list[str] = []

    @contextmanager
    def engine(self) -> Iterator[SparkSession | SparkContext | LocalProcesses]:
        request, report = self._request, self.report
        if report.engine == "local":
            yield LocalProcesses.for_bytes(self.size)
            report.phases.end("answers")
            return
        self._progress("Starting Spark", 0, 0)
        with open_spark(request.master) as spark:
            check_shared_with(spark, request.out, request.inputs)
            report.phases.end("start_spark")
            report.warnings += ship_for_job(spark)
            yield spark
        report.phases.end("stop_spark")

    def plan_tasks(self, slots: int, earlier: Mapping[str, Any] | None) -> None:
        request, report, sizes = self._request, self.report, self._sizes
        self._slots = slots
        self._known = known_rows(self.folder.location, earlier)
        self.plan = plan = plan_of(self._series, slots, earlier, packing=not is_overlap(request.series_rule))
        model = {
            "ports": request.ports, "out": self.folder.location, "folder": str(Path.cwd()), "log_zone": request.log_zone,
            "redaction": self._redaction, "run": plan.run, "keep_state": self._redaction is None,
            "by_date": request.partition_by is not None,
        }  # fmt: skip
        self._tasks, self._routed = plan.tasks(model)
        report.bytes_read = sum(sizes[location] for each in plan.series for location in each.fresh)
        large = large_files(self._routed, sizes, slots)
        self._whole_files = whole_files((location, sizes[location]) for location, _ in large)
        report.warnings += undivided_sentences(large, self._whole_files)
        self._routes = route_tasks(self._routed, sizes, slots, self._whole_files)
        report.plan = plan_facts(plan, self._routes)

    def read(self, spark: SparkSession | SparkContext | LocalProcesses) -> list[SeriesResult]:
        report, sizes = self.report, self._sizes
        total = sum(sizes[location] for task in self._tasks for location in task.locations)
        total += 2 * sum(sizes[location] for shares in self._routed for location in shares[0].locations)
        asked = time.time()
        with watching(self.folder.location, total, report.bytes_read, self._progress):
            results, routes, report.cpu_seconds = run_reading(
                spark, self._tasks, self._routed, self._routes, sizes, self._slots, self._whole_files
            )
        told: list[RouteResult | SeriesResult] = [*routes, *results]
        first = min((result.began for result in told), default=asked)
        report.phases.end_tasks([result.seconds for result in told], first - asked)
        self._progress("Combining results", 0, 0)
        report.warnings += still_written(self.plan)
        self._parts += _take_results(results, report)
        return results

    def copy(self, spark: SparkSession | SparkContext | LocalProcesses) -> list[SeriesResult]:
        report, location = self.report, self.folder.location
        self._progress("Copying rows", 0, 0)
        results, report.cpu_seconds = run_each(spark, self._merged, partial(copy_analysis, location))
        self._parts += _take_results(results, report)
        report.warnings += border_sentences(self._merged)
        report.phases.end("read")
        return results

    def finish(self, spark: SparkSession | SparkContext | LocalProcesses, results: Sequence[SeriesResult]) -> None:
        report, plan, location = self.report, self.plan, self.folder.location
        sums, whole = _all_sums(results, plan.kept, location)
        cluster = cluster_of(whole, self._options)
        where = LocalProcesses(1) if self.size < PROCESS_BYTES else spark  # a few megabytes are worth no task
        ready, bits = gathered(where, location, sums)
        report.phases.end("answers")
        finishing = Finishing(location, plan.run, bits, tuple(ready), cluster, self._owners, self._redaction)
        finished, finish_seconds = finish_tables(where, finishing)
        if self._redaction is not None:
            remove_sums(location, [*sums, *ready])  # they hold names in clear
        self._parts += [part for result in finished for part in result.parts]
        moves = {who: program for result in finished for who, program in result.moves.items()}
        shown = str if self._redactor is None else self._redactor.host
        late = late_facts(cluster.whole, moves)
        parts = self._all_parts() if late != self._known.late else dict.fromkeys(self._parts, True)
        again, late_seconds = fill_late(where, location, cluster.whole, moves, parts.items(), self._slots, shown)
        self._parts += again
        self._write_small(cluster)
        digest = merged(result.digest for result in finished if result.digest)
        wanted = wanted_of(digest, PAGE, report.requests)
        known = replace(self._known if late == self._known.late else KnownRows(), late=late)
        of_rows, known, digest_seconds = digest_rows(where, location, self._all_parts(), wanted, self._slots, known)
        self._digest = digest | of_rows | final_tables(known.key, known.late, known.digest)
        report.cpu_seconds += finish_seconds + late_seconds + digest_seconds
        report.phases.end("by_key")

    def _all_parts(self) -> dict[str, bool]:
        """Return the parts of the analysis, each with whether this run wrote it."""
        return dict.fromkeys(self.plan.kept, False) | dict.fromkeys(self._parts, True)

    def _write_small(self, cluster: Cluster) -> None:
        report, request = self.report, self._request
        answers = cluster.tables()
        self._captures = captures = answers["captures"]
        report.thin = too_little(captures)
        report.unread = pc.sum(captures["packets_unread"]).as_py() or 0
        report.requests = pc.sum(captures["requests"]).as_py() or 0
        violations = [*self.plan.without_kafka(captures, request.ports), *_missing_rows(self._missing)]
        if violations:
            answers["violations"] = pa.Table.from_batches(violations, schema=SCHEMAS["violations"])
        if self._redactor is not None:
            answers = self._redactor.tables(answers)
        self._parts += _driver_parts(self.folder.location, self.plan, answers, self._parts, request.partition_by is not None)

    def publish(self, results: Sequence[SeriesResult]) -> None:
        report, plan = self.report, self.plan
        unread = {name for result in results for name in result.unread}
        entries = plan.entries([*self._parts, *plan.kept], {location for location, _ in report.skipped}, unread)
        manifest = _manifest(self._request, report, plan.run, entries, self._captures)
        self.folder.publish(manifest if self._redactor is None else self._redactor.manifest(manifest), self._parts, plan.kept)
        self.folder.add_digest(self._digest, list(self._all_parts()))
        report.phases.end("answers")

    def write_page(self, page: Callable[[str], object] | None) -> None:
        """Write the report and mark the folder complete; the tables do not need the report, which can be made again."""
        is_whole = False
        try:
            if page is not None:
                self._progress("Making the page", 0, 0)
                page(self._request.out)
            is_whole = True
        finally:
            if not is_whole:
                self.folder.remove_page()
            self.folder.complete()
        if page is not None:
            self.report.phases.end("page")
