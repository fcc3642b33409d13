"""Upgrade verdicts per client and target release, worst first, with their reasons."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kwire.analysis.digests.of_clients import VERDICTS, release_order, verdicts_of
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.fleet import Fleet, read_fleet, worst_of
from kwire.report.records import record

__all__ = ["COLUMNS_SHOWN", "VERDICTS", "ClientVerdicts", "Finding", "UpgradeMatrix", "read_upgrade_matrix", "release_order"]

COLUMNS_SHOWN: Final = 8
"""Maximum number of releases with separate columns."""

# Remedies for a library that is not known differ in the api alone.
_SENDS: Final = re.compile(r"(?P<before>.* that sends )(?P<api>\w+ v[0-9]+)(?P<after> or later.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Incompatible api version of a client: its worst verdict with the reason of the first such release.

    `milder` holds the other verdicts that are not compatible, each with its releases, worst first. `refused_by` has, for a deprecated use,
    the first later release that rejects the client for it; empty if there is none.
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
        return self.remedy, self.cure_version, self.cure_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientVerdicts:
    client_key: str
    verdicts: Mapping[str, str]
    findings: tuple[Finding, ...]
    versions_ok: int

    @property
    def worst(self) -> str | None:
        return worst_of(self.verdicts)

    def first(self, verdict: str) -> str:
        return next(release for release, found in self.verdicts.items() if found == verdict)

    def last(self, verdict: str, targets: Sequence[str]) -> str:
        return next(target for target in reversed(targets) if self.verdicts.get(target) == verdict)

    @property
    def cures(self) -> tuple[tuple[str, str, str], ...]:
        found = dict.fromkeys(finding.cure for finding in self.findings if finding.remedy or finding.cure_version)
        return tuple(dict.fromkeys(_with_all_apis(cure, found) for cure in found))

    @property
    def refused_by(self) -> str:
        """The first release that refuses a client which each target takes; empty without one."""
        return min((finding.refused_by for finding in self.findings if finding.refused_by), key=release_order, default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeMatrix:
    """Listed clients, worst first, x target releases (ascending); `cluster` has the keys of brokers and controllers."""

    fleet: Fleet
    clients: tuple[ClientVerdicts, ...]
    cluster: frozenset[str] = frozenset()

    @property
    def targets(self) -> tuple[str, ...]:
        return self.fleet.targets

    @property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """Targets that share a column: each its own up to `COLUMNS_SHOWN`, else neighbours that differ for no client."""
        columns: list[list[str]] = []
        for target in self.targets:
            last = columns[-1][-1] if columns and len(self.targets) > COLUMNS_SHOWN else ""
            if last and all(group.verdicts.get(target) == group.verdicts.get(last) for group in self.fleet.groups):
                columns[-1].append(target)
            else:
                columns.append([target])
        return tuple(map(tuple, columns))

    def count(self, target: str) -> dict[str, int]:
        found = self.fleet.at(target)
        return {verdict: found[verdict] for verdict in VERDICTS}


def read_upgrade_matrix(folder: AnalysisFolder) -> UpgradeMatrix:
    """Read the verdicts; rows of `upgrade_impact` (client x api x version x target, one for each client id) make one line a client."""
    fleet, findings = read_fleet(folder), _findings(folder)
    rows = folder.digest["clients"].select(["client_key", "verdicts", "versions_ok", "role"]).to_pylist()
    clients = [
        record(ClientVerdicts, row, verdicts=verdicts_of(row["verdicts"]), findings=findings.get(row["client_key"], ())) for row in rows
    ]
    judged = [client for client in clients if client.verdicts]
    judged.sort(key=_badness)
    members = frozenset(row["client_key"] for row in rows if row["role"] in ("broker", "controller"))
    return UpgradeMatrix(fleet=fleet, clients=tuple(judged), cluster=members)


def _with_all_apis(cure: tuple[str, str, str], others: Iterable[tuple[str, str, str]]) -> tuple[str, str, str]:
    parts = _SENDS.fullmatch(cure[0])
    if parts is None:
        return cure
    alike = [found for remedy, *_ in others if (found := _SENDS.fullmatch(remedy)) and found["before"] == parts["before"]]
    apis = [each["api"] for each in alike]
    listed = ", ".join(apis[:-1]) + " and " + apis[-1] if len(apis) > 1 else apis[0]
    return (f"{parts['before']}{listed}{parts['after']}", *cure[1:])


def _badness(client: ClientVerdicts) -> tuple[Any, ...]:
    tally = [-sum(verdict == name for verdict in client.verdicts.values()) for name in reversed(VERDICTS[1:])]
    worst = client.worst
    return -VERDICTS.index(worst) if worst else 1, *tally, -sum(one.requests for one in client.findings), client.client_key


def _findings(folder: AnalysisFolder) -> dict[str, tuple[Finding, ...]]:
    rows = folder.digest["findings"].to_pylist()
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
    return record(
        Finding,
        first,
        requests=sum(row["requests"] or 0 for row in of_first),
        client_ids=tuple(dict.fromkeys(row["client_id"] for row in of_first if row["client_id"] is not None)),
        releases=releases[worst],
        milder=tuple((verdict, releases[verdict]) for verdict in milder),
        basis=first["verdict_basis"] or "",
    )


def _finding_order(finding: Finding) -> tuple[Any, ...]:
    return -VERDICTS.index(finding.verdict), release_order(finding.releases[0]), finding.api_name, finding.api_version or 0
