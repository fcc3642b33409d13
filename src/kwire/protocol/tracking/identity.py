"""Client identity: software name and version, client id, client instance id, and the mark of brokers and controllers."""

from __future__ import annotations

import re
from typing import Any, Final

from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.protocol.events import IdentitySource, Role
from kwire.protocol.negotiation import API_VERSIONS, is_valid_software, is_valid_software_text
from kwire.protocol.rules import shown
from kwire.protocol.tracking.reading import Fact, RequestReading

__all__ = ["UNKNOWN", "ClientIdentity", "api_role", "is_broker_client_id"]

# What Kafka's brokers show for a client that does not send its software (ClientInformation.UNKNOWN_NAME_OR_VERSION).
UNKNOWN: Final = "unknown"

_FETCH: Final = 1
_GET_TELEMETRY: Final = 71
_PUSH_TELEMETRY: Final = 72

_INTRODUCTION: Final = frozenset((17, 18, 36))  # SaslHandshake, ApiVersions, SaslAuthenticate
# Distinct client ids that are counted on one connection; applications use one.
MOST_CLIENT_IDS: Final = 256
MOST_CLIENT_ID_TEXT: Final = 1 << 16  # characters of all of them together; one alone may have 32,767

# Apis that only members of the cluster use.
_CONTROLLER_APIS: Final = frozenset((4, 5, 6, 52, 53, 54, 59, 70, 82))  # LeaderAndIsr ... Vote ... ControllerRegistration, UpdateRaftVoter
_BROKER_APIS: Final = frozenset(
    (7, 27, 56, 58, 62, 63, 67, 73, 83, 84, 85, 86, 87)
)  # ControlledShutdown, WriteTxnMarkers, AlterPartition, ...
# The client ids that Kafka's own brokers use towards each other; applications can use them too, but do not.
_BROKER_CLIENT_ID: Final = re.compile(
    r"broker-\d+-(fetcher-\d+|txn-marker-sender|.*channel-manager|.*to-controller.*)|AddPartitionsManager-client-\d+|Persister(StateManager)?-client-\d+"
    r"|raft-client-\d+|TransactionCoordinator-client-\d+"
)


def api_role(api_key: int | None) -> Role | None:
    return "controller" if api_key in _CONTROLLER_APIS else "broker" if api_key in _BROKER_APIS else None


def is_broker_client_id(client_id: str) -> bool:
    return _BROKER_CLIENT_ID.fullmatch(client_id) is not None


class ClientIdentity:
    """Identity on one connection; if the capture has its beginning (`observed`), missing values were not sent."""

    __slots__ = ("_client_ids", "_doubted", "_introduced", "_observed", "instance_id", "role", "software", "source")

    def __init__(self, observed: bool) -> None:
        self._observed = observed
        self._doubted = False  # a name may have been sent in bytes that are missing
        self._introduced = False  # a request came that clients send only after ApiVersions and SASL
        self._client_ids: dict[str, int] = {}
        self.software: tuple[str | None, str | None] = (None, None)
        self.source: IdentitySource = "not_observed"
        self.instance_id: str | None = None
        self.role: Role = "client"

    @property
    def client_id(self) -> str | None:
        """Most frequent non-empty client id; on a tie, the first."""
        return max(self._client_ids, key=self._client_ids.__getitem__, default=None)

    def lost_requests(self) -> None:
        """Record that requests may be missing; at the start of a connection, one of them may have had the software name."""
        self._observed = False
        self._doubted = True
        if not self._introduced:
            self._unsay()

    def _unsay(self) -> None:
        if self.source == "not_sent":
            self.source = "not_observed"
            self.software = (None, None)

    def see(self, reading: RequestReading) -> list[Fact]:
        if reading.client_id:
            self.count_client_id(reading.client_id)
        broken = self._see_api_versions(reading) if reading.api_key == API_VERSIONS else []
        self._introduced = self._introduced or reading.api_key not in _INTRODUCTION
        if self.source == "not_observed" and self._observed and not (reading.api_key == API_VERSIONS and reading.body == "truncated"):
            self._not_sent()
        self._see_instance_id(reading.client_instance_id)
        if reading.api_key in (_GET_TELEMETRY, _PUSH_TELEMETRY):
            self._see_instance_id(getattr(reading.message, "client_instance_id", None))
        self._see_role(reading)
        return broken

    def count_client_id(self, client_id: str, times: int = 1) -> None:
        if client_id in self._client_ids:
            self._client_ids[client_id] += times
        elif len(self._client_ids) < MOST_CLIENT_IDS and sum(map(len, self._client_ids)) + len(client_id) <= MOST_CLIENT_ID_TEXT:
            self._client_ids[client_id] = times

    def assigned(self, instance_id: Any) -> None:
        self._see_instance_id(instance_id)

    def _not_sent(self) -> None:
        if self.source == "not_observed":
            self.source = "not_sent"
            self.software = (UNKNOWN, UNKNOWN)

    def _see_api_versions(self, reading: RequestReading) -> list[Fact]:
        if reading.api_version is not None and 0 <= reading.api_version < 3:
            if not self._doubted:  # a request with a name may come before one without, when the broker refuses it, or behind it (SASL)
                self._not_sent()
            return []
        name = getattr(reading.message, "client_software_name", None)
        version = getattr(reading.message, "client_software_version", None)
        if name is None or version is None:
            if reading.body == "truncated":
                self._observed = False  # it was sent, and cut off
                self._doubted = True
                self._unsay()
            return []
        if is_valid_software(name, version):
            self.software = (name, version)
            self.source = "api_versions"
            return []
        self._not_sent()
        faulty = [label for label, text in (("name", name), ("version", version)) if not is_valid_software_text(text)]
        return [("client_software_invalid", {"name": shown(name), "version": shown(version), "faulty": " and ".join(faulty)})]

    def _see_instance_id(self, value: Any) -> None:
        if isinstance(value, bytes) and len(value) == 16 and value != ZERO_UUID:
            self.instance_id = str(Uuid(value))

    def _see_role(self, reading: RequestReading) -> None:
        if self.role == "controller":
            return
        role = api_role(reading.api_key)
        if role == "controller":
            self.role = "controller"
        elif self.role == "client" and (
            role == "broker"
            or (reading.api_key == _FETCH and _is_replica(reading.message))
            or (reading.client_id is not None and is_broker_client_id(reading.client_id))
        ):
            self.role = "broker"


def _is_replica(message: Any) -> bool:
    """Return whether a Fetch comes from a follower: consumers have replica id -1, debugging tools -2; from v15 on it is in a tagged
    struct."""
    replica_id = getattr(message, "replica_id", -1)
    state = getattr(message, "replica_state", None)
    return max(replica_id, getattr(state, "replica_id", -1)) >= 0
