"""Tables of a proxy's TOML configuration.

[[listeners]]
listen = "0.0.0.0:19092"
broker = "kafka-1.example.com:9092"
node_id = 1
advertised = "proxy.example.com:19092"
"""
# ruff: noqa: RUF012 (msgspec gives each table its own empty list)

from __future__ import annotations

from typing import Annotated, Literal

from kwire.errors import InputError
from kwire.proxy.config_table import MOST_SECONDS, ConfigTable, Count, Meta, Seconds
from kwire.proxy.tls_config import TlsConfig, UpstreamTlsConfig

__all__ = [
    "AddressesConfig", "AuditConfig", "ClusterConfig", "ListenerConfig", "PortListenerConfig", "ProxyConfig", "QuotaConfig",
    "RefusalConfig", "RehearsalConfig", "SniBroker", "SniListenerConfig", "TapConfig", "TelemetryConfig", "TlsConfig",
    "UpstreamTlsConfig", "VersionsConfig", "host_and_port",
]  # fmt: skip

MIB = 1 << 20
MOST_PORTS = 65_536


class ListenerConfig(ConfigTable, frozen=True):
    """Port for one broker. Addresses are `host:port`; an empty host to listen on means all addresses."""

    listen: Annotated[str, Meta(description="Address where clients connect, such as `:19092`.")]
    broker: Annotated[str, Meta(description="Address of the broker.")]
    node_id: Annotated[int, Meta(ge=-1, description="`node.id` of the broker.")] = -1
    advertised: Annotated[str | None, Meta(description="Address that clients get; by default the broker's own.")] = None
    tenant: Annotated[str | None, Meta(description="Name of a table under `[tenants]`; without it, clients see the whole cluster.")] = None
    proxy_protocol: Annotated[bool, Meta(description="Clients come through a balancer that sends the PROXY protocol, version 2.")] = False
    upstream_proxy_protocol: Annotated[bool, Meta(description="Send the PROXY protocol, version 2, towards the broker.")] = False
    tls: TlsConfig | None = None
    upstream_tls: UpstreamTlsConfig | None = None

    def addresses(self) -> list[tuple[int, tuple[str, int]]]:
        return [] if self.advertised is None else [(self.node_id, host_and_port(self.advertised, "advertised"))]

    @property
    def has_tls(self) -> bool:
        return self.tls is not None or self.upstream_tls is not None


class SniBroker(ConfigTable, frozen=True):
    """Broker behind a shared port."""

    node_id: Annotated[int, Meta(ge=0, description="`node.id` of the broker.")]
    broker: Annotated[str, Meta(description="Address of the broker.")]


class SniListenerConfig(ConfigTable, frozen=True):
    """Port for several brokers, chosen by the name in the client's TLS handshake.

    Clients begin at `bootstrap.DOMAIN` and reach broker N at `broker-N.DOMAIN`; the certificate must cover these names. They get the port
    of `listen`, unless there is an `advertised_port`.
    """

    listen: Annotated[str, Meta(description="Address where clients connect, such as `:9443`.")]
    domain: Annotated[str, Meta(description="Domain of the names.")]
    tls: TlsConfig
    brokers: Annotated[list[SniBroker], Meta(description="Brokers; without this list, those of `[cluster]`.")] = []
    advertised_port: Annotated[
        Annotated[int, Meta(ge=1, lt=MOST_PORTS)] | None, Meta(description="Port that clients get; by default that of `listen`.")
    ] = None
    tenant: Annotated[str | None, Meta(description="Name of a table under `[tenants]`; without it, clients see the whole cluster.")] = None
    proxy_protocol: Annotated[bool, Meta(description="Clients come through a balancer that sends the PROXY protocol, version 2.")] = False
    upstream_proxy_protocol: Annotated[bool, Meta(description="Send the PROXY protocol, version 2, towards the broker.")] = False
    upstream_tls: UpstreamTlsConfig | None = None

    def addresses(self) -> list[tuple[int, tuple[str, int]]]:
        return [(each.node_id, (self.name_of(each), self.port)) for each in self.brokers]

    @property
    def bootstrap(self) -> str:
        return f"bootstrap.{self._suffix}"

    def name_of(self, broker: SniBroker) -> str:
        return f"broker-{broker.node_id}.{self._suffix}"

    @property
    def _suffix(self) -> str:
        return self.domain.strip(".").lower()

    @property
    def port(self) -> int:
        return host_and_port(self.listen, "listen")[1] if self.advertised_port is None else self.advertised_port

    @property
    def has_tls(self) -> bool:
        return True

    @property
    def node_id(self) -> int:
        """Node id of connections whose handshake named no known broker."""
        return -1


