"""Table `upgrade_impact`: every use of an api judged for every target release, with evidence, basis and cure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from kwire.analysis.client_groups import ClientGroup, ClientGroups
from kwire.analysis.known_clients import Cure, cure_of, known_maximum, unseen_maxima
from kwire.analysis.partials import Partial
from kwire.analysis.plain_rows import rows_of
from kwire.analysis.release_ranges import api_key_of, target_range
from kwire.analysis.shown_ids import ShownIds
from kwire.analysis.usage_rows import UsageRow
from kwire.analysis.verdicts import Judgement, TargetRange, Use, judge
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
    software = (row.software_name, row.software_version) if group.software is None else group.software
    offers = [highest[server][row.api_name] for server in row.servers if row.api_name in highest.get(server, {})]
    refusals = refused.get((row.client_key, row.client_id, row.api_key, row.api_version), {})
    line = next((line for line in refusals if target.release.split(".")[:2] == line.split(".")[:2]), None)
    use = Use(
        api_name=row.api_name, api_version=row.api_version, role=group.role, broker_highest=max(offers, default=None),
        negotiates=group.negotiates, refused_by=line, always_refused=row.unsupported == row.requests,
        known=known_maximum(*software, group.guess, row.api_name),
    )  # fmt: skip
    judgement = judge(use, target)
    evidence = row.evidence
    if judgement.basis == "observed_refusal" and line is not None:
        evidence = refusals[line]
    return row.values() | _judged(judgement, target, evidence, cure_of(*software, group.guess))


def _unseen_rows(
    usage: Sequence[UsageRow], groups: ClientGroups, targets: Sequence[str]
) -> Iterator[tuple[tuple[str, str | None], dict[str, Any]]]:
    """What a client's library is known to send in a version that a target refuses, although it was not seen."""
    uses: dict[tuple[str, str | None], list[UsageRow]] = defaultdict(list)
    for row in usage:
        uses[row.client_key, row.client_id].append(row)
    for place, rows in uses.items():
        group, first = groups.of(*place), rows[0]
        software = (first.software_name, first.software_version) if group.software is None else group.software
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
                    cure = cure_of(*software, group.guess)
                    yield place, blank.values() | _judged(judge(use, accepted), accepted, first.evidence, cure)


def _judged(judgement: Judgement, target: TargetRange, evidence: Evidence | None, cure: Cure | None) -> dict[str, Any]:
    helps = judgement.verdict in ("rejected", "marked") or judgement.basis == "broker_ceiling"
    return {
        "target_release": target.release, "verdict": judgement.verdict, "verdict_basis": judgement.basis,
        "confidence": judgement.confidence, "evidence_connection_id": evidence[0] if evidence else None,
        "evidence_request_index": evidence[1] if evidence else None, "reason": judgement.reason,
        "remedy": _remedy(judgement, target, cure) if helps else None, "cure_version": cure.version if cure and helps else None,
        "cure_kind": cure.kind if cure and helps else None,
    }  # fmt: skip


_UNKNOWN_LIBRARY: Final = "Find out which library this is and upgrade it"


def _remedy(judgement: Judgement, target: TargetRange, cure: Cure | None) -> str:
    if judgement.basis == "broker_ceiling":
        return "Look up the library's version, or watch the client against a newer broker; nothing here tells whether it can do more."
    if cure is not None:
        return cure.remedy
    if target.accepts is None:
        return f"{_UNKNOWN_LIBRARY} to one that does not need this api."
    return f"{_UNKNOWN_LIBRARY} to a version that sends v{target.accepts[0]} or later; until then a proxy can stand in between."


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
