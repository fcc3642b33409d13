"""Input and outcome of an analysis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from kwire.analysis.redaction import Redaction
from kwire.runs.local_processes import Engine
from kwire.runs.phase_times import PhaseTimes
from kwire.schema import Release

__all__ = ["JobReport", "JobRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """Input of an analysis.

    Attributes:
        inputs: files, folders, globs, URIs.
        out: output folder, path or URI.
        engine: engine of the tasks: `local` (local processes, no Java), `spark`, or `auto`
            (`kwire.spark.session.choose_engine`). The tables are the same.
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
        plan: division of the captures into tasks (`kwire.runs.plan_facts`).
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
