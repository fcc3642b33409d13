"""All clients in counts: by kind, library and verdicts. A report lists the worst of them, and counts all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from kwire.analysis.digests.of_clients import VERDICTS, release_order, verdicts_of
from kwire.report.analysis_folder import AnalysisFolder

__all__ = ["Fleet", "FleetGroup", "read_fleet", "worst_of"]

Name = TypeVar("Name")


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetGroup:
    """Clients of one library and version that have the same verdicts.

    Attributes:
        kind: `kwire.analysis.digests.of_clients.Kind`; empty for clients that have verdicts and no row of their own.
        verdicts: by target release, without those for which nothing was judged.
        clients: how many they are.
        connections, requests, errors: of all of them; None where not known.
    """

    kind: str
    role: str
    library: str
    version: str
    guessed: bool
    identity_source: str
    verdicts: Mapping[str, str]
    clients: int
    connections: int | None
    requests: int | None
    errors: int | None

    @property
    def worst(self) -> str | None:
        return worst_of(self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """All clients; `targets` ascend, those for which nothing was judged are left out."""

    targets: tuple[str, ...]
    groups: tuple[FleetGroup, ...]

    @property
    def applications(self) -> Iterator[FleetGroup]:
        """The groups that count as clients."""
        return (group for group in self.groups if group.kind == "application")

    @property
    def kinds(self) -> Counter[str]:
        """How many clients there are of each kind."""
        return _counted([(group.kind, group) for group in self.groups])

    @property
    def worst(self) -> Counter[str | None]:
        """How many applications have which worst verdict over all targets."""
        return _counted([(group.worst, group) for group in self.applications])

    def at(self, target: str) -> Counter[str | None]:
        """How many applications have which verdict at a target."""
        return _counted([(group.verdicts.get(target), group) for group in self.applications])


def worst_of(verdicts: Mapping[str, str]) -> str | None:
    """The worst of verdicts by release, None without any."""
    return max(verdicts.values(), key=VERDICTS.index, default=None)


def _counted(pairs: Iterable[tuple[Name, FleetGroup]]) -> Counter[Name]:
    found: Counter[Name] = Counter()
    for name, group in pairs:
        found[name] += group.clients
    return found


def read_fleet(folder: AnalysisFolder) -> Fleet:
    """Read the counts."""
    rows = folder.digest["fleet"].to_pylist()
    return Fleet(
        targets=tuple(sorted({release for row in rows for release in verdicts_of(row["verdicts"])}, key=release_order)),
        groups=tuple(
            FleetGroup(
                kind=row["kind"] or "",
                role=row["role"] or "client",
                library=row["library"] or "",
                version=row["version"] or "",
                guessed=bool(row["guessed"]),
                identity_source=row["identity_source"] or "not_observed",
                verdicts=verdicts_of(row["verdicts"]),
                clients=row["clients"],
                connections=row["connections"],
                requests=row["requests"],
                errors=row["errors"],
            )
            for row in rows
        ),
    )