class ClusterConfig(ConfigTable, frozen=True):
    """Cluster that the proxy asks for its brokers, so that new and removed ones need no restart."""

    bootstrap: Annotated[str, Meta(description="Brokers to ask, in this order: `HOST:PORT,HOST:PORT`.")]
    last_node_id: Annotated[int, Meta(ge=0, description="Highest node id that a broker may have.")]
    first_node_id: Annotated[int, Meta(ge=0, description="Lowest node id that a broker may have.")] = 0
    client_properties: Annotated[
        str | None, Meta(description="File with TLS and SASL for these questions, as Kafka's tools take it with `--command-config`.")
    ] = None
    refresh_seconds: Annotated[Seconds, Meta(description="Time between two questions.")] = 10.0
    brokers_file: Annotated[str | None, Meta(description="File that gets the current brokers as JSON.")] = None


class PortListenerConfig(ConfigTable, frozen=True):
    """Ports for the brokers of `[cluster]`: clients begin at `listen`, and each node id has a port behind it, the lowest the next one."""

    listen: Annotated[str, Meta(description="Address where clients begin, such as `:19092`.")]
    advertised: Annotated[str, Meta(description="The same address as clients reach it; brokers get the ports behind it.")]
    tenant: Annotated[str | None, Meta(description="Name of a table under `[tenants]`; without it, clients see the whole cluster.")] = None
    tls: TlsConfig | None = None
    upstream_tls: UpstreamTlsConfig | None = None


class AddressesConfig(ConfigTable, frozen=True):
    """Addresses of brokers in answers."""

    large_answers: Annotated[
        Literal["cap", "hold"], Meta(description="`cap` the versions whose answers name brokers behind records, or `hold` such answers.")
    ] = "cap"
    unknown_node: Annotated[
        Literal["close", "keep"], Meta(description="Treatment of an answer that names a broker without a listener.")
    ] = "close"


class VersionsConfig(ConfigTable, frozen=True):
    """Limit of the versions that ApiVersions offers."""

    cap: Annotated[str, Meta(description="Kafka release, such as `3.9`.")]


class RehearsalConfig(ConfigTable, frozen=True):
    """Rehearsal of an upgrade."""

    release: Annotated[str, Meta(description="Kafka release to rehearse, such as `4.3`.")]
    mode: Annotated[Literal["count", "break"], Meta(description="`count` the requests that it would reject, or reject them.")] = "count"
    counts_file: Annotated[str | None, Meta(description="File that keeps the counts over restarts.")] = None


class RefusalConfig(ConfigTable, frozen=True):
    """Condition of a refusal; all keys must match, and all except `version` may contain `*`."""

    software: Annotated[str | None, Meta(description="Software name (KIP-511); empty for clients that send none.")] = None
    version: Annotated[str | None, Meta(description="Operator and software version, such as `<1.30`.")] = None
    client_id: Annotated[str | None, Meta(description="Client id.")] = None
    principal: Annotated[str | None, Meta(description="Principal, such as `User:alice`.")] = None
    address: Annotated[str | None, Meta(description="Address of the client.")] = None


class QuotaConfig(ConfigTable, frozen=True):
    """Quota of the clients that match all conditions. Each client id or principal that a pattern matches has its own; without patterns,
    all share it. A client may use the amount of one second at once, and then gets `throttle_time_ms`."""

    tenant: Annotated[str | None, Meta(description="Name of a table under `[tenants]`.")] = None
    client_id: Annotated[str | None, Meta(description="Client id, which may contain `*`.")] = None
    principal: Annotated[str | None, Meta(description="Principal, such as `User:alice`, which may contain `*`.")] = None
    request_bytes: Annotated[Count | None, Meta(description="Bytes of requests per second.")] = None
    response_bytes: Annotated[Count | None, Meta(description="Bytes of responses per second.")] = None
    requests: Annotated[Count | None, Meta(description="Requests per second.")] = None


class TenantConfig(ConfigTable, frozen=True):
    """Tenant of a cluster."""

    prefix: Annotated[str, Meta(description="Prefix of its topics, groups and transactional ids.")]
    error_texts: Annotated[Literal["strip", "blank"], Meta(description="Remove the prefix from error texts, or the whole text.")] = "strip"
    principals: Annotated[list[str] | None, Meta(description="Principals that may use its listeners; by default all clients.")] = None


class FilesConfig(ConfigTable, frozen=True):
    """Rotated files (`tap_file`)."""

    file: Annotated[str, Meta(description="Path; `tap.pcapng` makes `tap_00001.pcapng`, `tap_00002.pcapng`, ...")]
    max_bytes: Annotated[Count, Meta(description="Bytes of a file.")] = 100 * MIB
    max_files: Annotated[Count, Meta(description="Number of files; the oldest is removed.")] = 10
    max_queued: Annotated[Count, Meta(description="Bytes waiting for the disk; further data is dropped and counted.")] = 64 * MIB


