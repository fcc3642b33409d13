"""All clients in counts: by kind, library and verdicts. A report lists the worst of them, and counts all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from kwire.analysis.digests.of_clients import NOT_JUDGED, VERDICTS
from kwire.report.analysis_folder import AnalysisFolder

__all__ = ["Fleet", "FleetGroup", "read_fleet", "verdicts_of"]

Name = TypeVar("Name")


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetGroup:
    """Clients of one library and version that have the same verdicts.

    Attributes:
        kind: `kwire.analysis.digests.of_clients.Kind`; empty for clients that have verdicts and no row of their own.
        by_target: the verdict of each target release, None where there is none.
        clients: how many they are.
        connections, requests, errors: of all of them; None where not known.
    """

    kind: str
    role: str
    library: str
    version: str
    guessed: bool
    identity_source: str
    by_target: tuple[str | None, ...]
    clients: int
    connections: int | None
    requests: int | None
    errors: int | None

    @property
    def worst(self) -> str | None:
        judged = [verdict for verdict in self.by_target if verdict]
        return max(judged, key=VERDICTS.index) if judged else None


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

    def at(self, place: int) -> Counter[str | None]:
        """How many applications have which verdict at a target."""
        return _counted([(group.by_target[place], group) for group in self.applications])

    def judged_at(self, place: int) -> Counter[str | None]:
        """How many peers have which verdict at a target, but for brokers and controllers."""
        return _counted([(group.by_target[place], group) for group in self.groups if group.role not in ("broker", "controller")])


def _counted(pairs: Iterable[tuple[Name, FleetGroup]]) -> Counter[Name]:
    found: Counter[Name] = Counter()
    for name, group in pairs:
        found[name] += group.clients
    return found


def read_fleet(folder: AnalysisFolder) -> Fleet:
    """Read the counts."""
    targets = folder.digest["targets"].column("target_release").to_pylist()
    rows = folder.digest["fleet"].to_pylist()
    used = [place for place in range(len(targets)) if any(row["verdicts"][place] != NOT_JUDGED for row in rows)]
    return Fleet(
        targets=tuple(str(targets[place]) for place in used),
        groups=tuple(
            FleetGroup(
                kind=row["kind"] or "",
                role=row["role"] or "client",
                library=row["library"] or "",
                version=row["version"] or "",
                guessed=bool(row["guessed"]),
                identity_source=row["identity_source"] or "not_observed",
                by_target=verdicts_of(row["verdicts"], used),
                clients=row["clients"],
                connections=row["connections"],
                requests=row["requests"],
                errors=row["errors"],
            )
            for row in rows
        ),
    )


def verdicts_of(pattern: str, places: list[int]) -> tuple[str | None, ...]:
    """The verdicts that a digest has as characters.

    Args:
        pattern: a character for each target of the digest.
        places: the targets that are shown.
    """
    return tuple(None if pattern[place] == NOT_JUDGED else VERDICTS[int(pattern[place])] for place in places)
