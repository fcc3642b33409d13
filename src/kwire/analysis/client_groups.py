"""Programs behind client keys: facts that apply to a whole program, collected from all its connections.

Many libraries send ApiVersions or their name on only one connection and use the result on the others (kafkajs, kafka-go,
@platformatic/kafka, rskafka). So connections that share client id and principal (and address, if the id is a library's default) are one
program: if one of them negotiates, all do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import aggregated, flat, with_columns
from kwire.analysis.library_guesses import Guess, Observed, guess_unnamed, widest
from kwire.analysis.partials import Partial
from kwire.analysis.shown_ids import ShownIds
from kwire.analysis.verdicts import Answers
from kwire.tables.client_keys import is_default_client_id

__all__ = ["ClientGroup", "ClientGroups"]

API_VERSIONS: Final = 18
_SASL_HANDSHAKE: Final = 17
# ApiVersions, SaslHandshake, SaslAuthenticate: a broker that answers them has not served the client yet.
_OPENING: Final = (API_VERSIONS, _SASL_HANDSHAKE, 36)

Place = tuple[str | None, str | None, str | None]


@dataclass(slots=True)
class ClientGroup:
    """Facts about one program.

    Attributes:
        software: name and version sent on any of its connections.
        asked: it asked ApiVersions.
        watched: whether any of its connections was captured from its beginning.
        versions: used versions by api.
        requests, wanted, answered, unseen: number of requests besides negotiation and login; of those that
        expect an answer, of answered ones, and of ones whose answers were not captured.
        raw_gssapi: number of connections that sent GSSAPI tokens without SaslHandshake.
        role: highest-ranking role of its connections.
    """

    software: tuple[str, str | None] | None = None
    asked: bool = False
    watched: bool = False
    versions: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    servers: set[str] = field(default_factory=set)
    role: str = "client"
    requests: int = 0
    wanted: int = 0
    answered: int = 0
    unseen: int = 0
    auth_failures: int = 0
    raw_gssapi: int = 0
    mechanism_refused: bool = False
    guess: Guess | None = None

    @property
    def negotiates(self) -> bool | None:
        """Return whether the client sends ApiVersions; None if the beginnings of its connections were not captured."""
        if self.asked:
            return True
        return False if self.watched else None

    @property
    def answers(self) -> Answers:
        """Answers by the brokers; also `some` if no request expects an answer (Produce with acks=0)."""
        if self.answered or (self.requests and not self.wanted):
            return "some"
        if self.requests:
            return "unseen" if self.unseen else "none"
        if self.mechanism_refused:
            return "mechanism_refused"
        return "login_refused" if self.auth_failures else "opened"


_WHO: Final = ("client_key", "client_id")
_SUMS: Final = ("requests", "wanted", "answered", "unseen")
_OF_LOGINS: Final = ("auth_failures", "raw_gssapi")
_IDENTITY: Final = (*_WHO, "principal", "address", "software_name", "software_version", "identity_source", "role")
_WEIGHT: Final = {"client": 0, "broker": 1, "controller": 2}


class ClientGroups:
    def __init__(self, partial: Partial, highest: Mapping[str, Mapping[str, int]]) -> None:
        self._groups: dict[Place, ClientGroup] = defaultdict(ClientGroup)
        self._places: dict[tuple[str, str | None], set[Place]] = defaultdict(set)
        self._shown = ShownIds(partial)
        for part in _told_apart(partial["identities"]):
            self._learn_identity(part)
        self._learn_usage(partial["usage"])
        for place, group in self._groups.items():
            if group.software is None and group.role == "client":
                group.guess = guess_unnamed(_observed(group, highest), place[0])

    def of(self, client_key: str, client_id: str | None) -> ClientGroup:
        """Return the program of a key and a client id; several programs with the same id are merged."""
        places = self._places.get((client_key, client_id), set())
        if len(places) == 1:
            return self._groups[next(iter(places))]
        whole = ClientGroup()
        for place in sorted(places, key=str):
            part = self._groups[place]
            whole.software = whole.software or part.software
            whole.asked |= part.asked
            whole.watched |= part.watched
            whole.servers |= part.servers
            for name in (*_SUMS, *_OF_LOGINS):
                setattr(whole, name, getattr(whole, name) + getattr(part, name))
            whole.mechanism_refused |= part.mechanism_refused
            whole.role = max(whole.role, part.role, key=_WEIGHT.__getitem__)
        whole.guess = widest(self._groups[place].guess for place in places)
        return whole

    def _learn_identity(self, part: dict[str, Any]) -> None:
        client_id = part["client_id"]
        place = (client_id, part["principal"], part["address"])
        self._places[part["client_key"], client_id].add(place)
        self._places[part["client_key"], self._shown(part["client_key"], client_id)].add(place)
        group = self._groups[place]
        if part["software_name"] not in (None, "unknown") and group.software is None:
            group.software = (part["software_name"], part["software_version"])
        group.watched |= part["identity_source"] == "not_sent"
        for name in _OF_LOGINS:
            setattr(group, name, getattr(group, name) + (part[name] or 0))
        group.role = max(group.role, part["role"] or "client", key=_WEIGHT.__getitem__)

    def _learn_usage(self, usage: pa.Table) -> None:
        for each in _distinct(usage, *_WHO, "server"):
            for group in self._of(each):
                group.servers.add(each["server"])
        for each in _distinct(usage, *_WHO, "api_key", "api_name", "api_version", sums=(*_SUMS, "errors")):
            for group in self._of(each):
                group.asked |= each["api_key"] == API_VERSIONS
                group.mechanism_refused |= each["api_key"] == _SASL_HANDSHAKE and each["errors"] > 0
                if each["api_key"] not in _OPENING:
                    for name in _SUMS:
                        setattr(group, name, getattr(group, name) + each[name])
                if each["api_name"] is not None:
                    group.versions[each["api_name"]].add(each["api_version"])

    def _of(self, part: dict[str, Any]) -> Iterator[ClientGroup]:
        for place in self._places[part["client_key"], part["client_id"]]:
            yield self._groups[place]


def _distinct(rows: pa.Table, *columns: str, sums: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    return aggregated(rows, columns, ((name, "sum") for name in sums)).to_pylist()


def _told_apart(identities: pa.Table) -> list[dict[str, Any]]:
    """Drop the address if the client id identifies the program, because a program may have thousands of addresses."""
    ids = flat(identities, "client_id").dictionary_encode(null_encoding="encode")
    alone = pa.array([is_default_client_id(client_id) for client_id in ids.dictionary.to_pylist()], pa.bool_())
    address = pc.if_else(alone.take(ids.indices), flat(identities, "address"), pa.scalar(None, pa.string()))
    return _distinct(with_columns(identities, {"address": address}), *_IDENTITY, sums=_OF_LOGINS)


def _observed(group: ClientGroup, highest: Mapping[str, Mapping[str, int]]) -> Observed:
    offered = {api: frozenset(highest[server][api] for server in group.servers if api in highest.get(server, {})) for api in group.versions}
    return Observed({api: frozenset(versions) for api, versions in group.versions.items()}, offered, group.negotiates, group.watched)
