"""The analysis job: choice of the engine, and a run (`kwire.runs.analysis_run`) on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kwire.errors import InputError
from kwire.files.file_systems import StoreOptions, store_options
from kwire.runs.analysis_run import AnalysisRun, Progress, none_readable
from kwire.runs.job_request import JobReport, JobRequest
from kwire.runs.local_processes import Engine, LocalProcesses
from kwire.runs.manifests import check_same
from kwire.runs.planning import Plan
from kwire.spark.session import choose_engine, open_spark
from kwire.spark.shared_places import check_shared, check_shared_with
from kwire.spark.shipping import ship_for_job
from kwire.spark.task_running import slots_of, workers_of

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["plan_job", "run_job"]


def _quiet(_what: str, _done: int, _total: int) -> None:
    return


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
        if request.engine == "local" and request.master is not None:
            raise InputError("--master needs Spark: add --engine spark, or drop --master")
        check_shared(request.master, request.out, request.inputs)
        job = AnalysisRun(request, choose_engine(request.engine, request.master), progress)
        with job.folder.writing(overwrite=request.overwrite, append=request.append) as earlier:
            if earlier is not None:
                check_same(request, earlier)
            if chosen is not None:
                chosen(job.report.engine, job.size)
            with _engine(job, request, progress) as spark:
                workers = workers_of(spark)
                job.plan_tasks(slots_of(spark), earlier)
                results = job.copy(workers) if request.merges else job.read(workers)
                if not job.report.read and earlier is None:
                    raise none_readable([reason for _, reason in job.report.skipped])
                job.finish(workers, results)
            job.publish(results)
            job.write_page(page)
        return job.report


def plan_job(request: JobRequest, slots: int | None = None) -> tuple[JobReport, Plan]:
    """Plan an analysis as `run_job` does for `slots` tasks at once (default: as many as on this machine); write nothing."""
    job = AnalysisRun(request, "local", _quiet)
    job.plan_tasks(LocalProcesses.for_bytes(job.size).slots if slots is None else slots, None)
    return job.report, job.plan


@contextmanager
def _engine(job: AnalysisRun, request: JobRequest, progress: Progress) -> Iterator[SparkSession | SparkContext | LocalProcesses]:
    report = job.report
    if report.engine == "local":
        yield LocalProcesses.for_bytes(job.size)
        report.phases.end("answers")
        return
    progress("Starting Spark", 0, 0)
    with open_spark(request.master) as spark:
        check_shared_with(spark, request.out, request.inputs)
        report.phases.end("start_spark")
        report.warnings += ship_for_job(spark)
        yield spark
    report.phases.end("stop_spark")
