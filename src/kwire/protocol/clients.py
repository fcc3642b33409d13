"""Who is connected: the connections of a broker or a proxy, and the clients behind them (KIP-511, KIP-1313).

Kafka has this as `ChannelMetadataRegistry`, one a connection. Here it is one table of all open connections, with the gauge by software, the
instances that connections belong to, and the ids that more than one program or principal uses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.protocol.client_ids import WITH_INSTANCE_ID, ClientIdPolicy, ClientIds
from kwire.protocol.connection_gauge import ConnectionGauge, GaugeKey
from kwire.protocol.events import Event, IdentityChanged, RequestCompleted
from kwire.protocol.instance_ids import InstanceIdRule

__all__ = ["NOT_OBSERVED", "UNKNOWN", "ClientRegistry", "ConnectedClient", "SharedInstance"]

UNKNOWN: Final = "unknown"  # nothing was sent, or empty text
NOT_OBSERVED: Final = "not_observed"  # the beginning of the connection was not seen, so it is unknown whether something was sent

_SASL_HANDSHAKE: Final = 17
_MOST_CLOSED: Final = 1000  # closed connections whose last events may still come

IdentityFault = Literal["instance_id_invalid", "client_id_ignored", "instance_id_shared"]


@dataclass(slots=True)
class ConnectedClient:
    """One open connection, and whose it is.

    Attributes:
        connection: what the owner calls it.
        opened: when, in nanoseconds.
        listener, processor: where it came in.
        principal: who authenticated, None without authentication.
        software_name, software_version: `unknown` when not sent, `not_observed` when not seen.
        client_id: the one in force.
        instance_id: client instance id, None while there is none.
        requests: how many came.
        node: which broker it is with.
    """

    connection: str
    opened: int
    listener: str
    processor: str
    principal: str | None
    software_name: str
    software_version: str
    node: str | None = None
    client_id: str = ""
    instance_id: Uuid | None = None
    requests: int = 0
    client_ids: ClientIds = field(default_factory=ClientIds, repr=False)
    instance_rule: InstanceIdRule = field(default_factory=InstanceIdRule, repr=False)

    @property
    def gauge_key(self) -> GaugeKey:
        """What it is counted by."""
        return GaugeKey(self.software_name, self.software_version, self.listener, self.processor)


@dataclass(frozen=True, slots=True)
class SharedInstance:
    """A client instance id that is not one client's.

    Attributes:
        instance_id: the id.
        principals, software: under which it was seen, each sorted; more than one of either is why it is here.
    """

    instance_id: Uuid
    principals: tuple[str, ...]
    software: tuple[str, ...]


class ClientRegistry:
    """The open connections.

    Arguments:
        client_ids: which client id counts.
        gauge_cap: combinations that the gauge counts apart.
        most_instances: instance ids that are remembered after their connections closed, to find out which are shared; the oldest go first.
    """

    def __init__(self, *, client_ids: ClientIdPolicy = "per_request", gauge_cap: int = 100, most_instances: int = 100_000) -> None:
        self.client_ids: ClientIdPolicy = client_ids
        self.most_instances = most_instances
        self.gauge = ConnectionGauge(gauge_cap)
        self._open: dict[str, ConnectedClient] = {}
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
        """A connection is there.

        Arguments:
            connection: a name of its own, such as Kafka's `local:port-remote:port-processor-index`.
            t: now, in nanoseconds.
            listener, processor, principal, node: as in `ConnectedClient`.
            observed: False when its beginning was not seen.

        Raises:
            KeyError: it is there already.
        """
        if connection in self._open:
            raise KeyError(connection)
        software = UNKNOWN if observed else NOT_OBSERVED
        client = ConnectedClient(
            connection, t, listener, processor, principal, software, software, node, client_ids=ClientIds(self.client_ids)
        )
        self._open[connection] = client
        self._closed.pop(connection, None)
        self.gauge.up(client.gauge_key)
        return client

    def identified(self, connection: str, name: str, version: str) -> None:
        """ApiVersions said what software it is; empty text is `unknown`. The second one of a connection, after SASL, replaces the first."""
        client = self._open[connection]
        before = client.gauge_key
        _name_software(client, name, version)
        self.gauge.moved(before, client.gauge_key)

    def authenticated(self, connection: str, principal: str) -> None:
        """It is this principal's from now on."""
        self._open[connection].principal = principal

    def requested(
        self, connection: str, api_key: int, header_version: int, client_id: str | None, instance_id: bytes
    ) -> list[tuple[IdentityFault, str]]:
        """A request came.

        Arguments:
            connection: which one.
            api_key, header_version, client_id, instance_id: of the request; below header 3 the instance id is not looked at.

        Returns:
            What is wrong with who it says it is: rule and sentence. `instance_id_invalid` is what a broker refuses with error 42.
        """
        return self._requested(self._open[connection], api_key, header_version, client_id, instance_id)

    def _requested(
        self, client: ConnectedClient, api_key: int, header_version: int, client_id: str | None, instance_id: bytes
    ) -> list[tuple[IdentityFault, str]]:
        client.requests += 1
        passed_over = len(client.client_ids.ignored)
        client.client_id = client.client_ids.see(header_version, client_id)
        faults: list[tuple[IdentityFault, str]] = []
        if len(client.client_ids.ignored) > passed_over:
            faults.append(
                ("client_id_ignored", f"the client id {client.client_ids.ignored[-1]!a} does not count, the first was {client.client_id!a}")
            )
        if api_key == _SASL_HANDSHAKE:
            return faults
        fault = client.instance_rule.see(header_version, instance_id)
        if fault is not None:
            faults.append(("instance_id_invalid", fault))
        elif client.instance_rule.instance_id is not None:
            faults += self._belongs(client, client.instance_rule.instance_id)
        return faults

    def pushed(self, connection: str, instance_id: bytes) -> list[tuple[IdentityFault, str]]:
        """A telemetry request or response named the instance id in its body, as in the released protocol (KIP-714)."""
        return self._pushed(self._open[connection], instance_id)

    def _pushed(self, client: ConnectedClient, instance_id: bytes) -> list[tuple[IdentityFault, str]]:
        return self._belongs(client, Uuid(instance_id)) if any(instance_id) else []

    def _belongs(self, client: ConnectedClient, instance_id: Uuid) -> list[tuple[IdentityFault, str]]:
        client.instance_id = instance_id
        owner = (client.principal or "", f"{client.software_name} {client.software_version}")
        owners = self._instances.get(instance_id)
        if owners is None:
            if len(self._instances) >= self.most_instances:
                del self._instances[next(iter(self._instances))]
            owners = self._instances[instance_id] = set()
        if owner in owners:
            return []
        owners.add(owner)
        if len(owners) == 1:
            return []
        return [("instance_id_shared", f"the client instance id {instance_id} is used by more than one principal or program")]

    def follow(self, connection: str, events: Iterable[Event]) -> list[tuple[IdentityFault, str]]:
        """Take what the tracker of a connection says (`kwire.protocol.Connection`).

        The tracker's last events, of requests that got no answer, may come after `closed` here: they count for the `ConnectedClient` that
        `closed` gave, until a connection of the same name opens or 1,000 others have closed. The gauge counts open connections only.

        Arguments:
            connection: which one.
            events: of one call; all but `IdentityChanged` and `RequestCompleted` are passed over.

        Returns:
            As for `requested`.

        Raises:
            KeyError: it was not opened, or it closed long ago.
        """
        client = self._open.get(connection) or self._closed[connection]
        faults: list[tuple[IdentityFault, str]] = []
        for event in events:
            if isinstance(event, IdentityChanged):
                if event.software_name is not None and connection in self._open:
                    self.identified(connection, event.software_name, event.software_version or "")
                elif event.software_name is not None:
                    _name_software(client, event.software_name, event.software_version or "")
            elif isinstance(event, RequestCompleted) and event.api_key is not None:
                # What answers brought, a principal and an instance id, is in the rows of the requests behind them.
                if event.principal is not None:
                    client.principal = event.principal
                header, text = event.header_version or 0, event.client_instance_id
                instance_id = ZERO_UUID if text is None else Uuid.parse(text)
                if header < WITH_INSTANCE_ID and instance_id != client.instance_id:
                    faults += self._pushed(client, instance_id)
                faults += self._requested(client, event.api_key, header, event.client_id, instance_id)
        return faults

    def closed(self, connection: str) -> ConnectedClient:
        """A connection is gone; gives what was known of it, which `follow` completes.

        Raises:
            KeyError: it was not there.
        """
        client = self._open.pop(connection)
        if len(self._closed) >= _MOST_CLOSED:
            del self._closed[next(iter(self._closed))]
        self._closed[connection] = client
        self.gauge.down(client.gauge_key)
        return client

    def __getitem__(self, connection: str) -> ConnectedClient:
        return self._open[connection]

    def __contains__(self, connection: object) -> bool:
        return connection in self._open

    def __len__(self) -> int:
        return len(self._open)

    @property
    def connections(self) -> list[ConnectedClient]:
        """The open connections, oldest first."""
        return list(self._open.values())

    @property
    def instances(self) -> dict[Uuid, list[ConnectedClient]]:
        """The open connections of each client instance that has an id: one client, however many brokers it talks to."""
        found: dict[Uuid, list[ConnectedClient]] = {}
        for client in self._open.values():
            if client.instance_id is not None:
                found.setdefault(client.instance_id, []).append(client)
        return found

    @property
    def shared_instances(self) -> list[SharedInstance]:
        """Instance ids that were seen under more than one principal or software."""
        return [
            SharedInstance(instance_id, _sorted(principal for principal, _ in owners), _sorted(software for _, software in owners))
            for instance_id, owners in self._instances.items()
            if len(owners) > 1
        ]


def _name_software(client: ConnectedClient, name: str, version: str) -> None:
    client.software_name, client.software_version = name or UNKNOWN, version or UNKNOWN


def _sorted(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(texts)))
