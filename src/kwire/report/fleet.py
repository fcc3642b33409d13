"""All clients in counts: by kind, library and verdicts. A report lists the worst of them, and counts all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from kwire.analysis.digests.of_clients import VERDICTS, release_order, verdicts_of
from kwire.errors import InputError
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.records import record
from kwire.schema import releases

__all__ = ["Fleet", "FleetGroup", "read_fleet", "worst_of"]

Name = TypeVar("Name")


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetGroup:
    """Clients of one library and version with the same verdicts; `kind` is empty for clients without a row of their own."""

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
    targets: tuple[str, ...]
    groups: tuple[FleetGroup, ...]
    running: tuple[str, ...] = ()

    @property
    def applications(self) -> Iterator[FleetGroup]:
        return (group for group in self.groups if group.kind == "application")

    @property
    def kinds(self) -> Counter[str]:
        return _counted([(group.kind, group) for group in self.groups])

    @property
    def worst(self) -> Counter[str | None]:
        return _counted([(group.worst, group) for group in self.applications])

    @property
    def now(self) -> tuple[str, ...]:
        return tuple(target for target in self.targets if line_of(target) in self.running)

    @property
    def back(self) -> tuple[str, ...]:
        """Targets older than every observed broker: a rollback."""
        first = release_order(self.running[0]) if self.running else ((), "")
        return tuple(target for target in self.targets if target in releases() and release_order(target) < first)

    def rejects_today(self, verdicts: Mapping[str, str]) -> bool:
        return any(verdicts.get(target) == "breaks" for target in self.now)

    def at(self, target: str) -> Counter[str | None]:
        return _counted([(group.verdicts.get(target), group) for group in self.applications])


def line_of(release: str) -> str:
    """Return the minor version of a release; for a guess such as `3.9 (3.9.0 to 3.9.2)`, the first one."""
    name = release.partition(" (")[0]
    return releases()[name].minor if name in releases() else name


def worst_of(verdicts: Mapping[str, str]) -> str | None:
    """Return the worst verdict; ignore a deprecation that the newest release does not have."""
    worst = max(verdicts.values(), key=VERDICTS.index, default=None)
    return verdicts[max(verdicts, key=release_order)] if worst == "deprecated" else worst


def _counted(pairs: Iterable[tuple[Name, FleetGroup]]) -> Counter[Name]:
    found: Counter[Name] = Counter()
    for name, group in pairs:
        found[name] += group.clients
    return found


def _running(folder: AnalysisFolder) -> tuple[str, ...]:
    """Return the minor versions of the brokers, or that of `--from` if the captures show none."""
    seen = {line_of(row["release_guess"]) for row in folder.rows("brokers", ["release_guess"]) if row["release_guess"]}
    given = folder.manifest().get("broker_release")
    if not seen and isinstance(given, str):
        with suppress(InputError):
            seen = {releases().resolve(given).minor}
    return tuple(sorted(seen, key=release_order))


def read_fleet(folder: AnalysisFolder) -> Fleet:
    rows = folder.digest["fleet"].to_pylist()
    return Fleet(
        running=_running(folder),
        targets=tuple(sorted({release for row in rows for release in verdicts_of(row["verdicts"])}, key=release_order)),
        groups=tuple(
            record(
                FleetGroup,
                row,
                role=row["role"] or "client",
                identity_source=row["identity_source"] or "not_observed",
                verdicts=verdicts_of(row["verdicts"]),
            )
            for row in rows
        ),
    )
