"""Rebalances of a group, from the steps of its members: trigger, duration, joined and departed members, changes.

Classic groups: members whose answers have the same generation form that generation. The leader's answer lists all members; without it, only
captured members count. A member of the previous generation that is missing and did not leave has expired. The trigger is the first member
that left or is new; else an expired member; else the first that joined again (the leader, if its topics changed).

Newer groups (KIP-848, KIP-932, KIP-1071): a member is in the group from its first epoch above 0 until it leaves. A rebalance is an increase
of the members' highest epoch; its trigger is the last member before it that joined, left or changed its topics.

Times are microseconds since 1970, UTC. A group may last for weeks in a capture, so processing a generation does not scan all steps.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["STEP_COLUMNS", "Rebalance", "Row", "timeline"]

Row = dict[str, Any]

STEP_COLUMNS: Final = (
    "event", "protocol", "member_id", "group_instance_id", "generation", "subscription", "members", "error_code", "reason", "time",
    "response_time",
)  # fmt: skip
"""Columns of a step for a timeline."""

_MANY: Final = 8  # members that a difference names one by one
_UNSEEN_CAUSE: Final = "no captured request explains it; a member's session may have timed out"


@dataclass(slots=True)
class Member:
    member_id: str
    instance_id: str | None = None
    topics: tuple[str, ...] | None = None


@dataclass(slots=True)
class Rebalance:
    """Rebalance from one generation to the next.

    Attributes:
        time: captured beginning.
        ended: time of the last member's assignment; None if not captured.
        step: step that is the evidence, preferably the leader's.
        trigger: member id; None if unknown.
        reason: text of the client or of kwire.
        left, expired: members of `before` that are not in `after`.
    """

    generation: int
    time: int
    ended: int | None
    step: Row
    trigger: str | None
    reason: str | None
    before: dict[str, Member]
    after: dict[str, Member]
    left: list[str] = field(default_factory=list)
    expired: list[str] = field(default_factory=list)
    diff: str = ""


def timeline(steps: list[Row]) -> list[Rebalance]:
    """Find the rebalances of one group, from its steps by time."""
    if any(step["protocol"] != "classic" for step in steps):
        return list(_newer(steps))
    return list(_classic(steps))


def _members_of(joins: list[Row]) -> dict[str, Member]:
    told: dict[str, Member] = {}
    for join in joins:
        for member_id, instance_id, topics, _reason, _error in json.loads(join["members"] or "[]"):
            told[member_id] = Member(member_id, instance_id, None if topics is None else tuple(topics))
    if told:
        return told
    return {
        join["member_id"]: Member(join["member_id"], join["group_instance_id"], _tuple(join["subscription"]))
        for join in joins
        if join["member_id"]
    }


def _tuple(topics: list[str] | None) -> tuple[str, ...] | None:
    return None if topics is None else tuple(topics)


def _generations(steps: Iterable[Row]) -> list[list[Row]]:
    joins = [step for step in steps if step["event"] == "join" and not step["error_code"] and (step["generation"] or 0) > 0]
    joins.sort(key=lambda step: step["response_time"] or step["time"])
    found: list[list[Row]] = []
    for join in joins:
        if found and found[-1][0]["generation"] == join["generation"]:
            found[-1].append(join)
        else:
            found.append([join])
    return found


def _leavers(steps: Iterable[Row]) -> list[tuple[int, str, str | None]]:
    found = []
    for step in steps:
        if step["event"] == "leave" and not step["error_code"]:
            for member_id, instance_id, _topics, reason, error in json.loads(step["members"] or "[]"):
                if not error:
                    found.append((step["time"], member_id or instance_id or "", reason))
    return found


def _classic(steps: list[Row]) -> Iterator[Rebalance]:
    leavers = _leavers(steps)
    left_at = [time for time, _, _ in leavers]
    assigned = _assigned(steps)
    before: dict[str, Member] = {}
    since: int | None = None  # the generation before was complete
    known = False  # there was a generation before
    generations = _generations(steps)
    again = _asked_again(generations)
    for number, joins in enumerate(generations):
        generation = joins[0]["generation"]
        after = _members_of(joins)
        until = max(join["response_time"] or join["time"] for join in joins)
        asked = min(join["time"] for join in joins)
        gone = leavers[0 if since is None else bisect_left(left_at, since) : bisect_right(left_at, until)]
        instances = {member.instance_id: member.member_id for member in before.values() if member.instance_id}
        left = {instances.get(member, member): (time, reason) for time, member, reason in gone}
        # A static member comes back under a new member id.
        returned = {member.instance_id for member in after.values() if member.instance_id}
        missing = [member for member in before.values() if member.member_id not in after and member.instance_id not in returned]
        expired = [member.member_id for member in missing if member.member_id not in left]
        trigger, reason, began = _trigger(joins, before, left, expired, known)
        syncs = assigned[generation]
        # a group that was empty for long counts its generations anew
        until_again = again[number]
        ended = syncs[bisect_left(syncs, asked) : None if until_again is None else bisect_left(syncs, until_again)]
        leader = next((join for join in joins if join["members"]), joins[0])
        rebalance = Rebalance(
            generation, min(began, asked), ended[-1] if ended else None, leader, trigger, reason, before, after,
            [member.member_id for member in missing if member.member_id in left], expired,
        )  # fmt: skip
        rebalance.diff = _difference(rebalance, known)
        yield rebalance
        before, since, known = after, until, True


def _assigned(steps: Iterable[Row]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for step in steps:
        if step["event"] == "sync" and not step["error_code"] and step["response_time"]:
            found[step["generation"]].append(step["response_time"])
    for times in found.values():
        times.sort()
    return found


def _asked_again(generations: list[list[Row]]) -> list[int | None]:
    """Return for each generation the first join request of a later generation with the same number."""
    found: list[int | None] = []
    later: dict[int, int] = {}
    for joins in reversed(generations):
        generation = joins[0]["generation"]
        found.append(later.get(generation))
        later[generation] = min(join["time"] for join in joins)
    return found[::-1]


def _trigger(
    joins: list[Row], before: dict[str, Member], left: dict[str, tuple[int, str | None]], expired: list[str], known: bool
) -> tuple[str | None, str | None, int]:
    first = min(joins, key=lambda join: join["time"])
    of_members = {member: found for member, found in left.items() if member in before}
    newcomers = [join for join in joins if join["member_id"] not in before]
    newcomer = min(newcomers, key=lambda join: join["time"], default=None)
    leaver = min(of_members, key=lambda member: of_members[member][0], default=None)
    if leaver is not None and (newcomer is None or of_members[leaver][0] <= newcomer["time"]):
        time, reason = of_members[leaver]
        return leaver, reason or "a member left", time
    if newcomer is not None:
        # What a newcomer gives as its reason is that it was told its member id (KIP-394).
        static = {member.instance_id for member in before.values() if member.instance_id}
        again = newcomer["group_instance_id"] in static
        reason = "a static member came back" if again else "a member joined" if known else "the first join captured"
        return newcomer["member_id"], reason, newcomer["time"]
    if expired:
        return expired[0], "a member was not heard of within its session timeout", first["time"]
    old = before.get(first["member_id"])
    if old is not None and old.topics is not None and first["subscription"] is not None and old.topics != tuple(first["subscription"]):
        return first["member_id"], first["reason"] or "a member wants other topics", first["time"]
    return first["member_id"], first["reason"] or "a member asked to join again", first["time"]


def _difference(rebalance: Rebalance, known: bool) -> str:
    if not known:
        return f"first generation captured, {len(rebalance.after)} {'member' if len(rebalance.after) == 1 else 'members'}"
    static = {member.instance_id: member.member_id for member in rebalance.before.values() if member.instance_id}
    fresh = sorted(member for member in rebalance.after if member not in rebalance.before)
    back = {member: static.get(rebalance.after[member].instance_id or "") for member in fresh}
    parts = [f"{old} came back as {member}" for member, old in back.items() if old is not None]
    came = [member for member in fresh if back[member] is None]
    for sign, word, members in (("+", "joined", came), ("-", "left", rebalance.left), ("-", "expired", rebalance.expired)):
        if len(members) > _MANY:
            parts.append(f"{len(members)} {word}")
        else:
            parts += [f"{sign}{member} {word}" for member in members]
    for member_id, member in sorted(rebalance.after.items()):
        old = rebalance.before.get(member_id)
        if old is not None and old.topics is not None and member.topics is not None and old.topics != member.topics:
            parts.append(f"{member_id} wants {', '.join(member.topics) or 'nothing'} instead of {', '.join(old.topics) or 'nothing'}")
    return "; ".join(parts) or "same members"


def _newer(steps: list[Row]) -> Iterator[Rebalance]:
    members: dict[str, Member] = {}
    snapshot: dict[str, Member] = {}
    epoch = 0
    cause: tuple[str | None, str, int] | None = None
    status = ""
    known = False
    for step in sorted(steps, key=lambda step: step["response_time"] or step["time"]):
        member_id, told = step["member_id"], step["generation"]
        if step["error_code"] or not member_id:
            continue
        if step["event"] == "leave":
            if members.pop(member_id, None) is not None:
                cause = (member_id, step["reason"] or "a member left", step["time"])
            continue
        status = step["reason"] or status
        old, topics = members.get(member_id), _tuple(step["subscription"])
        if told is not None and told > 0 and old is None:
            members[member_id] = Member(member_id, step["group_instance_id"], topics)
            cause = (member_id, "a member joined" if known else "the first join captured", step["time"])
        elif old is not None and topics is not None and topics != old.topics:
            members[member_id] = Member(member_id, old.instance_id, topics)
            cause = (member_id, "a member wants other topics", step["time"])
        if told is not None and told > epoch:
            unseen = f"the coordinator reported {status}" if status else _UNSEEN_CAUSE
            trigger, reason, time = cause or (None, unseen, step["time"])
            after = dict(members)
            left = [member for member in snapshot if member not in after]
            rebalance = Rebalance(told, time, step["response_time"], step, trigger, reason, snapshot, after, left)
            rebalance.diff = _difference(rebalance, known)
            yield rebalance
            epoch, snapshot, cause, known, status = told, after, None, True, ""
