"""Tasks for the owners of applications before an upgrade: one for each client that a release rejects or may reject."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from kwire.report.amounts import named
from kwire.report.fleet import Fleet
from kwire.report.inventory import Client, identified_by
from kwire.report.lineage import ClientTopics
from kwire.report.verdicts import VERDICTS, ClientVerdicts, Finding, UpgradeMatrix, release_order

__all__ = ["NO_TEAM", "STEPS", "OwnerTask", "Step", "Team", "by_team", "needed", "owner_tasks", "since_of"]

NO_TEAM: Final = "No owner known"
"""Team name for clients without a known owner."""

Step = Literal["today", "upgrade", "rollback"]
"""Step at which a client breaks or may break: today with the observed brokers, else at an upgrade or a rollback."""
STEPS: Final = get_args(Step)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerTask:
    """Task for one client, with its worst verdict.

    Attributes:
        first_release: first target with this verdict; `deadline` is the same, but empty if brokers reject the client today.
        since: first release that rejects the client or may reject it; empty if brokers do so today.
        refused_by: first release that rejects a client accepted by all targets; empty otherwise.
        cures: distinct remedies with version and kind, the worst finding's first.
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
    first_release: str
    deadline: str
    since: str
    step: Step
    cures: tuple[tuple[str, str, str], ...]
    findings: tuple[Finding, ...]
    refused_by: str = ""
    is_inferred: bool = False

    @property
    def name(self) -> str:
        ids = [one for one in self.client_ids if one]
        if ids:
            return ", ".join(ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")
        return next(iter((*self.principals, *self.addresses)), self.client_key)

    @property
    def software(self) -> str:
        return f"{self.library} {self.version}".strip() or "unknown library"


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    name: str
    contact: str
    tasks: Mapping[str, int]
    deadline: str


def since_of(tasks: Iterable[OwnerTask]) -> str:
    """Return the first release that requires a task: the oldest of an upgrade, else the newest of a rollback."""
    listed = list(tasks)
    ahead = [task.since for task in listed if task.step != "rollback"]
    return min(ahead, key=release_order) if ahead else max((task.since for task in listed), key=release_order)


def needed(step: Step, release: str) -> str:
    """Describe when work is needed; `release` is the short name of the first release that rejects the client."""
    return {"today": "now", "rollback": f"before a rollback to {named(release)}"}.get(step, f"before {named(release)}")


def owner_tasks(matrix: UpgradeMatrix, clients: Iterable[Client], topics: Mapping[str, ClientTopics]) -> tuple[OwnerTask, ...]:
    """Make the tasks by team name, worst first in each team; tasks without a team are last.

    Brokers and controllers have no tasks, because they are upgraded with the cluster; nor have compatible clients.
    """
    by_key = {client.client_key: client for client in clients}
    tasks = [
        _task(line, by_key[line.client_key], topics.get(line.client_key, ClientTopics()), matrix.fleet)
        for line in matrix.clients
        if line.worst != "compatible" and line.client_key in by_key and by_key[line.client_key].role == "client"
    ]
    return tuple(sorted(tasks, key=lambda task: (task.team == NO_TEAM, task.team.casefold(), task.team)))


def _task(line: ClientVerdicts, client: Client, topics: ClientTopics, fleet: Fleet) -> OwnerTask:
    verdict = line.worst or ""
    first = line.first(verdict)
    refused_by = line.refused_by if verdict == "deprecated" else ""
    step: Step = "today" if fleet.rejects_today(line.verdicts) or first in fleet.now else "rollback" if first in fleet.back else "upgrade"
    return OwnerTask(
        team=client.owner or NO_TEAM,
        contact=client.contact,
        client_key=client.client_key,
        client_ids=client.client_ids,
        library=client.library,
        version=client.version,
        identity=identified_by(client.identity_source, client.guessed),
        principals=client.principals,
        addresses=client.addresses,
        topics=topics,
        requests=client.requests,
        verdict=verdict,
        first_release=first,
        deadline="" if step == "today" else first,
        since="" if step == "today" else line.last(verdict, fleet.back) if step == "rollback" else refused_by or first,
        step=step,
        cures=line.cures,
        findings=line.findings,
        refused_by=refused_by,
        is_inferred=client.guessed,
    )


def by_team(tasks: Iterable[OwnerTask]) -> tuple[Team, ...]:
    groups: dict[str, list[OwnerTask]] = defaultdict(list)
    for task in tasks:
        groups[task.team].append(task)
    return tuple(
        Team(
            name=name,
            contact=next((task.contact for task in of_team if task.contact), ""),
            tasks={verdict: sum(task.verdict == verdict for task in of_team) for verdict in reversed(VERDICTS)},
            deadline=since_of(of_team),
        )
        for name, of_team in groups.items()
    )
