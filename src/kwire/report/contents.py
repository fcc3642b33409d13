"""Contents of a report, read once from the tables of an analysis, for the page, Markdown, JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Final

import kwire
from kwire.analysis.digests import EVERYTHING
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.answer import Answer, answer_of, kafka_names
from kwire.report.before_after import read_changes
from kwire.report.broken_rules import BrokenRule, read_broken_rules
from kwire.report.broker_list import Broker, read_brokers
from kwire.report.burn_down import HistoryPoint, history_of, read_history
from kwire.report.client_connections import ClientConnection, read_client_connections
from kwire.report.client_upgrade import ClientMoves, client_moves
from kwire.report.connection_times import ConnectionTimes, read_connection_times
from kwire.report.coverage import TARGET, Coverage, headline, read_coverage
from kwire.report.encryption import read_encryption
from kwire.report.evidence import Evidence, read_evidence
from kwire.report.group_lines import GroupLines, read_group_lines
from kwire.report.incidents import read_incidents
from kwire.report.inventory import Client, LibraryVersion, Population, applications, by_library, population, read_clients
from kwire.report.lineage import ClientTopics, Topic, read_lineage, read_topics_of_clients
from kwire.report.listings import Listing
from kwire.report.owner_tasks import OwnerTask, Team, by_team, owner_tasks
from kwire.report.server_coverage import read_server_coverage
from kwire.report.telemetry_list import read_telemetry
from kwire.report.traffic_times import TrafficTimes, read_traffic
from kwire.report.verdicts import VERDICTS, UpgradeMatrix, read_upgrade_matrix
from kwire.report.version_use import VersionGrid, read_version_grid
from kwire.schema import Release

__all__ = ["CLIENTS_DRAWN", "Report", "clients_drawn", "read_report"]

CLIENTS_DRAWN: Final = 20
"""Maximum number of clients whose activity over time is drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The parts of a report.

    Attributes:
        before: earlier folder for `changes`; empty if there is none.
        topics: listed topics, of `topic_count`.
        moves: upgrades of client libraries, if they are asked for.
        history: states in this and earlier reports of the same analysis, and of the earlier analysis.
    """

    made: datetime
    command: str
    before: str
    changes: tuple[Listing, ...]
    coverage: Coverage
    servers: Listing
    matrix: UpgradeMatrix
    tasks: tuple[OwnerTask, ...]
    teams: tuple[Team, ...]
    clients: tuple[Client, ...]
    libraries: tuple[LibraryVersion, ...]
    moves: ClientMoves | None
    versions: VersionGrid
    connections: ConnectionTimes | None
    topics: tuple[Topic, ...]
    topics_of: dict[str, ClientTopics]
    topic_count: int
    groups: GroupLines
    incidents: tuple[Listing, ...]
    encryption: tuple[Listing, ...]
    rules: tuple[BrokenRule, ...]
    telemetry: Listing
    brokers: tuple[Broker, ...]
    answer: Answer
    names: dict[str, str]
    evidence: dict[str, Evidence]
    traffic: TrafficTimes | None
    client_connections: dict[str, tuple[ClientConnection, ...]]
    history: tuple[HistoryPoint, ...]

    @property
    def newest(self) -> str:
        return self.matrix.targets[-1] if self.matrix.targets else ""

    @property
    def title(self) -> str:
        kind = "rollback" if self.matrix.fleet.back and self.matrix.fleet.back == self.matrix.targets else "upgrade"
        return f"Kafka {kind} report{f', to {self.names[self.newest]}' if self.newest else ''}"

    @property
    def has_answers(self) -> bool:
        """True if a target is what a broker answered."""
        return any(fact.about == TARGET for fact in self.coverage.facts)

    @property
    def sources(self) -> str:
        return "captured traffic and the answer of the target" if self.has_answers else "captured traffic alone"

    @property
    def headline(self) -> str:
        return headline(self.coverage, self.population)

    @property
    def population(self) -> Population:
        return population(self.matrix.fleet)

    @property
    def generator(self) -> str:
        return f"kwire {kwire.__version__}"


def read_report(
    folder: AnalysisFolder,
    *,
    before: AnalysisFolder | None = None,
    command: str = "",
    made: datetime | None = None,
    clients_to: Release | None = None,
) -> Report:
    """Read all parts; a report is made now by default, and has no history if it is for other targets than those of the analysis."""
    clients, matrix, topics = read_clients(folder), read_upgrade_matrix(folder), read_lineage(folder)
    fleet = matrix.fleet
    newest = matrix.targets[-1] if matrix.targets else ""
    topics_of = read_topics_of_clients(folder)
    tasks = owner_tasks(matrix, clients, topics_of)
    coverage, brokers = read_coverage(folder, fleet), read_brokers(folder)
    answer = answer_of(fleet, coverage)
    earlier = [] if folder.judged else [read_history(each) for each in (before, folder) if each is not None]
    return Report(
        made=made or datetime.now(timezone.utc),
        command=command,
        before="" if before is None else before.location,
        changes=() if before is None else read_changes(before, folder),
        coverage=coverage,
        servers=read_server_coverage(folder),
        matrix=matrix,
        tasks=tasks,
        teams=by_team(tasks),
        clients=clients,
        libraries=by_library(fleet),
        moves=None if clients_to is None else client_moves(AnalysisFolder(folder.location, EVERYTHING), clients_to),
        versions=read_version_grid(folder, newest),
        connections=read_connection_times(folder),
        topics=topics,
        topics_of=topics_of,
        topic_count=folder.digest["topics"].num_rows,
        groups=read_group_lines(folder),
        incidents=read_incidents(folder),
        encryption=read_encryption(folder),
        rules=read_broken_rules(folder),
        telemetry=read_telemetry(folder),
        brokers=brokers,
        answer=answer,
        names=kafka_names(matrix.targets),
        evidence=read_evidence(folder, matrix.clients),
        traffic=read_traffic(folder, (client.client_key for client in clients_drawn(clients, matrix))),
        client_connections=read_client_connections(folder),
        history=history_of(coverage.end, population(fleet).clients, answer, kafka_names(matrix.targets).get(newest, ""), *earlier),
    )


def clients_drawn(clients: Iterable[Client], matrix: UpgradeMatrix) -> tuple[Client, ...]:
    """Return the applications to draw: the worst verdicts first, then the busiest."""
    worst = {line.client_key: VERDICTS.index(line.worst) for line in matrix.clients if line.worst}
    ranked = sorted(applications(clients), key=lambda client: (-worst.get(client.client_key, -1), -(client.requests or 0)))
    return tuple(ranked[:CLIENTS_DRAWN])
