"""Facts of a plan for the manifest, and warnings about large files that one task must read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kwire.runs.planning import Plan
from kwire.runs.route_task import RouteTask

__all__ = ["plan_facts", "undivided_sentences"]

_SHOWN: Final = 100
# A file that is worth fewer tasks is read soon enough.
_WORTH_WORDS: Final = 4


def plan_facts(plan: Plan, routes: Sequence[RouteTask]) -> dict[str, Any]:
    """Return the division of a run without names; of the shared series, list the 100 with the most tasks."""
    ranges = Counter(route.series for route in routes)
    fresh = [each for each in plan.series if each.fresh]
    routed = iter(range(len(ranges)))
    shared: list[dict[str, Any]] = [
        {"files": len(each.fresh), "tasks": each.shares, "sharing": "route", "ranges": ranges[next(routed)]}
        if each.routed
        else {"files": len(each.fresh), "tasks": each.shares, "sharing": "scan"}
        for each in fresh
        if each.shares > 1 or each.routed
    ]
    return {
        "tasks": len({each.number + share for each in fresh for share in range(each.shares)}),
        "packed": sum(each.packed for each in fresh),
        "shared": sorted(shared, key=lambda facts: -facts["tasks"])[:_SHOWN],
    }


def undivided_sentences(large: Sequence[tuple[str, int]], whole: Mapping[str, str]) -> list[str]:
    """List large files that one task must read, given their desired number of tasks, and tell how several tasks could read them."""
    found = []
    for location, parts in large:
        kind = whole.get(location)
        if kind and parts >= _WORTH_WORDS:
            better = "several tasks can read a plain pcap file, or one compressed by bgzip or pzstd"
            found.append(f"{location} is {kind}, so one task unpacks and routes it; {better}.")
    return found[:3] + ([f"{len(found) - 3:,} more large files are read by one task each."] if len(found) > 3 else [])
