"""Run of an analysis: tasks read the captures, tasks for buckets of keys finish the tables, and the folder is published at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis import Options, Partial, merge
from kwire.analysis.answers import Cluster, cluster_of
from kwire.analysis.digests import PAGE, wanted_of
from kwire.analysis.digests.storing import final_tables
from kwire.analysis.owners import NO_OWNERS, read_owners
from kwire.analysis.partials import from_bytes
from kwire.analysis.quality import too_little
from kwire.analysis.redaction import Redaction, Redactor
from kwire.capture.files.capture_points import names_in
from kwire.capture.files.inputs import CaptureFile, MissingInput, expand_inputs
from kwire.capture.files.piece_kinds import kind_of
from kwire.capture.files.series import Series, group_series, is_overlap
from kwire.capture.request_logs.times import zone_of
from kwire.errors import InputError
from kwire.runs.digest_task import KnownRows, digest_rows, known_rows, merged
from kwire.runs.divided_files import whole_files
from kwire.runs.finish_task import Finishing, day_of_part, finish_tables, gathered, write_table
from kwire.runs.job_request import JobReport, JobRequest
from kwire.runs.late_columns import fill_late, late_facts
from kwire.runs.local_processes import PROCESS_BYTES, LocalProcesses
from kwire.runs.manifests import manifest_of, with_shared_options
from kwire.runs.merging import border_sentences, copy_analysis, given_analyses
from kwire.runs.plan_facts import plan_facts, undivided_sentences
from kwire.runs.planning import Plan, plan_of, still_written
from kwire.runs.read_running import run_reading
from kwire.runs.route_task import RouteResult, large_files, route_tasks
from kwire.runs.series_state import is_state, sums_of_state
from kwire.runs.series_task import SeriesResult
from kwire.runs.store_folder import output_folder
from kwire.runs.sums_files import SumsFile, is_sums, read_whole_sums, remove_sums, sums_file
from kwire.runs.workers import Workers, run_each, watching
from kwire.tables import SCHEMAS
from kwire.tables.dates import BEGINS, NO_DATE
from kwire.tables.series import begin_series, skip_piece

__all__ = ["AnalysisRun", "Progress", "none_readable"]

_QUICK_LOOK: Final = 8

Progress = Callable[[str, int, int], None]


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
    raise none_readable([str(fault) for fault in faults])


def none_readable(reasons: Sequence[str]) -> InputError:
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
    return files, merge([*whole, *(read_whole_sums(location, file) for file in earlier if file.day is None)])


class AnalysisRun:
    """One run, which plans its tasks, reads the captures, finishes the tables and publishes them.

    It only schedules: `kwire.tables` makes rows, `kwire.analysis` the results. Each task opens its files and writes its rows and sums, so
    payloads never cross between processes. The driver collects only facts of the cluster that every task needs.
    """

    def __init__(self, request: JobRequest, engine: Literal["local", "spark"], progress: Progress) -> None:
        self._merged = given_analyses(request.inputs) if request.merges else []
        request = with_shared_options(request, [each.manifest for each in self._merged])
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
        self.report = JobReport(request.out, engine)
        self.report.skipped = [(each.argument, each.reason) for each in self._missing]
        self.report.warnings = [each.disorder for each in self._series if each.disorder]
        self._redaction = _redaction_of(request, self._series)
        self._redactor = None if self._redaction is None else Redactor(self._redaction)
        self._parts: list[str] = []

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

    def read(self, workers: Workers) -> list[SeriesResult]:
        report, sizes = self.report, self._sizes
        total = sum(sizes[location] for task in self._tasks for location in task.locations)
        total += 2 * sum(sizes[location] for shares in self._routed for location in shares[0].locations)
        asked = time.time()
        with watching(self.folder.location, total, report.bytes_read, self._progress):
            results, routes, report.cpu_seconds = run_reading(
                workers, self._tasks, self._routed, self._routes, sizes, self._slots, self._whole_files
            )
        told: list[RouteResult | SeriesResult] = [*routes, *results]
        first = min((result.began for result in told), default=asked)
        report.phases.end_tasks([result.seconds for result in told], first - asked)
        self._progress("Combining results", 0, 0)
        report.warnings += still_written(self.plan)
        self._parts += _take_results(results, report)
        return results

    def copy(self, workers: Workers) -> list[SeriesResult]:
        report, location = self.report, self.folder.location
        self._progress("Copying rows", 0, 0)
        results, report.cpu_seconds = run_each(workers, self._merged, partial(copy_analysis, location))
        self._parts += _take_results(results, report)
        report.warnings += border_sentences(self._merged)
        report.phases.end("read")
        return results

    def finish(self, workers: Workers, results: Sequence[SeriesResult]) -> None:
        report, plan, location = self.report, self.plan, self.folder.location
        sums, whole = _all_sums(results, plan.kept, location)
        cluster = cluster_of(whole, self._options)
        where = LocalProcesses(1) if self.size < PROCESS_BYTES else workers  # a few megabytes are worth no task
        ready, bits = gathered(where, location, sums)
        report.phases.end("answers")
        touched = {day for result in results for day in result.days}
        newest = cluster.span[1].date().isoformat() if plan.run and cluster.span else ""
        by_day = tuple(part for part in plan.by_day if (day := day_of_part(part)) and day not in touched and day < newest)
        finishing = Finishing(location, plan.run, bits, tuple(ready), cluster, self._owners, self._redaction, by_day, newest)
        finished, finish_seconds = finish_tables(where, finishing)
        if self._redaction is not None:
            remove_sums(location, [*sums, *ready])  # they hold names in clear
        self._parts += [part for result in finished for part in result.parts]
        self.plan = plan = replace(plan, kept=(*plan.kept, *(part for result in finished for part in result.kept)))
        moves = {client: program for result in finished for client, program in result.moves.items()}
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
        manifest = manifest_of(self._request, report, plan.run, entries, self._captures)
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
