"""Comparison of two analyses: new, gone, newly failing and slower clients.

Clients with equal keys are the same. A new library version changes the key, so clients left over on both sides are matched by library,
client ids and principals. Latencies are compared from histograms with enough requests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any, Final

import pyarrow as pa

from kwire.analysis.differences import (
    ApiChange,
    ClientChange,
    Comparison,
    Failure,
    Slowdown,
    Thresholds,
    TopicChange,
    VerdictChange,
    ViolationChange,
)
from kwire.analysis.digests.of_clients import WORST_FIRST, release_order
from kwire.tables.client_keys import fold_client_id

__all__ = ["COMPARED", "compare"]

COMPARED: Final[dict[str, tuple[str, ...]]] = {
    "clients": (
        "client_key", "software_name", "software_version", "library_guess", "client_ids", "addresses", "principals", "role", "owner",
        "requests",
    ),
    "api_usage": ("client_key", "api_key", "api_name", "api_version", "requests", "errors", "error_names"),
    "client_hourly": ("client_key", "api_key", "api_version", "latency_histogram"),
    "upgrade_impact": ("client_key", "api_name", "api_version", "target_release", "verdict", "reason"),
    "topic_access": ("client_key", "topic", "topic_id", "direction", "requests"),
    "violations": ("client_key", "rule", "severity", "count"),
}  # fmt: skip
"""Tables and columns for `compare`."""

_SEVERITIES: Final = ("error", "warning", "info")


Row = dict[str, Any]
Use = tuple[str, int, int]  # client key, api key, version


class _Side:
    """Tables of one analysis; `same` maps keys of the later side to those of the earlier one."""

    def __init__(self, tables: Mapping[str, pa.Table], apart: Collection[str]) -> None:
        self.tables = tables
        self._apart = apart
        self.clients: dict[str, Row] = {row["client_key"]: row for row in self.rows("clients")}
        self.labels = {row["client_key"]: _label(row, row["client_key"]) for row in self.rows("clients", counted=False)}
        self.same: dict[str, str] = {}

    def rows(self, table: str, *, counted: bool = True) -> list[Row]:
        found = self.tables.get(table)
        rows: list[Row] = [] if found is None else found.to_pylist()
        return [row for row in rows if row["client_key"] not in self._apart] if counted and self._apart else rows

    def key(self, key: str) -> str:
        return self.same.get(key, key)

    def uses(self) -> dict[Use, Row]:
        found: dict[Use, Row] = {}
        for row in self.rows("api_usage"):
            use = (self.key(row["client_key"]), row["api_key"], row["api_version"])
            if None in use:
                continue
            into = found.setdefault(use, {"api": row["api_name"] or f"api {row['api_key']}", "requests": 0, "errors": 0, "names": set()})
            into["requests"] += row["requests"] or 0
            into["errors"] += row["errors"] or 0
            into["names"] |= set(row["error_names"] or ())
        return found

    def latencies(self) -> dict[Use, dict[int, int]]:
        found: dict[Use, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for row in self.rows("client_hourly"):
            use = (self.key(row["client_key"]), row["api_key"], row["api_version"])
            for bucket in row["latency_histogram"] or ():
                found[use][bucket["up_to_us"]] += bucket["requests"]
        return found


def _quantile(histogram: Mapping[int, int], part: float) -> int:
    rank = part * sum(histogram.values())
    reached = 0
    for bound in sorted(histogram):
        reached += histogram[bound]
        if reached >= rank:
            return bound
    return max(histogram)


def _label(row: Row, key: str) -> str:
    for column in ("client_ids", "principals", "addresses"):
        named = [each for each in row[column] or () if each]
        if named:
            return ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
    return key


def _library(row: Row) -> str:
    name = row["software_name"]
    return row["library_guess"] or name or "unknown" if name in (None, "unknown") else str(name)


def _program(row: Row) -> tuple[Any, ...]:
    ids = tuple(sorted({fold_client_id(each) for each in row["client_ids"] or () if each}))
    return (row["software_name"], ids, tuple(sorted(row["principals"] or ())), () if ids else tuple(sorted(row["addresses"] or ())))


def _same_programs(before: _Side, after: _Side) -> dict[str, str]:
    """Match clients left over on both sides; return earlier keys by later keys."""
    left: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    came: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for key in before.clients.keys() - after.clients.keys():
        left[_program(before.clients[key])].append(key)
    for key in after.clients.keys() - before.clients.keys():
        came[_program(after.clients[key])].append(key)
    return {keys[0]: left[program][0] for program, keys in came.items() if len(keys) == 1 and len(left.get(program, ())) == 1}


def compare(
    before: Mapping[str, pa.Table],
    after: Mapping[str, pa.Table],
    thresholds: Thresholds | None = None,
    apart: tuple[Collection[str], Collection[str]] = ((), ()),
) -> Comparison:
    """Compare two analyses; a missing table is empty.

    `apart` has for each side the keys that are not applications (cluster members, silent peers); only their violations are compared.
    """
    limits = thresholds or Thresholds()
    old, new = _Side(before, apart[0]), _Side(after, apart[1])
    new.same = _same_programs(old, new)
    labels = old.labels | {new.key(key): label for key, label in new.labels.items()}
    found = Comparison(clients=_clients(old, new))
    _compare_uses(old, new, labels, limits, found)
    _compare_latencies(old, new, labels, limits, found)
    found.targets = _other_targets(old, new)
    found.verdicts = _verdicts(old, new, labels, found.targets)
    found.topics = _topics(old, new, labels)
    found.violations = _violations(old, new, labels)
    return found


def _clients(old: _Side, new: _Side) -> list[ClientChange]:
    found: list[ClientChange] = []
    for key, row in new.clients.items():
        was = old.clients.get(new.key(key))
        if was is None:
            found.append(_client("new", row, None, row["software_version"]))
        elif was["software_version"] != row["software_version"]:
            found.append(_client("version", row, was["software_version"], row["software_version"]))
    there = {new.key(key) for key in new.clients}
    found += [_client("gone", row, row["software_version"], None) for key, row in old.clients.items() if key not in there]
    order = ("new", "version", "gone")
    return sorted(found, key=lambda each: (order.index(each.change), -each.requests, each.client))


def _client(change: str, row: Row, before: str | None, after: str | None) -> ClientChange:
    return ClientChange(
        change=change, client=_label(row, row["client_key"]), library=_library(row), version_before=before, version_after=after,
        owner=row["owner"], requests=row["requests"] or 0,
    )  # fmt: skip


def _compare_uses(old: _Side, new: _Side, labels: Mapping[str, str], limits: Thresholds, found: Comparison) -> None:
    was, now = old.uses(), new.uses()
    here = {new.key(key) for key in new.clients}
    for use in sorted(was.keys() | now.keys(), key=lambda use: (labels.get(use[0], use[0]), use[1], use[2])):
        before, after = was.get(use), now.get(use)
        client = labels.get(use[0], use[0])
        # a new client has no errors before to compare with
        if after is not None and after["errors"] and (use[0] in old.clients or use[0] not in here):
            names = tuple(sorted(after["names"] - (before["names"] if before else set())))
            share = after["errors"] / after["requests"] if after["requests"] else 1.0
            earlier = before["errors"] / before["requests"] if before and before["requests"] else 0.0
            if names or share - earlier > limits.error_share:
                found.failing.append(
                    Failure(
                        client=client,
                        api=after["api"],
                        version=use[2],
                        errors_before=before["errors"] if before else 0,
                        requests_before=before["requests"] if before else 0,
                        errors_after=after["errors"],
                        requests_after=after["requests"],
                        new_error_names=names,
                    )
                )
        # of a client that is new or gone all uses are: that is said once
        if use[0] in old.clients and use[0] in here and (before is None) != (after is None):
            row = after or before
            assert row is not None
            change = "gone" if after is None else "new"
            found.apis.append(ApiChange(change=change, client=client, api=row["api"], version=use[2], requests=row["requests"]))
    found.failing.sort(key=lambda each: (-each.errors_after, each.client, each.api, each.version))


def _compare_latencies(old: _Side, new: _Side, labels: Mapping[str, str], limits: Thresholds, found: Comparison) -> None:
    was, now, names = old.latencies(), new.latencies(), {use: row["api"] for use, row in new.uses().items()}
    for use in was.keys() & now.keys():
        counts = sum(was[use].values()), sum(now[use].values())
        if min(counts) < limits.requests:
            continue
        p50, p99 = [(_quantile(was[use], part), _quantile(now[use], part)) for part in (0.5, 0.99)]
        if any(after >= before * limits.ratio and after - before >= limits.least_us for before, after in (p50, p99)):
            found.slower.append(
                Slowdown(
                    client=labels.get(use[0], use[0]),
                    api=names.get(use, f"api {use[1]}"),
                    version=use[2],
                    p50_before_us=p50[0],
                    p50_after_us=p50[1],
                    p99_before_us=p99[0],
                    p99_after_us=p99[1],
                    requests_before=counts[0],
                    requests_after=counts[1],
                )
            )
    found.slower.sort(key=lambda each: (each.p99_before_us - each.p99_after_us, each.client, each.api, each.version))


def _other_targets(old: _Side, new: _Side) -> tuple[str, ...]:
    """Return the newest target of each side if none is on both."""
    sides = [{row["target_release"] for row in side.rows("upgrade_impact")} for side in (old, new)]
    return () if not all(sides) or sides[0] & sides[1] else tuple(max(side, key=release_order) for side in sides)


def _verdicts(old: _Side, new: _Side, labels: Mapping[str, str], targets: tuple[str, ...]) -> list[VerdictChange]:
    renamed = {targets[0]: targets[1]} if targets else {}

    def judged(side: _Side) -> dict[tuple[Any, ...], Row]:
        worst: dict[tuple[Any, ...], Row] = {}
        for row in side.rows("upgrade_impact"):
            target = renamed.get(row["target_release"], row["target_release"])
            use = (side.key(row["client_key"]), row["api_name"], row["api_version"], target)
            if use not in worst or WORST_FIRST.index(row["verdict"]) < WORST_FIRST.index(worst[use]["verdict"]):
                worst[use] = row
        return worst

    was, now = judged(old), judged(new)
    asked = {use[3] for use in was}  # a release that nobody asked about before says nothing of a change
    found = []
    for use, row in now.items():
        before = was.get(use)
        worse = before is None or WORST_FIRST.index(row["verdict"]) < WORST_FIRST.index(before["verdict"])
        if worse and use[3] in asked and row["verdict"] in ("breaks", "unknown"):
            found.append(
                VerdictChange(
                    client=labels.get(use[0], use[0]),
                    api=use[1],
                    version=use[2],
                    target_release=use[3],
                    before=before["verdict"] if before else None,
                    after=row["verdict"],
                    reason=row["reason"],
                )
            )
    return sorted(found, key=lambda each: (WORST_FIRST.index(each.after), each.client, each.api, each.version, each.target_release))


def _topics(old: _Side, new: _Side, labels: Mapping[str, str]) -> list[TopicChange]:
    def used(side: _Side) -> set[tuple[str, str, str]]:
        return {
            (side.key(row["client_key"]), row["topic"] or f"id {row['topic_id']}", row["direction"])
            for row in side.rows("topic_access")
            if row["requests"]
        }

    was, now = used(old), used(new)
    both = old.clients.keys() & {new.key(key) for key in new.clients}
    changes = [("new", use) for use in now - was] + [("gone", use) for use in was - now]
    found = [
        TopicChange(change=change, client=labels.get(key, key), topic=topic, direction=direction)
        for change, (key, topic, direction) in changes
        if key in both
    ]
    return sorted(found, key=lambda each: (each.change != "new", each.client, each.topic, each.direction))


def _violations(old: _Side, new: _Side, labels: Mapping[str, str]) -> list[ViolationChange]:
    def broken(side: _Side) -> dict[tuple[str | None, str, str], int]:
        counts: dict[tuple[str | None, str, str], int] = defaultdict(int)
        for row in side.rows("violations", counted=False):
            key = row["client_key"]
            # null in tables of earlier releases
            counts[None if key is None else side.key(key), row["rule"], row["severity"]] += row.get("count") or 1
        return counts

    was, now = broken(old), broken(new)
    found = [
        ViolationChange(client="the capture" if key is None else labels.get(key, key), rule=rule, severity=severity, count=count)
        for (key, rule, severity), count in now.items()
        if (key, rule, severity) not in was
    ]
    return sorted(found, key=lambda each: ((*_SEVERITIES, each.severity).index(each.severity), each.client, each.rule))
