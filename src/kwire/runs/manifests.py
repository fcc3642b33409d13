"""Manifest of an analysis, and its use by a run that appends to it or merges it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

import kwire
from kwire.analysis.targets import in_manifest
from kwire.errors import InputError
from kwire.runs.job_request import JobReport, JobRequest
from kwire.runs.series_state import STATE_VERSION

__all__ = ["check_same", "manifest_of", "with_shared_options"]


def manifest_of(
    request: JobRequest, report: JobReport, run: int, entries: Sequence[Mapping[str, Any]], captures: pa.Table
) -> dict[str, Any]:
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


def with_shared_options(request: JobRequest, manifests: Sequence[Mapping[str, Any]]) -> JobRequest:
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


def check_same(request: JobRequest, manifest: Mapping[str, Any]) -> None:
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
    from kwire.runs.manifest_types import check_manifest  # needs msgspec, as states do

    check_manifest(request.out, manifest)


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) or "left out" if isinstance(value, list) else "left out" if value is None else str(value)
