"""Upgrade verdicts per client and target release, worst first, with the reasons behind them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.report.analysis_folder import AnalysisFolder

__all__ = ["COLUMNS_SHOWN", "VERDICTS", "ClientVerdicts", "Finding", "UpgradeMatrix", "read_upgrade_matrix", "release_order"]

VERDICTS: Final = ("ok", "marked", "undetermined", "rejected")
"""From best to worst: what is certain to break is worse than what may break."""

COLUMNS_SHOWN: Final = 8
"""Releases side by side that a reader still takes in."""

# Remedies for a library that is not known differ in the api alone.
_SENDS: Final = re.compile(r"(?P<before>.* that sends )(?P<api>\w+ v[0-9]+)(?P<after> or later.*)")

_NUMBER: Final = re.compile(r"[0-9]{1,9}")  # a version is the client's own text: no number in it may be too long to read
_EVIDENCE: Final = (
    "client_key", "client_id", "api_name", "api_version", "requests", "target_release", "verdict", "verdict_basis", "confidence",
    "evidence_connection_id", "evidence_request_index", "reason", "remedy", "cure_version", "cure_kind", "refused_by",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Why one api version of a client is not ok: its worst verdict with the reason that the first such release gives, and the milder ones.

    `milder` holds the other verdicts that are not ok, each with its releases, worst first. `refused_by` is of marked uses: the
    first later release that refuses the client for it, empty without one.
    """

    api_name: str
    api_version: int | None
    requests: int
    client_ids: tuple[str, ...]
    verdict: str
    releases: tuple[str, ...]
    milder: tuple[tuple[str, tuple[str, ...]], ...]
    basis: str
    confidence: str
    reason: str
    remedy: str
    cure_version: str
    cure_kind: str
    evidence_connection_id: str
    evidence_request_index: int | None
    refused_by: str = ""

    @property
    def cure(self) -> tuple[str, str, str]:
        """What to do: remedy, version, kind; findings of one client often share it."""
        return self.remedy, self.cure_version, self.cure_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientVerdicts:
    """One client's line: its worst verdict per target (None: nothing of it was judged), and why."""

    client_key: str
    by_target: tuple[str | None, ...]
    findings: tuple[Finding, ...]
    versions_ok: int

    @property
    def worst(self) -> str | None:
        judged = [verdict for verdict in self.by_target if verdict]
        return max(judged, key=VERDICTS.index) if judged else None

    @property
    def cures(self) -> tuple[tuple[str, str, str], ...]:
        """What to do about this client, each thing once, for the worst finding first."""
        found = dict.fromkeys(finding.cure for finding in self.findings if finding.remedy or finding.cure_version)
        return tuple(dict.fromkeys(_with_all_apis(cure, found) for cure in found))

    @property
    def refused_by(self) -> str:
        """The first release that refuses a client which each target takes; empty without one."""
        return min((finding.refused_by for finding in self.findings if finding.refused_by), key=release_order, default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeMatrix:
    """Clients x target releases (ascending), worst client first; `cluster` are the keys of brokers and controllers among them."""

    targets: tuple[str, ...]
    clients: tuple[ClientVerdicts, ...]
    cluster: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the targets that share a column: each its own up to `COLUMNS_SHOWN`, else neighbours that differ for no client."""
        columns = [[0]] if self.targets else []
        for place in range(1, len(self.targets)):
            if len(self.targets) > COLUMNS_SHOWN and all(one.by_target[place] == one.by_target[place - 1] for one in self.clients):
                columns[-1].append(place)
            else:
                columns.append([place])
        return tuple(tuple(column) for column in columns)

    def count(self, target: str) -> dict[str, int]:
        """How many clients have which worst verdict at a target; brokers and controllers do not count."""
        column = self.targets.index(target)
        found = dict.fromkeys(VERDICTS, 0)
        for client in self.clients:
            verdict = client.by_target[column]
            if verdict is not None and client.client_key not in self.cluster:
                found[verdict] += 1
        return found


def release_order(release: str) -> tuple[tuple[int, ...], str]:
    """Sort key of a release or a client's version: ``0.8 < 3.9.2 < 4.0 < 4.0.2 < v4.10``."""
    return tuple(int(part) for part in _NUMBER.findall(release)), release


def read_upgrade_matrix(folder: AnalysisFolder) -> UpgradeMatrix:
    """Fold the rows of `upgrade_impact` (client x api x version x target, one for each client id) into one line a client."""
    table = folder.read("upgrade_impact", ["client_key", "api_name", "api_version", "target_release", "verdict"])
    rank = pc.index_in(table["verdict"], value_set=pa.array(VERDICTS))
    judged = table.append_column("rank", rank).filter(pc.is_valid(rank))
    cells: dict[str, dict[str, int]] = defaultdict(dict)
    for row in judged.group_by(["client_key", "target_release"]).aggregate([("rank", "max")]).to_pylist():
        cells[row["client_key"]][row["target_release"]] = row["rank_max"]
    versions = (
        judged.group_by(["client_key", "api_name", "api_version"]).aggregate([]).group_by("client_key").aggregate([([], "count_all")])
    )
    judged_versions = {row["client_key"]: row["count_all"] for row in versions.to_pylist()}
    targets = sorted({target for line in cells.values() for target in line}, key=release_order)
    findings = _findings(folder)
    clients = [
        ClientVerdicts(
            client_key=key,
            by_target=tuple(None if target not in line else VERDICTS[line[target]] for target in targets),
            findings=findings.get(key, ()),
            versions_ok=judged_versions[key] - len(findings.get(key, ())),
        )
        for key, line in cells.items()
    ]
    clients.sort(key=_badness)
    members = folder.rows("clients", ["client_key"], pc.field("role").isin(["broker", "controller"]))
    return UpgradeMatrix(targets=tuple(targets), clients=tuple(clients), cluster=frozenset(row["client_key"] for row in members))


def _with_all_apis(cure: tuple[str, str, str], others: Iterable[tuple[str, str, str]]) -> tuple[str, str, str]:
    """One remedy for all apis of a client that need the same."""
    parts = _SENDS.fullmatch(cure[0])
    if parts is None:
        return cure
    alike = [found for remedy, *_ in others if (found := _SENDS.fullmatch(remedy)) and found["before"] == parts["before"]]
    apis = [each["api"] for each in alike]
    listed = ", ".join(apis[:-1]) + " and " + apis[-1] if len(apis) > 1 else apis[0]
    return (f"{parts['before']}{listed}{parts['after']}", *cure[1:])


def _badness(client: ClientVerdicts) -> tuple[Any, ...]:
    tally = [-sum(verdict == name for verdict in client.by_target) for name in reversed(VERDICTS[1:])]
    worst = client.worst
    return -VERDICTS.index(worst) if worst else 1, *tally, -sum(one.requests for one in client.findings), client.client_key


def _findings(folder: AnalysisFolder) -> dict[str, tuple[Finding, ...]]:
    rows = folder.rows("upgrade_impact", _EVIDENCE, pc.field("verdict").isin(VERDICTS[1:]))
    rows.sort(key=lambda row: release_order(row["target_release"] or ""))
    groups: dict[tuple[Any, ...], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        groups[row["client_key"], row["api_name"], row["api_version"]][row["verdict"]].append(row)
    found: dict[str, list[Finding]] = defaultdict(list)
    for (key, *_), by_verdict in groups.items():
        found[key].append(_finding(by_verdict))
    return {key: tuple(sorted(of_client, key=_finding_order)) for key, of_client in found.items()}


def _finding(by_verdict: Mapping[str, list[dict[str, Any]]]) -> Finding:
    worst, *milder = sorted(by_verdict, key=VERDICTS.index, reverse=True)
    first = by_verdict[worst][0]
    # several client ids of one client have a row each: the releases of both are the same, their requests add up
    releases = {verdict: tuple(dict.fromkeys(row["target_release"] or "" for row in rows)) for verdict, rows in by_verdict.items()}
    of_first = [row for row in by_verdict[worst] if row["target_release"] == first["target_release"]]
    return Finding(
        api_name=first["api_name"] or "",
        api_version=first["api_version"],
        requests=sum(row["requests"] or 0 for row in of_first),
        client_ids=tuple(dict.fromkeys(row["client_id"] for row in of_first if row["client_id"] is not None)),
        verdict=worst,
        releases=releases[worst],
        milder=tuple((verdict, releases[verdict]) for verdict in milder),
        basis=first["verdict_basis"] or "",
        confidence=first["confidence"] or "",
        reason=first["reason"] or "",
        remedy=first["remedy"] or "",
        cure_version=first["cure_version"] or "",
        cure_kind=first["cure_kind"] or "",
        evidence_connection_id=first["evidence_connection_id"] or "",
        evidence_request_index=first["evidence_request_index"],
        refused_by=first["refused_by"] or "",
    )


def _finding_order(finding: Finding) -> tuple[Any, ...]:
    return -VERDICTS.index(finding.verdict), release_order(finding.releases[0]), finding.api_name, finding.api_version or 0
