"""Action items for people who act: one for each fix and team, with the text of one ticket for all clients that it helps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from kwire.report.amounts import plural
from kwire.report.fix_groups import fix_of
from kwire.report.markdown_text import code, codes, words
from kwire.report.owner_tasks import NO_TEAM, STEPS, OwnerTask, Step, since_of
from kwire.report.tickets import what_to_do
from kwire.report.verdicts import VERDICTS

__all__ = ["ActionItem", "TeamTicket", "action_items"]

CLIENTS_LISTED: Final = 50
"""Clients that a ticket names; it says how many more there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamTicket:
    """What one team has to do with one fix: its clients, those with most requests first, and the text of the ticket, Markdown."""

    team: str
    contact: str
    tasks: tuple[OwnerTask, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionItem:
    """One fix.

    Attributes:
        number: place in the list, from 0: its name on the page.
        verdict: the worst of its clients.
        fix: what to do, a clause.
        step: when its clients break.
        since: the first Kafka release that is as bad as that; empty where brokers reject the clients today.
        libraries: what its clients use, each once, most clients first; inferred ones end in ``~``.
        tickets: by team, most clients first; clients without an owner last.
    """

    number: int
    verdict: str
    step: Step
    fix: str
    since: str
    clients: int
    requests: int
    libraries: tuple[str, ...]
    tickets: tuple[TeamTicket, ...]

    @property
    def teams(self) -> int:
        """Teams that are known."""
        return sum(ticket.team != NO_TEAM for ticket in self.tickets)

    @property
    def named(self) -> list[str]:
        """Names of its first clients."""
        return [task.name for task in islice(self.tasks, 3)]

    @property
    def tasks(self) -> Iterator[OwnerTask]:
        return (task for ticket in self.tickets for task in ticket.tasks)


def action_items(tasks: Iterable[OwnerTask], names: Mapping[str, str]) -> tuple[ActionItem, ...]:
    """Group what owners have to do by fix and team: what breaks first, then what helps most clients.

    Args:
        tasks: from `owner_tasks`.
        names: how to write Kafka releases (`kwire.report.answer.kafka_names`).
    """
    groups: dict[tuple[Step, str, str], list[OwnerTask]] = defaultdict(list)
    for task in tasks:
        groups[task.step, task.verdict, fix_of(task)].append(task)
    ranked = sorted(groups.values(), key=lambda tasks: (_urgency(tasks[0]), -len(tasks), fix_of(tasks[0])))
    return tuple(_item(place, of_fix, names) for place, of_fix in enumerate(ranked))


def _urgency(task: OwnerTask) -> tuple[int, int]:
    return STEPS.index(task.step), -VERDICTS.index(task.verdict)


def _item(number: int, tasks: list[OwnerTask], names: Mapping[str, str]) -> ActionItem:
    fix = fix_of(tasks[0])
    teams: dict[str, list[OwnerTask]] = defaultdict(list)
    libraries: dict[str, int] = defaultdict(int)
    for task in sorted(tasks, key=lambda task: (-(task.requests or 0), task.name)):
        teams[task.team].append(task)
        libraries[task.software + (" ~" if task.is_inferred else "")] += 1
    since = since_of(tasks)
    ranked = sorted(teams.items(), key=lambda team: (team[0] == NO_TEAM, -len(team[1]), team[0]))
    return ActionItem(
        number=number,
        verdict=tasks[0].verdict,
        step=tasks[0].step,
        fix=fix,
        since=since,
        clients=len(tasks),
        requests=sum(task.requests or 0 for task in tasks),
        libraries=tuple(sorted(libraries, key=lambda name: (-libraries[name], name))),
        tickets=tuple(_ticket(team, of_team, fix, names.get(since, since)) for team, of_team in ranked),
    )


def _ticket(team: str, tasks: list[OwnerTask], fix: str, since: str) -> TeamTicket:
    contact = next((task.contact for task in tasks if task.contact), "")
    lines = _lines(team, contact, tasks, fix, since)
    return TeamTicket(team=team, contact=contact, tasks=tuple(tasks), text="\n".join(lines))


def _lines(team: str, contact: str, tasks: list[OwnerTask], fix: str, since: str) -> Iterator[str]:
    step, verdict, is_one = tasks[0].step, tasks[0].verdict, len(tasks) == 1
    verb = {"breaks": "breaks" if is_one else "break", "unknown": "may break"}.get(verdict, "will break")
    rejected = "may be" if verdict == "unknown" else "is" if is_one else "are"
    said = f"{rejected} rejected by your brokers today" if step == "today" else f"{verb} on Kafka {since}"
    yield f"**{words(fix[:1].upper() + fix[1:])}: {plural(len(tasks), 'Kafka client')} {words(said)}**"
    yield ""
    if team != NO_TEAM:
        yield f"- Team: {code(team)}" + (f", {code(contact)}" if contact else "")
    before = f"- Needed before: the brokers {'roll back to' if step == 'rollback' else 'run'} Kafka {words(since)}"
    yield "- Needed now" if step == "today" else before
    yield ""
    yield "What to do:"
    yield ""
    yield from (f"- {words(sentence)}" for sentence in dict.fromkeys(sentence for task in tasks for sentence in what_to_do(task)))
    yield ""
    yield "Clients:"
    yield ""
    for task in tasks[:CLIENTS_LISTED]:
        yield f"- {_client(task)}"
    if len(tasks) > CLIENTS_LISTED:
        yield f"- and {len(tasks) - CLIENTS_LISTED:,} more; the report lists them"


def _client(task: OwnerTask) -> str:
    software = code(task.software) + (" (inferred)" if task.is_inferred else "") if task.library else "unknown library"
    parts = [f"{code(task.name)}: {software}"]
    if task.addresses:
        parts.append(f"from {codes(task.addresses)}")
    if task.principals:
        parts.append(f"as {codes(task.principals)}")
    proof = next((one for one in task.findings if one.verdict == task.verdict), None)
    if proof is not None:
        version = "" if proof.api_version is None else f" v{proof.api_version}"
        parts.append(f"sends {words(proof.api_name + version)}")
        if proof.evidence_connection_id:
            place = "" if proof.evidence_request_index is None else f", request {proof.evidence_request_index:,}"
            parts.append(f"proof: {code(proof.evidence_connection_id)}{place}")
    return "; ".join(parts)
