"""Action items grouped by their fix, with one ticket for each team."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from kwire.report.amounts import named, plural
from kwire.report.markdown_text import code, codes, words
from kwire.report.owner_tasks import NO_TEAM, STEPS, OwnerTask, Step, since_of
from kwire.report.tickets import what_to_do
from kwire.report.verdicts import VERDICTS, release_order

__all__ = ["ActionItem", "FixGroup", "TeamTicket", "action_items", "by_fix"]

CLIENTS_LISTED: Final = 50
"""Maximum number of clients named in a ticket."""
# A fix is a sentence, often with its reason behind a semicolon or a comma, or a second one: the first clause says what to do.
_CLAUSE: Final = re.compile(r"\. |; |, the ")


@dataclass(frozen=True, slots=True, kw_only=True)
class FixGroup:
    """Clients that need the same fix; names in a fix are text from the wire.

    Attributes:
        since: first Kafka release that has the verdict; empty if brokers reject the clients today.
        libraries: distinct libraries and versions; inferred ones end in ``~``.
        teams: teams that must act; empty if no owner is known.
    """

    verdict: str
    step: Step
    fix: str
    since: str
    clients: tuple[str, ...]
    libraries: tuple[str, ...]
    teams: tuple[str, ...]
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamTicket:
    """Work of one team for one fix: its clients, ordered by requests, and the ticket's text in Markdown."""

    team: str
    contact: str
    tasks: tuple[OwnerTask, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionItem:
    """Fix with its tasks; `number` is its position in the list and its name on the page.

    Attributes:
        since: first Kafka release that has the verdict; empty if brokers reject the clients today.
        libraries: distinct libraries of its clients, ordered by clients; inferred ones end in ``~``.
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
        return sum(ticket.team != NO_TEAM for ticket in self.tickets)

    @property
    def named(self) -> list[str]:
        return [task.name for task in islice(self.tasks, 3)]

    @property
    def tasks(self) -> Iterator[OwnerTask]:
        return (task for ticket in self.tickets for task in ticket.tasks)


def action_items(tasks: Iterable[OwnerTask], names: Mapping[str, str]) -> tuple[ActionItem, ...]:
    """Group tasks by fix and team: breaks first, then by the number of clients."""
    ranked = sorted(_by_fix(tasks), key=lambda group: (_urgency(group[1][0]), -len(group[1]), group[0]))
    return tuple(_item(place, fix, of_fix, names) for place, (fix, of_fix) in enumerate(ranked))


def by_fix(tasks: Iterable[OwnerTask]) -> tuple[FixGroup, ...]:
    """Group action items, worst first, then by the number of clients per fix."""
    found = [
        FixGroup(
            verdict=members[0].verdict,
            step=members[0].step,
            fix=fix,
            since=since_of(members),
            clients=tuple(task.name for task in members),
            libraries=tuple(dict.fromkeys(map(_library, members))),
            teams=tuple(dict.fromkeys(task.team for task in members if task.team != NO_TEAM)),
            requests=sum(task.requests or 0 for task in members),
        )
        for fix, members in _by_fix(tasks)
    ]
    return tuple(sorted(found, key=lambda one: (_urgency(one), -len(one.clients), -one.requests, release_order(one.since), one.fix)))


def _by_fix(tasks: Iterable[OwnerTask]) -> list[tuple[str, list[OwnerTask]]]:
    groups: dict[tuple[str, Step, str], list[OwnerTask]] = defaultdict(list)
    for task in sorted(tasks, key=lambda task: (-(task.requests or 0), task.name)):
        said = _CLAUSE.split(what_to_do(task)[0], maxsplit=1)[0].rstrip(".")
        groups[said[:1].lower() + said[1:], task.step, task.verdict].append(task)
    return [(fix, members) for (fix, *_), members in groups.items()]


def _library(task: OwnerTask) -> str:
    return task.software + (" ~" if task.is_inferred else "")


def _urgency(task: OwnerTask | FixGroup) -> tuple[int, int]:
    return STEPS.index(task.step), -VERDICTS.index(task.verdict)


def _item(number: int, fix: str, tasks: list[OwnerTask], names: Mapping[str, str]) -> ActionItem:
    teams: dict[str, list[OwnerTask]] = defaultdict(list)
    libraries: dict[str, int] = defaultdict(int)
    for task in tasks:
        teams[task.team].append(task)
        libraries[_library(task)] += 1
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
    said = f"{rejected} rejected by your brokers today" if step == "today" else f"{verb} on {named(since)}"
    yield f"**{words(fix[:1].upper() + fix[1:])}: {plural(len(tasks), 'Kafka client')} {words(said)}**"
    yield ""
    if team != NO_TEAM:
        yield f"- Team: {code(team)}" + (f", {code(contact)}" if contact else "")
    before = f"- Needed before: the brokers {'roll back to' if step == 'rollback' else 'run'} {words(named(since))}"
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
