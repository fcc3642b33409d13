"""The summary of an analysis on the terminal: how far to trust it, who is there, who breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kwire.cli.terminal import console, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kwire.report import Summary

__all__ = ["print_cost", "print_summary"]

_SHOWN: Final = 15
"""Lines of one table at most; the page has the rest."""

_STYLES: Final = {"rejected": "bold red", "undetermined": "yellow", "marked": "yellow", "ok": "green", "warning": "yellow"}


def _more(count: int, what: str) -> None:
    if count > _SHOWN:
        console().print(f"  and {count - _SHOWN} more {what}; the page has all", style="dim")


def print_summary(summary: Summary) -> None:
    """Print it.

    Args:
        summary: what `kwire.report.summarize` gives; its texts are safe to print.
    """
    out = console()
    out.print(summary.headline, style="bold")
    if summary.apart:
        out.print(f"  Not counted as clients: {summary.apart}.", style="dim")
    for fact in summary.facts:
        if fact.level == "warning":
            out.print(f"  ! {fact.sentence}", style=_STYLES["warning"])
    for broker in summary.brokers[:_SHOWN]:
        out.print(f"  {broker}")
    _more(len(summary.brokers), "brokers")
    newest = summary.targets[-1].release if summary.targets else None
    if summary.libraries:
        print_table(
            ["library", "version", "known by", "clients", "connections", "requests", f"on {newest}" if newest else "verdict"],
            [(x.library, x.version, x.identity, x.clients, x.connections, x.requests, x.verdict) for x in summary.libraries[:_SHOWN]],
            title="Clients by library",
            styles=_STYLES,
        )
        _more(len(summary.libraries), "libraries")
    if summary.troubled:
        print_table(
            ["client", "library", "verdict", "since", "reason"],
            [(x.client, x.library, x.verdict, x.first_release, x.reason) for x in summary.troubled[:_SHOWN]],
            title="Clients that an upgrade rejects, or may",
            styles=_STYLES,
        )
        _more(len(summary.troubled), "clients")
    elif summary.libraries and newest:
        out.print(f"No client was seen that any release up to {newest} rejects.", style="green")
    broken = [f"{count} {severity}" for severity, count in summary.violations.items() if count]
    if broken:
        out.print(f"Violations: {', '.join(broken)}.")


def print_cost(size: int, seconds: Mapping[str, float]) -> None:
    """Print how long what took.

    Args:
        size: bytes of the files that were read.
        seconds: by phase (`kwire.spark.phase_times.PHASES`).
    """
    from kwire.spark.phase_times import PHASES

    parts = []
    for phase, name in PHASES.items():
        if phase in seconds:
            rate = f" ({size / seconds[phase] / 1e6:,.0f} MB/s)" if phase == "read" and size > seconds[phase] * 1e6 > 0 else ""
            parts.append(f"{name} {seconds[phase]:,.1f}{rate}")
    console().print(f"Time: {sum(seconds.values()):,.1f} s: {', '.join(parts)}.", style="dim")
