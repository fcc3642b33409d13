"""A registry of open connections and the clients behind them (KIP-511, KIP-1313): Kafka's `ChannelMetadataRegistry` for a whole broker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.drafts.connection_gauge import GaugeKey
from kwire.protocol.capped_counts import capped
from kwire.protocol.events import Event, IdentityChanged, RequestCompleted
from kwire.protocol.instance_ids import WITH_INSTANCE_ID, InstanceIdRule
from kwire.protocol.negotiation.client_role import ClientIdPolicy

__all__ = ["NOT_OBSERVED", "UNKNOWN", "ClientIds", "ClientRegistry", "ConnectedClient", "SharedInstance"]

UNKNOWN: Final = "unknown"  # not sent, or an empty text
NOT_OBSERVED: Final = "not_observed"  # the beginning of the connection was not seen

_SASL_HANDSHAKE: Final = 17
_MOST_CLOSED: Final = 1000  # closed connections whose last events may still come

IdentityFault = Literal["instance_id_invalid", "client_id_ignored", "instance_id_shared"]


class ClientIds:
    """Client ids of one connection: each request's own (`per_request`), or the first one under request header 3 (`first_wins`,
    KIP-1313)."""

    MOST_IGNORED: Final = 16

    def __init__(self, policy: ClientIdPolicy = "per_request") -> None:
        self.policy = policy
        self.ignored: list[str] = []  # later ids, at most `MOST_IGNORED`
        self.bytes_sent = 0  # of client ids on the wire, with their lengths
        self._first: str | None = None

    def see(self, header_version: int, client_id: str | None) -> str:
        """Return the client id that counts for a request."""
        own = client_id or ""
        if header_version > 0:  # header 0 has no client id
            self.bytes_sent += 2 + len(own.encode("utf-8", "surrogateescape"))
        if self._first is None:
            self._first = own
        if self.policy == "per_request" or header_version < WITH_INSTANCE_ID:
            return own
        if own and own != self._first and own not in self.ignored and len(self.ignored) < self.MOST_IGNORED:
            self.ignored.append(own)
        return self._first


@dataclass(slots=True)
class ConnectedClient:
    """One open connection."""

    connection: str  # name that the caller gave it
    opened: int  # nanoseconds
    listener: str
    processor: str
    principal: str | None  # None without authentication
    software_name: str  # `unknown` if not sent, `not_observed` if not seen
    software_version: str
    node: str | None = None  # broker of the connection
    client_id: str = ""  # the one in force
    instance_id: Uuid | None = None  # None before one is known
    requests: int = 0  # number so far
    client_ids: ClientIds = field(default_factory=ClientIds, repr=False)
    instance_rule: InstanceIdRule = field(default_factory=InstanceIdRule, repr=False)

    def identify(self, name: str, version: str) -> None:
        """Record the software of an ApiVersions request; a second one, after SASL, replaces the first."""
        self.software_name, self.software_version = name or UNKNOWN, version or UNKNOWN


@dataclass(frozen=True, slots=True)
class SharedInstance:
    """A client instance id used by more than one principal or software."""

    instance_id: Uuid
    principals: tuple[str, ...]
    software: tuple[str, ...]


class ClientRegistry:
    """Open connections.

    Arguments:
        client_ids: policy of `ClientIds`.
        gauge_cap: combinations that the gauge counts separately; the rest counts as `other`.
        most_instances: instance ids remembered after their connections closed; the oldest are dropped first.
    """

    def __init__(self, *, client_ids: ClientIdPolicy = "per_request", gauge_cap: int = 100, most_instances: int = 100_000) -> None:
        self.client_ids: ClientIdPolicy = client_ids
        self.gauge_cap = gauge_cap
        self.most_instances = most_instances
        self.open: dict[str, ConnectedClient] = {}  # open connections by name, oldest first
        self._closed: dict[str, ConnectedClient] = {}
        self._instances: dict[Uuid, set[tuple[str, str]]] = {}

    def opened(
        self,
        connection: str,
        t: int,
        *,
        listener: str = "",
        processor: str = "",
        principal: str | None = None,
        node: str | None = None,
        observed: bool = True,
    ) -> ConnectedClient:
        """Add a connection.

        Arguments:
            connection: unique name, such as Kafka's `local:port-remote:port-processor-index`.
            t: now, in nanoseconds.
            observed: False if its beginning was not seen.

        Raises:
            KeyError: the name is taken.
        """
        if connection in self.open:
            raise KeyError(connection)
        software = UNKNOWN if observed else NOT_OBSERVED
        client = ConnectedClient(
            connection, t, listener, processor, principal, software, software, node, client_ids=ClientIds(self.client_ids)
        )
        self.open[connection] = client
        self._closed.pop(connection, None)
        return client

    def closed(self, connection: str) -> ConnectedClient:
        """Remove a connection and return it; `follow` may still complete it. Raises KeyError: no such connection is open."""
        client = self.open.pop(connection)
        if len(self._closed) >= _MOST_CLOSED:
            del self._closed[next(iter(self._closed))]
        self._closed[connection] = client
        return client

    def requested(
        self, client: ConnectedClient, api_key: int, header_version: int, client_id: str | None, instance_id: bytes
    ) -> list[tuple[IdentityFault, str]]:
        """Record a request's header and return faults of its identity: rule and sentence.

        A broker answers `instance_id_invalid` with error 42. Below header 3 the instance id is ignored.
        """
        client.requests += 1
        already = len(client.client_ids.ignored)
        client.client_id = client.client_ids.see(header_version, client_id)
        faults: list[tuple[IdentityFault, str]] = []
        if len(client.client_ids.ignored) > already:
            faults.append(
                ("client_id_ignored", f"the client id {client.client_ids.ignored[-1]!a} does not count, the first was {client.client_id!a}")
            )
        if api_key == _SASL_HANDSHAKE:
            return faults
        fault = client.instance_rule.see(header_version, instance_id)
        if fault is not None:
            faults.append(("instance_id_invalid", fault))
        elif client.instance_rule.instance_id is not None:
            faults += self.pushed(client, client.instance_rule.instance_id)
        return faults

    def pushed(self, client: ConnectedClient, instance_id: bytes) -> list[tuple[IdentityFault, str]]:
        """Record an instance id, such as one in the body of a telemetry message (KIP-714)."""
        if not any(instance_id):
            return []
        client.instance_id = found = Uuid(instance_id)
        owner = (client.principal or "", f"{client.software_name} {client.software_version}")
        owners = self._instances.get(found)
        if owners is None:
            if len(self._instances) >= self.most_instances:
                del self._instances[next(iter(self._instances))]
            owners = self._instances[found] = set()
        if owner in owners:
            return []
        owners.add(owner)
        if len(owners) == 1:
            return []
        return [("instance_id_shared", f"the client instance id {found} is used by more than one principal or program")]

    def follow(self, connection: str, events: Iterable[Event]) -> list[tuple[IdentityFault, str]]:
        """Process events of a connection's tracker (`kwire.protocol.Connection`) and return faults, as `requested` does.

        Events of requests without an answer may come after `closed`: they update the client that `closed` returned, until a connection
        of the same name opens or 1,000 others have closed.

        Raises:
            KeyError: the connection was not opened, or closed long ago.
        """
        client = self.open.get(connection) or self._closed[connection]
        faults: list[tuple[IdentityFault, str]] = []
        for event in events:
            if isinstance(event, IdentityChanged) and event.software_name is not None:
                client.identify(event.software_name, event.software_version or "")
            elif isinstance(event, RequestCompleted) and event.api_key is not None:
                # A principal and an instance id from responses are in the rows of later requests.
                if event.principal is not None:
                    client.principal = event.principal
                header, text = event.header_version or 0, event.client_instance_id
                instance_id = ZERO_UUID if text is None else Uuid.parse(text)
                if header < WITH_INSTANCE_ID and instance_id != client.instance_id:
                    faults += self.pushed(client, instance_id)
                faults += self.requested(client, event.api_key, header, event.client_id, instance_id)
        return faults

    def gauge(self) -> Counter[tuple[str, ...]]:
        """Return the numbers of open connections by `GaugeKey`, as Kafka's gauge `connections`."""
        keys = (GaugeKey(each.software_name, each.software_version, each.listener, each.processor) for each in self.open.values())
        return capped(Counter[tuple[str, ...]](keys), self.gauge_cap, len(GaugeKey._fields))

    @property
    def instances(self) -> dict[Uuid, list[ConnectedClient]]:
        """Open connections by client instance id."""
        found: dict[Uuid, list[ConnectedClient]] = {}
        for client in self.open.values():
            if client.instance_id is not None:
                found.setdefault(client.instance_id, []).append(client)
        return found

    @property
    def shared_instances(self) -> list[SharedInstance]:
        """Instance ids seen with more than one principal or software; both are sorted."""
        return [
            SharedInstance(instance_id, *(tuple(sorted(set(texts))) for texts in zip(*owners, strict=True)))
            for instance_id, owners in self._instances.items()
            if len(owners) > 1
        ]
