"""Upgrade of client libraries with the brokers as they are: who may move today, and who talks to a broker too old for it.

Java applications move to a release; it sends no version below its lowest, so each API that the application uses needs a broker that offers
that version. Others move to the newest version of their library whose needs are known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from kwire.analysis.digests.of_clients import release_order
from kwire.analysis.library_profiles import Brokers, library_of
from kwire.report.amounts import plural
from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.inventory import applications, read_clients
from kwire.report.listings import Column, Listing
from kwire.schema import Release, catalog, releases
from kwire.schema.version_numbers import version_numbers

__all__ = ["ClientMove", "ClientMoves", "client_moves", "judge_move"]

_PRODUCE: Final = 0
_API_VERSIONS: Final = 18
_INIT_PRODUCER_ID: Final = 22
_IDEMPOTENT: Final = (3,)  # the Java producer's default from 3.0 on (KIP-679)
_ORDER: Final = ("breaks", "deprecated", "unknown", "compatible")

Verdict = Literal["breaks", "deprecated", "unknown", "compatible"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMove:
    """Move of an application to a version of its library.

    Attributes:
        to: library and version, such as `kafka-clients 4.1`.
        verdict: `deprecated` if it works, but unsupported; `unknown` if no broker's versions are in the captures.
        reason: obstacle; empty if there is none.
    """

    client: str
    library: str
    to: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class ClientMoves:
    """Moves of all applications with older clients, those that cannot move first; `release` is that of the Java clients."""

    release: Release
    moves: tuple[ClientMove, ...]

    @property
    def sentences(self) -> list[str]:
        """Answers by library: ``12 applications may move to kafka-clients 4.1 today; 3 talk to a broker that is too old``."""
        verdicts: dict[str, list[Verdict]] = {_kafka_clients(self.release): []}
        for move in self.moves:
            verdicts.setdefault(move.to, []).append(move.verdict)
        return [_sentence(to, [found.count(verdict) for verdict in _ORDER]) for to, found in verdicts.items()]

    @property
    def listing(self) -> Listing:
        return Listing(
            id="client-upgrades",
            title="Client upgrades",
            lead=" ".join(f"{sentence}." for sentence in self.sentences),
            columns=(Column("Verdict", "words"), Column("Client"), Column("Library"), Column("To"), Column("Obstacle", "words")),
            rows=tuple((move.verdict, move.client, move.library, move.to, move.reason) for move in self.moves),
            nothing="No application has an older client of a library whose needs are known.",
            noun="applications",
        )


def client_moves(folder: AnalysisFolder, release: Release) -> ClientMoves:
    """Judge the moves of all applications in a folder."""
    brokers = [row for row in folder.rows("brokers", ["addresses", "versions", "release_guess"]) if row["versions"]]

    @cache
    def offered(places: tuple[int, ...]) -> tuple[dict[int, int], str]:
        return _offered([brokers[place] for place in places] or brokers)

    servers: dict[str, set[str]] = defaultdict(set)
    columns = ["client_key", "server_address", "server_port"]
    for row in folder.read("connections", columns).group_by(columns).aggregate([]).to_pylist():
        servers[row["client_key"]].add(f"{row['server_address']}:{row['server_port']}")
    used: dict[str, set[int]] = {}
    for row in folder.rows("api_usage", ["client_key", "api_key"]):
        if row["api_key"] is not None:
            used.setdefault(row["client_key"], set()).add(row["api_key"])
    found = []
    for client in applications(read_clients(folder)):
        library, version = library_of(client.library, client.version) or (None, None)
        if library is None or library.brokers is None:
            continue
        to = release if library.kafka_release else None
        aim = to.key if to else version_numbers(library.brokers.version)
        if not client.guessed and version_numbers(version or "") >= aim:
            continue
        reached = servers[client.client_key]
        places = tuple(place for place, broker in enumerate(brokers) if not reached.isdisjoint(broker["addresses"] or ()))
        verdict, reason = judge_move(library.brokers, to, used.get(client.client_key, ()), *offered(places))
        name = ", ".join(client.client_ids) or ", ".join(client.addresses)
        shown = _kafka_clients(to) if to else f"{library.name} {library.brokers.version}"
        found.append(ClientMove(client=name, library=client.label, to=shown, verdict=verdict, reason=reason))
    return ClientMoves(release, tuple(sorted(found, key=lambda move: (_ORDER.index(move.verdict), move.client))))


def _offered(brokers: Sequence[Mapping[str, Any]]) -> tuple[dict[int, int], str]:
    offers: dict[int, int] = {}
    running = [broker["release_guess"] for broker in brokers if broker["release_guess"]]
    for broker in brokers:
        for each in broker["versions"]:
            offers[each["api_key"]] = min(each["max_version"], offers.get(each["api_key"], each["max_version"]))
    return offers, min(running, key=release_order, default="").partition(" ")[0]


def _kafka_clients(release: Release) -> str:
    return f"kafka-clients {releases().short_name(release.name)}"


def judge_move(needs: Brokers, to: Release | None, used: Iterable[int], offers: Mapping[int, int], running: str) -> tuple[Verdict, str]:
    """Return the verdict of a move and the obstacle.

    Arguments:
        to: release of the Java clients; None for another library.
        used: API keys that the application uses.
        offers: highest version by API key that all its brokers offer.
        running: oldest release of its brokers, empty if unknown.
    """
    if not offers:
        return "unknown", "no broker's versions were captured"
    if to and (reason := _refused(to, used, offers)):
        return "breaks", reason
    if running and release_order(running)[0] < version_numbers(needs.lowest) and (not to or to.key >= version_numbers(needs.version)):
        unless = f", unless {needs.unless}" if needs.unless else ""
        return needs.older, f"Kafka {needs.lowest} is the oldest that it supports ({needs.source}), and the brokers run {running}{unless}"
    return "compatible", ""


def _refused(release: Release, used: Iterable[int], offers: Mapping[int, int]) -> str:
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


def _sentence(to: str, counts: list[int]) -> str:
    breaks, deprecated, unknown, may = counts
    old = breaks + deprecated
    said = [f"{plural(may, 'application')} may move to {to} today"]
    said += [f"{old:,} {'talks' if old == 1 else 'talk'} to a broker that is too old"] if old else []
    said += [f"{unknown:,} cannot be judged: no broker's versions were captured"] if unknown else []
    return "; ".join(said)
