"""What the owner of an application has to do before the brokers are upgraded: one task for each client that a release refuses or may."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from kwire.report.inventory import IDENTITY_SOURCES, Client
from kwire.report.lineage import ClientTopics
from kwire.report.verdicts import VERDICTS, ClientVerdicts, Finding, UpgradeMatrix, release_order

__all__ = ["NO_TEAM", "OwnerTask", "Team", "by_team", "owner_tasks"]

NO_TEAM: Final = "No owner known"
"""The team of clients that the file of owners does not name, or where there is none."""

_URGENT: Final = ("breaks", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerTask:
    """What is to be done about one client.

    Attributes:
        verdict: the worst of the client.
        deadline: the first release that has it: the work has to be done before brokers run that one.
        refused_by: of a client that each target takes, the first release that refuses it; empty otherwise.
        cures: remedy, version and kind, each thing once, that of the worst finding first.
        identity: how the library is known, in words.
        is_inferred: the library does not name itself, and is known by what it does.
    """

    team: str
    contact: str
    client_key: str
    client_ids: tuple[str, ...]
    library: str
    version: str
    identity: str
    principals: tuple[str, ...]
    addresses: tuple[str, ...]
    topics: ClientTopics
    requests: int | None
    verdict: str
    deadline: str
    cures: tuple[tuple[str, str, str], ...]
    findings: tuple[Finding, ...]
    refused_by: str = ""
    is_inferred: bool = False

    @property
    def name(self) -> str:
        """What to call the client: its ids, else its principal or address."""
        ids = [one for one in self.client_ids if one]
        if ids:
            return ", ".join(ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")
        return next(iter((*self.principals, *self.addresses)), self.client_key)

    @property
    def software(self) -> str:
        """Library and version."""
        return f"{self.library} {self.version}".strip() or "unknown library"


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A team with its number of tasks by verdict, and the first release that one of them has to be done for."""

    name: str
    contact: str
    tasks: Mapping[str, int]
    deadline: str


def owner_tasks(matrix: UpgradeMatrix, clients: Iterable[Client], topics: Mapping[str, ClientTopics]) -> tuple[OwnerTask, ...]:
    """Make the tasks: teams by name, those without one last; within a team in the order of the matrix, worst first.

    Brokers and controllers have none: they are upgraded with the cluster. Neither has a client of which no release refuses anything.
    """
    by_key = {client.client_key: client for client in clients}
    tasks = [
        _task(line, by_key[line.client_key], topics.get(line.client_key, ClientTopics()))
        for line in matrix.clients
        if (line.worst in _URGENT or (line.worst == "deprecated" and line.refused_by))
        and line.client_key in by_key
        and by_key[line.client_key].role == "client"
    ]
    return tuple(sorted(tasks, key=lambda task: (task.team == NO_TEAM, task.team.casefold(), task.team)))


def _task(line: ClientVerdicts, client: Client, topics: ClientTopics) -> OwnerTask:
    verdict = line.worst or ""
    return OwnerTask(
        team=client.owner or NO_TEAM,
        contact=client.contact,
        client_key=client.client_key,
        client_ids=client.client_ids,
        library=client.library,
        version=client.version,
        identity=IDENTITY_SOURCES.get(client.identity_source, ""),
        principals=client.principals,
        addresses=client.addresses,
        topics=topics,
        requests=client.requests,
        verdict=verdict,
        deadline=line.first(verdict),
        cures=line.cures,
        findings=line.findings,
        refused_by=line.refused_by if verdict == "deprecated" else "",
        is_inferred=client.guessed,
    )


def by_team(tasks: Iterable[OwnerTask]) -> tuple[Team, ...]:
    """Count tasks by team, in the order of the tasks.

    Args:
        tasks: from `owner_tasks`.
    """
    groups: dict[str, list[OwnerTask]] = defaultdict(list)
    for task in tasks:
        groups[task.team].append(task)
    return tuple(
        Team(
            name=name,
            contact=next((task.contact for task in of_team if task.contact), ""),
            tasks={verdict: sum(task.verdict == verdict for task in of_team) for verdict in reversed(VERDICTS)},
            deadline=min((task.refused_by or task.deadline for task in of_team), key=release_order),
        )
        for name, of_team in groups.items()
    )
