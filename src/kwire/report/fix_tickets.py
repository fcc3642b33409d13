"""Action items for people who act: one for each fix and team, with the text of one ticket for all clients that it helps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from kwire.report.amounts import plural
from kwire.report.fix_groups import fix_of
from kwire.report.markdown_text import code, codes, words
from kwire.report.owner_tasks import NO_TEAM, OwnerTask
from kwire.report.tickets import what_to_do
from kwire.report.verdicts import VERDICTS, release_order

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
        since: the first Kafka release that is as bad as that.
        libraries: what its clients use, each once, most clients first; inferred ones end in ``~``.
        tickets: by team, most clients first; clients without an owner last.
    """

    number: int
    verdict: str
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
    def tasks(self) -> Iterator[OwnerTask]:
        return (task for ticket in self.tickets for task in ticket.tasks)


def action_items(tasks: Iterable[OwnerTask], names: Mapping[str, str]) -> tuple[ActionItem, ...]:
    """Group what owners have to do by fix and team: what breaks first, then what helps most clients.

    Args:
        tasks: from `owner_tasks`.
        names: how to write Kafka releases (`kwire.report.answer.kafka_names`).
    """
    groups: dict[tuple[str, str], list[OwnerTask]] = defaultdict(list)
    for task in tasks:
        groups[task.verdict, fix_of(task)].append(task)
    ranked = sorted(groups.items(), key=lambda item: (-VERDICTS.index(item[0][0]), -len(item[1]), item[0][1]))
    return tuple(_item(place, verdict, fix, of_fix, names) for place, ((verdict, fix), of_fix) in enumerate(ranked))


def _item(number: int, verdict: str, fix: str, tasks: list[OwnerTask], names: Mapping[str, str]) -> ActionItem:
    teams: dict[str, list[OwnerTask]] = defaultdict(list)
    libraries: dict[str, int] = defaultdict(int)
    for task in sorted(tasks, key=lambda task: (-(task.requests or 0), task.name)):
        teams[task.team].append(task)
        libraries[task.software + (" ~" if task.is_inferred else "")] += 1
    since = min((task.refused_by or task.deadline for task in tasks), key=release_order)
    ranked = sorted(teams.items(), key=lambda team: (team[0] == NO_TEAM, -len(team[1]), team[0]))
    return ActionItem(
        number=number,
        verdict=verdict,
        fix=fix,
        since=since,
        clients=len(tasks),
        requests=sum(task.requests or 0 for task in tasks),
        libraries=tuple(sorted(libraries, key=lambda name: (-libraries[name], name))),
        tickets=tuple(_ticket(team, of_team, verdict, fix, names.get(since, since)) for team, of_team in ranked),
    )


def _ticket(team: str, tasks: list[OwnerTask], verdict: str, fix: str, since: str) -> TeamTicket:
    contact = next((task.contact for task in tasks if task.contact), "")
    lines = _lines(team, contact, tasks, verdict, fix, since)
    return TeamTicket(team=team, contact=contact, tasks=tuple(tasks), text="\n".join(lines))


def _lines(team: str, contact: str, tasks: list[OwnerTask], verdict: str, fix: str, since: str) -> Iterator[str]:
    verb = {"breaks": "break", "unknown": "may break"}.get(verdict, "will break")
    if len(tasks) == 1 and verdict == "breaks":
        verb = "breaks"
    yield f"**{words(fix[:1].upper() + fix[1:])}: {plural(len(tasks), 'Kafka client')} {verb} on Kafka {words(since)}**"
    yield ""
    if team != NO_TEAM:
        yield f"- Team: {code(team)}" + (f", {code(contact)}" if contact else "")
    yield f"- Needed before: the brokers run Kafka {words(since)}"
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