class TelemetryConfig(FilesConfig, frozen=True):
    """Receiver of client metrics (KIP-714)."""

    metrics: Annotated[list[str], Meta(description="Prefixes of metric names; empty for all.")] = []
    interval_ms: Annotated[Count, Meta(description="Interval of the pushes in milliseconds.")] = 300_000
    max_pushed: Annotated[Count, Meta(description="Bytes of one connection in an interval.")] = 4 * MIB


class AuditConfig(FilesConfig, frozen=True):
    """Lines about changes of the cluster, and about refused clients."""


class TapConfig(FilesConfig, frozen=True):
    """Capture or request log of the traffic, without secrets."""

    snaplen: Annotated[Count, Meta(description="Bytes kept of a frame; a request log has no body of a longer one.")] = 65_536


class ProxyConfig(ConfigTable, frozen=True):
    """Configuration of a proxy."""

    listeners: Annotated[list[ListenerConfig], Meta(description="Ports for one broker each.")] = []
    sni_listeners: Annotated[list[SniListenerConfig], Meta(description="Ports for several brokers each.")] = []
    loop: Annotated[
        Literal["native", "asyncio", "auto"],
        Meta(description="`native` runs on Linux outside Python's interpreter lock, `asyncio` everywhere; `auto` prefers `native`."),
    ] = "auto"
    threads: Annotated[int, Meta(ge=1, le=256, description="Threads of the native loop.")] = 1
    unknown: Annotated[
        Literal["pass", "refuse", "close"],
        Meta(description="Treatment of requests of unknown APIs and versions; `refuse` answers UNSUPPORTED_VERSION."),
    ] = "pass"
    raw_sasl_tokens: Annotated[
        bool | None, Meta(description="Forward SaslHandshake v0 and raw GSSAPI tokens; by default only without tenants and refusals.")
    ] = None
    max_frame: Annotated[int, Meta(ge=1, lt=1 << 31, description="Bytes of a frame.")] = 100 * MIB
    max_held: Annotated[Count, Meta(description="Bytes buffered for one connection.")] = 128 * MIB
    max_held_in_all: Annotated[Count, Meta(description="Bytes buffered for all connections.")] = 512 * MIB
    max_connections: Annotated[
        Count, Meta(description="Connections of one listener; half of them may be clients that have not sent a whole frame yet.")
    ] = 10_000
    max_connections_of_address: Annotated[
        Count, Meta(description="Connections of one client address (IPv6: /64 network) over all listeners.")
    ] = 5_000
    max_handshakes_of_address: Annotated[Count, Meta(description="The same of clients that have not sent a whole frame yet.")] = 1_000
    max_rate_of_address: Annotated[Count, Meta(description="New connections of one client address per second.")] = 1_000
    first_frame_seconds: Annotated[Seconds, Meta(description="Time in which a client must send a whole frame.")] = 30.0
    connect_seconds: Annotated[Seconds, Meta(description="Time in which a broker must accept a connection.")] = 10.0
    reuse_port: Annotated[
        bool, Meta(description="Listen with SO_REUSEPORT, so that another process can take the ports over before this one stops.")
    ] = False
    drain_seconds: Annotated[float, Meta(ge=0, le=MOST_SECONDS, description="Time after SIGTERM for outstanding answers.")] = 30.0
    cluster: ClusterConfig | None = None
    port_listeners: list[PortListenerConfig] = []
    metrics: Annotated[str | None, Meta(description="Address of the HTTP endpoint for metrics and health.")] = None
    addresses: AddressesConfig = AddressesConfig()
    versions: VersionsConfig | None = None
    rehearsal: RehearsalConfig | None = None
    refusals: Annotated[list[RefusalConfig], Meta(description="Clients that are refused.")] = []
    quotas: Annotated[list[QuotaConfig], Meta(description="Bytes and requests per second.")] = []
    tenants: Annotated[dict[str, TenantConfig], Meta(description="Tenants by name.")] = {}
    telemetry: TelemetryConfig | None = None
    tap: TapConfig | None = None
    request_log: TapConfig | None = None
    audit: AuditConfig | None = None

    @property
    def all_listeners(self) -> list[ListenerConfig | SniListenerConfig]:
        return [*self.listeners, *self.sni_listeners]


def host_and_port(text: str, what: str) -> tuple[str, int]:
    """Parse `host:port`, `[address]:port` or `:port`."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or len(port) > 5 or not int(port) < MOST_PORTS:
        raise InputError(f"{what} {text!r} is not host:port")
    return host.strip("[]"), int(port)
