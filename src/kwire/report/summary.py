"""Summary of an analysis for a terminal.

All text is safe to print, because `wire_text.visible` has escaped text from the wire. It may still hold a terminal library's own markup (a
client id like ``[bold]``), so print it as plain text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from kwire.report.analysis_folder import AnalysisFolder, Judged
from kwire.report.answer import Answer, answer_of, kafka_names
from kwire.report.broken_rules import SEVERITIES, read_broken_rules
from kwire.report.broker_list import read_brokers
from kwire.report.coverage import Fact, Level, headline, read_coverage
from kwire.report.fix_tickets import FixGroup, by_fix
from kwire.report.fleet import Fleet
from kwire.report.inventory import Client, applications, by_library, identified_by, population, read_clients
from kwire.report.owner_tasks import owner_tasks
from kwire.report.verdicts import VERDICTS, ClientVerdicts, read_upgrade_matrix
from kwire.report.wire_text import SENTENCE, visible

__all__ = ["LibraryLine", "Summary", "TargetLine", "TroubledClient", "summarize"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryLine:
    """Clients of one library and version; `identity` is the source of its name."""

    library: str
    version: str
    identity: str
    clients: int
    connections: int | None
    requests: int | None
    verdict: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetLine:
    release: str
    worst: str | None
    clients: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TroubledClient:
    """Client that a target rejects or may reject: since which release, and why."""

    client: str
    library: str
    verdict: str
    first_release: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Summary of an analysis; its coverage, `level` and `facts`, limits the trust in the rest.

    Attributes:
        kafka: short name of each target.
        fixes: action items grouped by fix, worst first.
        apart: peers that the headline does not count as clients (`kwire.report.inventory.Population`); may be empty.
        violations: occurrences by severity, without problems of input files, which `facts` names.
    """

    answer: Answer
    headline: str
    apart: str
    level: Level
    facts: tuple[Fact, ...]
    brokers: tuple[str, ...]
    libraries: tuple[LibraryLine, ...]
    targets: tuple[TargetLine, ...]
    kafka: dict[str, str]
    fixes: tuple[FixGroup, ...]
    troubled: tuple[TroubledClient, ...]
    violations: dict[str, int]


def summarize(out_dir: str | Path, judged: Judged | None = None) -> Summary:
    """Read the summary of an analysis in a folder or URI, with its verdicts or those for other targets.

    Raises:
        InputError: the folder holds no analysis, or a table cannot be read.
    """
    folder = AnalysisFolder(out_dir, judged=judged)
    clients = read_clients(folder)
    matrix = read_upgrade_matrix(folder)
    coverage = read_coverage(folder, matrix.fleet)
    violations = dict.fromkeys(SEVERITIES, 0)
    for rule in read_broken_rules(folder):
        if not rule.of_file:
            violations[rule.severity] = violations.get(rule.severity, 0) + rule.times
    by_key = {client.client_key: client for client in clients}
    seen = population(matrix.fleet)
    brokers = read_brokers(folder)
    return Summary(
        answer=answer_of(matrix.fleet, coverage),
        headline=headline(coverage, seen),
        apart=seen.apart,
        level=coverage.level,
        facts=coverage.facts,
        brokers=tuple(
            visible(f"node {'?' if one.node_id is None else one.node_id} at {one.host}:{one.port}" + (f", {one.runs}" if one.runs else ""))
            for one in brokers
        ),
        libraries=_libraries(matrix.fleet),
        kafka=kafka_names(matrix.targets),
        fixes=tuple(map(_printable, by_fix(owner_tasks(matrix, applications(clients), {})))),
        targets=tuple(
            TargetLine(release=target, worst=next((name for name in reversed(VERDICTS) if found[name]), None), clients=found)
            for target, found in ((target, matrix.count(target)) for target in matrix.targets)
        ),
        troubled=tuple(
            _troubled(line, by_key.get(line.client_key))
            for line in matrix.clients
            if line.worst in ("breaks", "unknown") and line.client_key not in matrix.cluster
        ),
        violations=violations,
    )


def _printable(group: FixGroup) -> FixGroup:
    return replace(
        group,
        fix=visible(group.fix, SENTENCE),
        clients=tuple(map(visible, group.clients)),
        libraries=tuple(map(visible, group.libraries)),
        teams=tuple(map(visible, group.teams)),
    )


def _libraries(fleet: Fleet) -> tuple[LibraryLine, ...]:
    return tuple(
        LibraryLine(
            library=visible(line.library) or "unknown",
            version=visible(line.version),
            identity=identified_by(line.identity_source, line.guessed),
            clients=line.clients,
            connections=line.connections,
            requests=line.requests,
            verdict=next((name for name in reversed(VERDICTS) if line.verdicts.get(name)), None),
        )
        for line in by_library(fleet)
    )


def _troubled(line: ClientVerdicts, client: Client | None) -> TroubledClient:
    worst = line.worst or ""
    finding = next((one for one in line.findings if one.verdict == worst), None)
    return TroubledClient(
        client=visible(", ".join(client.client_ids) or ", ".join(client.addresses)) if client else line.client_key,
        library=visible(client.label) if client else "",
        verdict=worst,
        first_release=line.first(worst),
        reason=visible(finding.reason, SENTENCE) if finding else "",
    )
