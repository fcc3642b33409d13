"""Table `upgrade_impact`: every use of an api judged for every target release, with evidence, basis and cure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from kwire.analysis.client_groups import ClientGroup, ClientGroups
from kwire.analysis.known_clients import cure_of, known_maximum, library_of, newest_version, unseen_maxima
from kwire.analysis.partials import Partial
from kwire.analysis.plain_rows import rows_of
from kwire.analysis.release_ranges import api_key_of, target_range
from kwire.analysis.remedies import NOTHING, Remedy, Software, remedy_of
from kwire.analysis.shown_ids import ShownIds
from kwire.analysis.usage_rows import UsageRow
from kwire.analysis.verdicts import TargetRange, Use, judge
from kwire.tables.schemas import UPGRADE_IMPACT

__all__ = ["upgrade_impact"]

Evidence = tuple[str, int]
Place = tuple[str, str | None, int, int]


def upgrade_impact(
    partial: Partial, usage: Sequence[UsageRow], groups: ClientGroups, targets: Sequence[str], highest: Mapping[str, Mapping[str, int]],
    lines: dict[str, str],
) -> pa.Table:  # fmt: skip
    """Make the table.

    Args:
        partial: merged parts.
        usage: rows of `api_usage`.
        groups: the programs behind the keys.
        targets: releases to judge for, such as `4.3.1`.
        highest: by server and api name, the highest version that it offers.
        lines: by server, the release line that it seems to be, such as `4.3`.
    """
    whose = _Owners(partial)
    refused = _refusals(partial, ShownIds(partial), lines)
    rows: list[dict[str, Any]] = []
    for row in usage:
        if row.api_name is None:
            continue  # a key that no release has: there is nothing to say of any release
        group = groups.of(row.client_key, row.client_id)
        for target in targets:
            rows.append(_seen_row(row, group, target_range(target, row.api_key), highest, refused) | whose.of(row))
    rows += [row | whose.of_client(*place) for place, row in _unseen_rows(usage, groups, targets)]
    return pa.Table.from_pylist(rows, schema=UPGRADE_IMPACT)


def _seen_row(
    row: UsageRow,
    group: ClientGroup,
    target: TargetRange,
    highest: Mapping[str, Mapping[str, int]],
    refused: dict[Place, dict[str, Evidence]],
) -> dict[str, Any]:
    assert row.api_name is not None
    software = _sent(row, group)
    offers = [highest[server][row.api_name] for server in row.servers if row.api_name in highest.get(server, {})]
    refusals = refused.get((row.client_key, row.client_id, row.api_key, row.api_version), {})
    line = next((line for line in refusals if target.release.split(".")[:2] == line.split(".")[:2]), None)
    use = Use(
        api_name=row.api_name, api_version=row.api_version, role=group.role, broker_highest=max(offers, default=None),
        negotiates=group.negotiates, refused_by=line, always_refused=row.unsupported == row.requests,
        known=known_maximum(*software, group.guess, row.api_name), answers=group.answers,
    )  # fmt: skip
    return row.values() | _judged(use, target, row.evidence, _software(row, group), None if line is None else refusals[line])


def _unseen_rows(
    usage: Sequence[UsageRow], groups: ClientGroups, targets: Sequence[str]
) -> Iterator[tuple[tuple[str, str | None], dict[str, Any]]]:
    """What a client's library is known to send in a version that a target refuses, although it was not seen."""
    uses: dict[tuple[str, str | None], list[UsageRow]] = defaultdict(list)
    for row in usage:
        uses[row.client_key, row.client_id].append(row)
    for place, rows in uses.items():
        group, first = groups.of(*place), rows[0]
        software = _sent(first, group)
        seen = frozenset(group.versions) | {row.api_name for row in rows if row.api_name is not None}
        if group.role != "client":
            continue
        for api, known in unseen_maxima(*software, group.guess, seen).items():
            assert known.at_most is not None
            key = api_key_of(api)
            blank = UsageRow(*place, first.software_name, first.software_version, key, api, known.at_most)
            for target in targets:
                accepted = target_range(target, key)
                if accepted.accepts is not None and known.at_most < accepted.accepts[0]:
                    use = Use(api_name=api, api_version=known.at_most, negotiates=group.negotiates, known=known, seen=False)
                    yield place, blank.values() | _judged(use, accepted, first.evidence, _software(first, group))


