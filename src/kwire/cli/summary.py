"""Summary of an analysis on the terminal: the answer, breaking clients with their fixes, then the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kwire.cli.tables import Column, print_table
from kwire.cli.terminal import console

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kwire.report import FixGroup, Summary
    from kwire.report.client_upgrade import ClientMoves

__all__ = ["print_cost", "print_moves", "print_summary"]

_SHOWN: Final = 15
"""Maximum number of rows per table; the report has all."""

_STYLES: Final = {"breaks": "bold red", "unknown": "yellow", "deprecated": "yellow", "compatible": "green"}
_TITLES: Final = {
    "today": "Rejected today: your brokers do not serve these applications",
    "breaks": "Breaks: needs a fix before the brokers are upgraded",
    "unknown": "Unknown: may break, the captures do not show enough",
    "deprecated": "Deprecated: works now, and breaks on a later version",
    "rollback": "Rollback: breaks, or may, on an older version",
}
_WORST_FIRST: Final = tuple(_STYLES)


def _more(count: int, what: str) -> None:
    if count > _SHOWN:
        console().print(f"  ... {count - _SHOWN:,} more {what}, see the report", style="dim")
        console().print()


def print_summary(summary: Summary) -> None:
    out = console()
    answer = summary.answer
    mark, style = (
        ("✕", "bold red") if answer.breaks else ("?", "bold yellow") if answer.unknown or not summary.targets else ("✓", "bold green")
    )
    if out.options.ascii_only:
        mark = {"✕": "x", "✓": "+"}.get(mark, mark)
    out.print(f"{mark} {answer.sentence[:1].upper()}{answer.sentence[1:]}.", style=style)
    reasons = f" ({'; '.join(answer.reasons)})" if answer.reasons else ""
    out.print(f"  Confidence: {answer.confidence}{reasons}.")
    for fact in summary.facts:
        if fact.level == "warning":
            out.print(f"  ! {fact.sentence}", style="yellow")
    out.print()
    for kind, title in _TITLES.items():
        groups = [group for group in summary.fixes if kind == _kind(group)]
        if groups:
            _print_fixes(groups, title, summary.kafka)
    _print_libraries(summary)
    _print_rest(summary)


def print_moves(moves: ClientMoves) -> None:
    """Print who may move to newer clients, and what keeps the others."""
    for sentence in moves.sentences:
        console().print(f"{sentence}.", style="bold")
    kept = [move for move in moves.moves if move.reason]
    if kept:
        columns = [Column("verdict"), Column("client"), Column("library"), Column("what is in the way", least=36, wraps=True)]
        rows = [(move.verdict, move.client, move.library, move.reason) for move in kept[:_SHOWN]]
        print_table(columns, rows, styles=_STYLES, folded=False)
        _more(len(kept), "applications")


def _kind(group: FixGroup) -> str:
    return group.step if group.step == "rollback" or (group.step == "today" and group.verdict == "breaks") else group.verdict


def _print_fixes(groups: Sequence[FixGroup], title: str, kafka: Mapping[str, str]) -> None:
    columns = [
        Column("on", least=0),
        Column("fix", least=36, wraps=True),
        Column("clients", 1, least=0),
        Column("who"),
        Column("library", rank=3),
    ]
    teams = any(group.teams for group in groups)
    if teams:
        columns.append(Column("team", rank=2, least=8))
    rows = []
    for group in groups[:_SHOWN]:
        row = [
            kafka.get(group.since, group.since) or "now",
            group.fix.replace(" or later", "+"),
            len(group.clients),
            _first(group.clients),
            _first(group.libraries),
        ]
        rows.append(row + ([_first(group.teams)] if teams else []))
    print_table(columns, rows, title=title, folded=False)
    _more(len(groups), "fixes")


def _first(names: Sequence[str]) -> str:
    return "" if not names else names[0] if len(names) == 1 else f"{names[0]} +{len(names) - 1:,}"


def _print_libraries(summary: Summary) -> None:
    if not summary.libraries:
        return
    newest = summary.kafka[summary.targets[-1].release] if summary.targets else ""
    ranked = sorted(
        summary.libraries,
        key=lambda line: (_WORST_FIRST.index(line.verdict) if line.verdict in _WORST_FIRST else len(_WORST_FIRST), -(line.requests or 0)),
    )
    columns = [
        Column(f"on {newest}" if newest else "verdict", least=0), Column("library", least=24, wraps=True),
        Column("identified by", rank=1, least=0), Column("clients", least=0), Column("requests", rank=2, least=0),
        Column("connections", rank=3, least=0),
    ]  # fmt: skip
    rows = [
        (x.verdict or "no verdict", f"{x.library} {x.version}".rstrip(), x.identity, x.clients, x.requests, x.connections)
        for x in ranked[:_SHOWN]
    ]
    print_table(columns, rows, title="Libraries, worst first", styles=_STYLES, folded=False)
    _more(len(ranked), "libraries")


def _print_rest(summary: Summary) -> None:
    out = console()
    out.print(f"Seen: {summary.headline}.")
    if summary.apart:
        out.print(f"Not counted as applications: {summary.apart}.", style="dim")
    for broker in summary.brokers[:_SHOWN]:
        out.print(f"Broker: {broker}.")
    if len(summary.brokers) > _SHOWN:
        out.print(f"  ... {len(summary.brokers) - _SHOWN:,} more brokers, see the report", style="dim")
    broken = [
        f"{count:,} {'note' if name == 'info' else name}{'s' if count > 1 else ''}" for name, count in summary.violations.items() if count
    ]
    if broken:
        out.print(f"Protocol violations: {', '.join(broken)}.")


def print_cost(size: int, seconds: Mapping[str, float]) -> None:
    """Print the seconds of each phase (`kwire.runs.phase_times.PHASES`), and the bytes read."""
    from kwire.runs.phase_times import PHASES

    parts = []
    for phase, name in PHASES.items():
        if seconds.get(phase, 0.0) >= 0.05:
            rate = f" ({size / seconds[phase] / 1e6:,.0f} MB/s)" if phase == "read" and size > seconds[phase] * 1e6 > 0 else ""
            parts.append(f"{name} {seconds[phase]:,.1f} s{rate}")
    console().print(f"Done in {sum(seconds.values()):,.1f} s ({', '.join(parts)}).", style="dim")
