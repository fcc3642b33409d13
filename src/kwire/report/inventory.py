"""Clients of the cluster, individually and by library and version."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from kwire.analysis.digests.of_clients import release_order
from kwire.report.amounts import plural
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.fleet import Fleet, FleetGroup
from kwire.report.records import record

__all__ = [
    "IDENTITY_SOURCES", "Client", "LibraryVersion", "Population", "applications", "by_library", "identified_by", "population",
    "read_clients",
]  # fmt: skip

Kind = Literal["application", "cluster", "silent", "stranger"]

IDENTITY_SOURCES: Final = {
    "api_versions": "self-reported",
    "fingerprint": "inferred",
    "not_sent": "not sent",
    "not_observed": "handshake not captured",
}
"""Sources of a library's name, in words."""


def identified_by(source: str, guessed: bool) -> str:
    """Return the source in words; a client that names itself `unknown` may still be inferred."""
    return "inferred" if guessed else IDENTITY_SOURCES.get(source, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Row of `clients`; `library` is the sent name, else the guess, else empty. Sums are None if unknown.

    `kind` is `application` for a client, `cluster` for a broker or controller, `silent` for a peer that was refused or sent nothing, and
    `stranger` for a client of another protocol.
    """

    client_key: str
    library: str
    version: str
    guessed: bool
    identity_source: str
    confidence: str
    client_ids: tuple[str, ...]
    addresses: tuple[str, ...]
    principals: tuple[str, ...]
    role: str
    owner: str
    connections: int | None
    requests: int | None
    errors: int | None
    first_seen: datetime | None
    last_seen: datetime | None
    contact: str = ""
    kind: Kind = "application"

    @property
    def label(self) -> str:
        return f"{self.library or 'unknown library'} {self.version}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryVersion:
    """Clients of one library and version; `verdicts` counts them by their worst verdict at the newest target."""

    library: str
    version: str
    guessed: bool
    identity_source: str
    clients: int
    connections: int | None
    requests: int | None
    verdicts: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    clients: int
    cluster: int
    silent: int
    strangers: int

    @property
    def apart(self) -> str:
        parts = [
            f"{plural(self.cluster, 'program')} of the cluster itself" if self.cluster else "",
            f"{plural(self.silent, 'peer')} that sent nothing" if self.silent else "",
            f"{plural(self.strangers, 'peer')} that spoke another protocol" if self.strangers else "",
        ]
        return ", ".join(part for part in parts if part)


def population(fleet: Fleet) -> Population:
    kinds = fleet.kinds
    return Population(clients=kinds["application"], cluster=kinds["cluster"], silent=kinds["silent"], strangers=kinds["foreign"])


def applications(clients: Iterable[Client]) -> tuple[Client, ...]:
    return tuple(client for client in clients if client.kind == "application")


def read_clients(folder: AnalysisFolder) -> tuple[Client, ...]:
    """Read the listed clients, applications first, then by library and version."""
    rows = folder.digest["clients"].to_pylist()
    return tuple(sorted((_client(row) for row in rows if row["kind"]), key=_order))


def _client(row: dict[str, Any]) -> Client:
    return record(
        Client,
        row,
        identity_source=row["identity_source"] or "not_observed",
        role=row["role"] or "client",
        kind="stranger" if row["kind"] == "foreign" else row["kind"],
    )


def _total(numbers: Iterable[int | None]) -> int | None:
    """Sum up known numbers; None if there are none: a log of deprecated requests gives no totals."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _order(client: Client) -> tuple[Any, ...]:
    return (
        client.role != "client",
        client.kind != "application",
        not client.library,
        client.library.lower(),
        release_order(client.version),
        client.client_ids,
        client.client_key,
    )


def by_library(fleet: Fleet) -> tuple[LibraryVersion, ...]:
    groups: dict[tuple[str, str, bool], list[FleetGroup]] = defaultdict(list)
    per_library: Counter[str] = Counter()
    for group in sorted(fleet.applications, key=lambda group: (group.guessed, -group.clients)):
        groups[group.library, group.version, group.guessed].append(group)
        per_library[group.library] += group.clients
    newest = fleet.targets[-1] if fleet.targets else ""
    lines = []
    for (library, version, guessed), members in groups.items():
        verdicts: Counter[str] = Counter()
        for group in members:
            verdicts[group.verdicts.get(newest, "unjudged")] += group.clients
        lines.append(
            LibraryVersion(
                library=library,
                version=version,
                guessed=guessed,
                identity_source=members[0].identity_source,
                clients=sum(group.clients for group in members),
                connections=_total(group.connections for group in members),
                requests=_total(group.requests for group in members),
                verdicts=dict(verdicts),
            )
        )
    return tuple(
        sorted(lines, key=lambda line: (not line.library, -per_library[line.library], line.library.lower(), release_order(line.version)))
    )
