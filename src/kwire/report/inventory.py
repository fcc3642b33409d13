"""The clients of the cluster, one by one and by library and version."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from kwire.report.amounts import plural
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.verdicts import release_order

__all__ = ["IDENTITY_SOURCES", "Client", "LibraryVersion", "Population", "applications", "by_library", "population", "read_clients"]

Kind = Literal["application", "cluster", "silent", "stranger"]

# Protocols of connections on which no client can be seen: nothing was sent, or nothing behind a PROXY header; a check by HTTP or SSH.
_SILENT: Final = frozenset(("silent", "proxy"))
_STRANGERS: Final = frozenset(("http", "ssh"))

IDENTITY_SOURCES: Final = {
    "api_versions": "self-reported",
    "fingerprint": "inferred",
    "not_sent": "not sent",
    "not_observed": "handshake not captured",
}
"""How a library is known, in words."""

_COLUMNS: Final = (
    "client_key", "software_name", "software_version", "identity_source", "library_guess", "confidence", "client_ids", "addresses",
    "principals", "role", "owner", "contact", "connections", "requests", "errors", "first_seen", "last_seen",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One row of `clients`; `library` is what it calls itself, else the guess, else empty. Sums are None where they are not known.

    `kind` says whether it counts as a client: an `application` does, a part of the `cluster` itself (a broker or controller), a `silent`
    peer (refused, or connected without a byte) and a `stranger` (HTTP, SSH) do not.
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
        """Library and version, for a legend or a line of text."""
        return f"{self.library or 'unknown library'} {self.version}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryVersion:
    """Clients of one library and version; `verdicts` counts them by their worst verdict at the newest target."""

    library: str
    version: str
    guessed: bool
    clients: int
    connections: int | None
    requests: int | None
    verdicts: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """How many rows of `clients` are clients, and how many are something else, by `Client.kind`."""

    clients: int
    cluster: int
    silent: int
    strangers: int

    @property
    def apart(self) -> str:
        """What is not counted as a client, as words; empty where there is nothing."""
        parts = [
            f"{plural(self.cluster, 'program')} of the cluster itself" if self.cluster else "",
            f"{plural(self.silent, 'peer')} that sent nothing" if self.silent else "",
            f"{plural(self.strangers, 'peer')} that spoke HTTP or SSH" if self.strangers else "",
        ]
        return ", ".join(part for part in parts if part)


def population(clients: Iterable[Client]) -> Population:
    """Count clients by kind."""
    kinds = Counter(client.kind for client in clients)
    return Population(
        clients=kinds["application"], cluster=kinds["cluster"], silent=kinds["silent"], strangers=kinds["stranger"]
    )  # fmt: skip


def applications(clients: Iterable[Client]) -> tuple[Client, ...]:
    """The rows that count as clients."""
    return tuple(client for client in clients if client.kind == "application")


def read_clients(folder: AnalysisFolder) -> tuple[Client, ...]:
    """All clients, those of the applications first, then by library and version."""
    rows = folder.rows("clients", _COLUMNS)
    protocols = _protocols(folder, [row["client_key"] for row in rows if row["requests"] == 0])
    return tuple(sorted((_client(row, _kind(row, protocols.get(row["client_key"], set()))) for row in rows), key=_order))


def _protocols(folder: AnalysisFolder, keys: list[str]) -> dict[str, set[str]]:
    """What the connections of these clients speak."""
    found: dict[str, set[str]] = defaultdict(set)
    wanted = pa.array(keys, pa.string())
    for batch in folder.scan("connections", ("client_key", "protocol")) if keys else ():
        table = pa.Table.from_batches([batch])
        for row in (
            table.filter(pc.is_in(table["client_key"], value_set=wanted)).group_by(["client_key", "protocol"]).aggregate([]).to_pylist()
        ):
            found[row["client_key"]].add(row["protocol"] or "unknown")
    return found


def _kind(row: dict[str, Any], protocols: set[str]) -> Kind:
    if (row["role"] or "client") != "client":
        return "cluster"
    if row["requests"] != 0 or not protocols or protocols - _SILENT - _STRANGERS:
        return "application"
    return "stranger" if protocols & _STRANGERS else "silent"


def _client(row: dict[str, Any], kind: Kind) -> Client:
    named = row["software_name"] not in (None, "", "unknown")
    guess, guessed_version = split_guess(row["library_guess"] or "")
    return Client(
        client_key=row["client_key"] or "",
        library=row["software_name"] if named else guess,
        version=(row["software_version"] or "") if named else guessed_version,
        guessed=not named and bool(guess),
        identity_source=row["identity_source"] or "not_observed",
        confidence=row["confidence"] or "",
        client_ids=tuple(row["client_ids"] or ()),
        addresses=tuple(row["addresses"] or ()),
        principals=tuple(row["principals"] or ()),
        role=row["role"] or "client",
        owner=row["owner"] or "",
        connections=row["connections"],
        requests=row["requests"],
        errors=row["errors"],
        first_seen=row["first_seen"],
        last_seen=row["last_seen"],
        contact=row["contact"] or "",
        kind=kind,
    )


def _total(numbers: Iterable[int | None]) -> int | None:
    """None where nobody's are known: a log of deprecated requests gives no totals."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def split_guess(guess: str) -> tuple[str, str]:
    """Give library and range of a guess, without the versions that were tried: ``aiokafka after 0.5.0 (tried: 0.5.2)`` in its two parts."""
    library, _, version = guess.partition(" (tried:")[0].partition(" ")
    return library, version


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


def by_library(clients: tuple[Client, ...], verdicts: dict[str, str | None]) -> tuple[LibraryVersion, ...]:
    """Group clients by library and version, libraries with most clients first.

    Args:
        clients: from `read_clients`.
        verdicts: worst verdict at the newest target, by client key.
    """
    groups: dict[tuple[str, str, bool], list[Client]] = defaultdict(list)
    for client in clients:
        groups[client.library, client.version, client.guessed].append(client)
    per_library = Counter(client.library for client in clients)
    lines = [
        LibraryVersion(
            library=library,
            version=version,
            guessed=guessed,
            clients=len(members),
            connections=_total(client.connections for client in members),
            requests=_total(client.requests for client in members),
            verdicts=dict(Counter(verdicts.get(client.client_key) or "unjudged" for client in members)),
        )
        for (library, version, guessed), members in groups.items()
    ]
    return tuple(
        sorted(lines, key=lambda line: (not line.library, -per_library[line.library], line.library.lower(), release_order(line.version)))
    )
