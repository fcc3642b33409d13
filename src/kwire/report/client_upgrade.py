"""Upgrade of Kafka's Java clients with the brokers as they are: who may move to a release today, and who talks to a broker too old for it.

A client sends no version below the lowest of its release, so each API that the application uses needs a broker that offers that version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from kwire.analysis.digests.of_clients import release_order
from kwire.report.amounts import plural
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.inventory import applications, read_clients
from kwire.schema import Release, catalog, releases

__all__ = ["ClientMove", "client_moves", "moves_sentence", "obstacle"]

_JAVA: Final = "apache-kafka-java"
_PRODUCE: Final = 0
_API_VERSIONS: Final = 18
_INIT_PRODUCER_ID: Final = 22
_IDEMPOTENT: Final = (3,)  # the producer's default from 3.0 on (KIP-679)
_BASELINE: Final = (2, 1)  # of 4.0 and later (KIP-896)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMove:
    """Application, whether it may move, and what is in the way; `unknown` if no broker's versions are in the captures."""

    client: str
    library: str
    verdict: Literal["compatible", "breaks", "unknown"]
    reason: str


def client_moves(folder: AnalysisFolder, release: Release) -> tuple[ClientMove, ...]:
    """Judge the applications with an older release of Kafka's Java client, those that cannot move first."""
    offers: dict[int, int] = {}
    running: list[str] = []
    for broker in folder.rows("brokers", ["versions", "release_guess"]):
        running += [broker["release_guess"]] if broker["release_guess"] else []
        for each in broker["versions"] or ():
            offers[each["api_key"]] = min(each["max_version"], offers.get(each["api_key"], each["max_version"]))
    oldest = min(running, key=release_order, default="").partition(" ")[0]
    used: dict[str, set[int]] = {}
    for row in folder.rows("api_usage", ["client_key", "api_key"]):
        if row["api_key"] is not None:
            used.setdefault(row["client_key"], set()).add(row["api_key"])
    found = []
    for client in applications(read_clients(folder)):
        is_there = not client.guessed and release_order(client.version)[0] >= release.key
        if client.library == _JAVA and not is_there:
            reason = obstacle(used.get(client.client_key, ()), offers, oldest, release) if offers else "no broker's versions were captured"
            name = ", ".join(client.client_ids) or ", ".join(client.addresses)
            verdict: Literal["compatible", "breaks", "unknown"] = "breaks" if reason and offers else "unknown" if reason else "compatible"
            found.append(ClientMove(client=name, library=client.label, verdict=verdict, reason=reason))
    return tuple(sorted(found, key=lambda move: (("breaks", "unknown", "compatible").index(move.verdict), move.client)))


def obstacle(used: Iterable[int], offers: Mapping[int, int], running: str, release: Release) -> str:
    """Return what keeps an application from moving to the clients of a release, empty if nothing does.

    Arguments:
        used: API keys that it uses.
        offers: highest version by API key that all its brokers offer.
        running: oldest release of its brokers, empty if unknown.
        release: release of the clients.
    """
    if release.key >= (4,) and running and release_order(running)[0] < _BASELINE:
        return f"clients of {release.minor} need brokers of Kafka 2.1 or later (KIP-896), and these run {running}"
    keys = set(used) - {_API_VERSIONS}
    if _PRODUCE in keys and release.key >= _IDEMPOTENT:
        keys.add(_INIT_PRODUCER_ID)
    for key in sorted(keys):
        name, sends = catalog().api_name(key), release.accepts_anywhere(key)
        if sends is None:
            continue
        if key not in offers:
            cure = ", unless enable.idempotence=false is set" if key == _INIT_PRODUCER_ID else ""
            return f"it uses {name}, which the brokers lack{cure}"
        if offers[key] < sends.lowest:
            return f"clients of {release.minor} send {name} v{sends.lowest} or later, and the brokers have v{offers[key]} at most"
    return ""


def moves_sentence(moves: Iterable[ClientMove], release: Release) -> str:
    """Return the answer: ``12 applications may move to kafka-clients 4.1 today; 3 talk to a broker that is too old``."""
    verdicts = [move.verdict for move in moves]
    may, old, unknown = (verdicts.count(verdict) for verdict in ("compatible", "breaks", "unknown"))
    said = [f"{plural(may, 'application')} may move to kafka-clients {releases().short_name(release.name)} today"]
    said += [f"{old:,} {'talks' if old == 1 else 'talk'} to a broker that is too old"] if old else []
    said += [f"{unknown:,} cannot be judged: no broker's versions were captured"] if unknown else []
    return "; ".join(said)
