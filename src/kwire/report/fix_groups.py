"""Action items grouped by their fix: what one change of a library or a setting does for how many clients."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from kwire.report.owner_tasks import NO_TEAM, STEPS, OwnerTask, Step, since_of
from kwire.report.tickets import what_to_do
from kwire.report.verdicts import VERDICTS, release_order

__all__ = ["FixGroup", "by_fix", "fix_of"]

# A fix is a sentence, often with its reason behind a semicolon or a comma, or a second one: the first clause says what to do.
_CLAUSE: Final = re.compile(r"\. |; |, the ")


@dataclass(frozen=True, slots=True, kw_only=True)
class FixGroup:
    """Clients that need the same fix.

    Attributes:
        verdict: the worst of its clients: `breaks`, `unknown` or `deprecated`.
        fix: what to do, a clause such as "upgrade kafka-clients to 2.1.0 or later"; text from the wire may be in it.
        step: when these clients break.
        since: the first Kafka release that has the verdict; empty where brokers reject the clients today.
        clients: what to call them, those with most requests first.
        libraries: library and version of each, each once; inferred ones end in ``~``.
        teams: that have to act; empty where no owner is known.
        requests: of all of them, where known.
    """

    verdict: str
    step: Step
    fix: str
    since: str
    clients: tuple[str, ...]
    libraries: tuple[str, ...]
    teams: tuple[str, ...]
    requests: int


def by_fix(tasks: Iterable[OwnerTask]) -> tuple[FixGroup, ...]:
    """Group action items, worst first, then by how many clients a fix helps.

    Args:
        tasks: from `kwire.report.owner_tasks.owner_tasks`.
    """
    groups: dict[tuple[Step, str, str], list[OwnerTask]] = defaultdict(list)
    for task in tasks:
        groups[task.step, task.verdict, fix_of(task)].append(task)
    found = [_group(*group, members) for group, members in groups.items()]
    return tuple(
        sorted(
            found,
            key=lambda one: (
                STEPS.index(one.step),
                -VERDICTS.index(one.verdict),
                -len(one.clients),
                -one.requests,
                release_order(one.since),
                one.fix,
            ),
        )
    )


def fix_of(task: OwnerTask) -> str:
    """What to do about a client, in a clause: clients with the same one share an action item."""
    said = _CLAUSE.split(what_to_do(task)[0], maxsplit=1)[0].rstrip(".")
    return said[:1].lower() + said[1:]


def _group(step: Step, verdict: str, fix: str, members: Sequence[OwnerTask]) -> FixGroup:
    listed = sorted(members, key=lambda task: (-(task.requests or 0), task.name))
    return FixGroup(
        verdict=verdict,
        step=step,
        fix=fix,
        since=since_of(listed),
        clients=tuple(task.name for task in listed),
        libraries=tuple(dict.fromkeys(task.software + (" ~" if task.is_inferred else "") for task in listed)),
        teams=tuple(dict.fromkeys(task.team for task in listed if task.team != NO_TEAM)),
        requests=sum(task.requests or 0 for task in listed),
    )