def _sent(row: UsageRow, group: ClientGroup) -> tuple[str | None, str | None]:
    """Software name and version that the client sent, on this connection or another."""
    return (row.software_name, row.software_version) if group.software is None else group.software


def _software(row: UsageRow, group: ClientGroup) -> Software:
    name, version = _sent(row, group)
    library = library_of(name, version) or (group.guess.library.name if group.guess else None) or (name if name != "unknown" else None)
    return Software(library, newest_version(name, version, group.guess), cure_of(name, version, group.guess))


def _judged(
    use: Use, target: TargetRange, evidence: Evidence | None, software: Software, refusal: Evidence | None = None
) -> dict[str, Any]:  # fmt: skip
    judgement = judge(use, target)
    if judgement.basis == "observed_refusal" and refusal is not None:
        evidence = refusal
    remedy, refused_by = remedy_of(use, judgement, target, software), None
    if judgement.verdict == "marked":
        remedy, refused_by = _of_marked(use, target, software)
    return {
        "target_release": target.release, "verdict": judgement.verdict, "verdict_basis": judgement.basis,
        "confidence": judgement.confidence, "evidence_connection_id": evidence[0] if evidence else None,
        "evidence_request_index": evidence[1] if evidence else None, "reason": judgement.reason, "remedy": remedy.text,
        "cure_version": remedy.version, "cure_kind": remedy.kind, "refused_by": refused_by,
    }  # fmt: skip


def _of_marked(use: Use, target: TargetRange, software: Software) -> tuple[Remedy, str | None]:
    """What a marked use needs, and for which release: nothing where each later release accepts it, or the client steps up by itself."""
    later = target.marks[use.api_version]
    if later.at_refusal is None:
        return NOTHING, None
    then = judge(use, later.at_refusal)
    if then.verdict != "rejected":
        return NOTHING, None
    return remedy_of(use, then, later.at_refusal, software), later.refusing


def _refusals(partial: Partial, shown: ShownIds, lines: dict[str, str]) -> dict[Place, dict[str, Evidence]]:
    """Refused uses by release line of the broker; of each line the first."""
    found: dict[Place, dict[str, Evidence]] = defaultdict(dict)
    parts = sorted(  # a request log may have no times
        rows_of(partial["refusals"]), key=lambda part: (part["first_seen"] is None, part["first_seen"], part["evidence_connection_id"])
    )
    for part in parts:
        line = lines.get(part["server"])
        if line is not None and part["api_key"] is not None and part["api_version"] is not None:
            place = (part["client_key"], shown(part["client_key"], part["client_id"]), part["api_key"], part["api_version"])
            found[place].setdefault(line, (part["evidence_connection_id"], part["evidence_request_index"]))
    return found


class _Owners:
    """Addresses and principals of the rows."""

    def __init__(self, partial: Partial) -> None:
        shown = ShownIds(partial)
        self._addresses: dict[tuple[str, str | None], set[str]] = defaultdict(set)
        self._principals: dict[tuple[str, str | None], set[str]] = defaultdict(set)
        for part in rows_of(partial["identities"], "client_key", "client_id", "address", "principal"):
            place = (part["client_key"], shown(part["client_key"], part["client_id"]))
            self._addresses[place].add(part["address"])
            if part["principal"] is not None:
                self._principals[place].add(part["principal"])

    def of(self, row: UsageRow) -> dict[str, Any]:
        return self.of_client(row.client_key, row.client_id)

    def of_client(self, client_key: str, client_id: str | None) -> dict[str, Any]:
        place = (client_key, client_id)
        return {"addresses": sorted(self._addresses[place]), "principals": sorted(self._principals[place]), "owner": None}
