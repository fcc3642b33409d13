"""`kwire plan`: what an analysis will cost, before it is run; the figures are those of docs/explanation/costs.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import click
import cloup

from kwire.cli.capture_options import group_files_option
from kwire.cli.store_options import with_store_options
from kwire.cli.terminal import json_line, warn
from kwire.cli.tls_options import with_tls_options

if TYPE_CHECKING:
    from kwire.runs.planning import Plan, SeriesPlan

__all__ = ["plan"]

# CPU seconds per unpacked GB: with a thousand and with 50,000 client addresses
_READING: Final = (8.0, 39.0)
_ROUTING: Final = (2.0, 4.0)
_SCANNING: Final = 1.7
"""CPU seconds per GB of each further task that reads the same file group."""
_WORKER: Final = 1.5
"""CPU seconds to start a worker."""
_SCRATCH: Final = 1.04
"""Bytes of routed packets per byte of their captures."""
_TABLES: Final = (6_000_000, 15_000_000)
"""Bytes of tables per GB."""
_TASK_MEMORY: Final = (400_000_000, 600_000_000)
_DRIVER_MEMORY: Final = 400_000_000
_SHOWN: Final = 10
"""Maximum number of undivided files, the largest; each must be opened."""

_GB: Final = 1e9


def _cpu(gigabytes: float, routed: float = 0, scanned: float = 0, workers: int = 0) -> list[float]:
    ranges = zip(_READING, _ROUTING, strict=True)
    return [round(gigabytes * read + routed * route + scanned * _SCANNING + workers * _WORKER, 1) for read, route in ranges]


def _longest(series: Sequence[SeriesPlan]) -> float:
    """Return the unpacked bytes of the largest task."""
    tasks: dict[int, float] = defaultdict(float)
    for each in series:
        tasks[each.number] += each.fresh_bytes / each.shares
    return max(tasks.values(), default=0)


def _undivided(series: Sequence[SeriesPlan]) -> list[dict[str, Any]]:
    """List large files that one task must read alone, whatever the number of cores."""
    from kwire.runs.divided_files import unpacked_bytes, whole_files
    from kwire.runs.route_task import RANGE_BYTES

    files = [(location, size) for each in series for location, (_, size) in zip(each.fresh, each.files, strict=True)]
    large = sorted((file for file in files if unpacked_bytes(*file) > RANGE_BYTES), key=lambda file: -unpacked_bytes(*file))[:_SHOWN]
    whole = whole_files(large)
    return [{"file": location, "bytes": size, "reason": whole[location]} for location, size in large if whole.get(location)]


def _costs(planned: Plan, cores: int) -> dict[str, Any]:
    series = planned.series
    whole = sum(each.fresh_bytes for each in series)
    routed = sum(each.fresh_bytes for each in series if each.routed)
    scanned = sum(each.fresh_bytes * (each.shares - 1) for each in series if not each.routed)
    return {
        "unpacked_bytes": whole,
        "cpu_seconds": _cpu(whole / _GB, routed / _GB, scanned / _GB, cores),
        "longest_task_seconds": _cpu(_longest(series) / _GB),
        "scratch_bytes": round(routed * _SCRATCH),
        "table_bytes": [round(whole / _GB * size) for size in _TABLES],
        "task_memory_bytes": list(_TASK_MEMORY),
        "driver_memory_bytes": _DRIVER_MEMORY,
    }


@cloup.command(short_help="Estimate the cost of an analysis: bytes, tasks, CPU, disk, memory.")
@cloup.argument("captures", metavar="CAPTURE...", nargs=-1, required=True)
@cloup.option(
    "--cores", type=click.IntRange(1), metavar="N",
    help="Tasks that run at once, as on a cluster with N cores [default: those that analyze would use on this machine].",
)  # fmt: skip
@group_files_option()
@cloup.option("--json", "as_json", is_flag=True, help="Print the estimate as JSON.")
@with_tls_options
@with_store_options
def plan(captures: tuple[str, ...], cores: int | None, series_rule: str, as_json: bool) -> None:
    """Plan `kwire analyze CAPTURE...` and estimate its cost from the sizes of the files; nothing is analyzed or written.

    Two figures are the estimates for about a thousand client addresses and for 50,000. Analyze one of the files to learn what your own
    traffic costs.

    \b
    Examples:
      kwire plan kafka-*.pcap
      kwire plan s3://bucket/captures/ --cores 400
      kwire plan captures/ --json | jq .cpu_seconds
    """
    from kwire.tables.pandas_left_out import leave_pandas_out

    leave_pandas_out()
    from kwire.runs.job_request import JobRequest
    from kwire.runs.local_processes import LocalProcesses
    from kwire.spark.job import plan_job

    report, planned = plan_job(JobRequest(inputs=captures, out=".", engine="local", series_rule=series_rule), cores)
    used = LocalProcesses.for_bytes(report.bytes_read).slots if cores is None else cores
    found = {
        "files": sum(len(each.fresh) for each in planned.series), "file_groups": len(planned.series), "bytes": report.bytes_read,
        "cores": used, "plan": report.plan, **_costs(planned, min(used, report.plan["tasks"])), "undivided": _undivided(planned.series),
    }  # fmt: skip
    if as_json:
        click.echo(json_line(found))
    else:
        _print(found)
    for sentence in report.warnings:
        warn(sentence)
    for _, reason in report.skipped:
        warn(f"left out: {reason}")


def _print(found: dict[str, Any]) -> None:
    from kwire.cli.tables import Column, print_table
    from kwire.report.amounts import bytes_of, plural

    def between(figures: Sequence[float], form: Any) -> str:
        few, many = map(form, figures)
        return few if few == many else f"{few} to {many}"

    def seconds(figures: Sequence[float]) -> str:
        return between(figures, lambda each: f"{each / 3600:,.1f} h" if figures[0] >= 3600 else f"{each:,.1f} s")

    facts, unpacked = found["plan"], found["unpacked_bytes"]
    routed = [each for each in facts["shared"] if each["sharing"] == "route"]
    shared = [f"{plural(each['files'], 'file')} by {each['tasks']:,} tasks ({each['sharing']})" for each in facts["shared"][:3]]
    groups = plural(found["file_groups"], "file group")
    task = found["task_memory_bytes"]
    rows = [
        ("captures", bytes_of(found["bytes"]), f"{plural(found['files'], 'file')} in {groups}"),
        ("unpacked", bytes_of(unpacked), "compressed files are assumed to have four times their size" * (unpacked != found["bytes"])),
        ("tasks", f"{facts['tasks']:,}", f"{plural(found['cores'], 'task')} at once" + "".join(f"; {each}" for each in shared)),
        ("CPU of the tasks", seconds(found["cpu_seconds"]), "for 1,000 to 50,000 client addresses; starting and ending take 10 to 15 s"),
        ("longest task", seconds(found["longest_task_seconds"]), "the run takes at least so long"),
        ("disk while it runs", bytes_of(found["scratch_bytes"]), "in the output folder, for routed packets" if routed else ""),
        ("tables", between(found["table_bytes"], bytes_of), "in the output folder"),
        ("memory of a task", between(task, bytes_of), f"{bytes_of(4 * task[1])} for an executor with 4 cores, beside its JVM"),
        ("memory of the driver", bytes_of(found["driver_memory_bytes"]), ""),
    ]  # fmt: skip
    print_table([Column("", least=0), Column("estimate", least=0), Column("remark", wraps=True)], rows, folded=False)
    for each in found["undivided"]:
        warn(f"{each['file']} ({bytes_of(each['bytes'])}) is {each['reason']}, so one task unpacks and routes it")
