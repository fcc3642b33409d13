"""Tables of a proxy's TOML configuration.

[[listeners]]
listen = "0.0.0.0:19092"
broker = "kafka-1.example.com:9092"
node_id = 1
advertised = "proxy.example.com:19092"
"""
# ruff: noqa: RUF012 (msgspec gives each table its own empty list)

from __future__ import annotations

from typing import Literal

from kwire.errors import InputError
from kwire.proxy.config_table import ConfigTable
from kwire.proxy.tls_config import TlsConfig, UpstreamTlsConfig

__all__ = [
    "AddressesConfig", "ListenerConfig", "ProxyConfig", "RefusalConfig", "RehearsalConfig", "SniBroker", "SniListenerConfig", "TapConfig",
    "TelemetryConfig", "TlsConfig", "UpstreamTlsConfig", "VersionsConfig", "host_and_port",
]  # fmt: skip

MIB = 1 << 20
MOST_PORTS = 65_536


class ListenerConfig(ConfigTable, frozen=True):
    """Port for one broker. Addresses are `host:port`; an empty host to listen on means all addresses.

    Without `advertised`, clients get the broker's own address; without `tenant`, they see the whole cluster.
    """

    listen: str
    broker: str
    node_id: int = -1
    advertised: str | None = None
    tenant: str | None = None
    tls: TlsConfig | None = None
    upstream_tls: UpstreamTlsConfig | None = None

    def addresses(self) -> list[tuple[int, tuple[str, int]]]:
        return [] if self.advertised is None else [(self.node_id, host_and_port(self.advertised, "advertised"))]

    @property
    def has_tls(self) -> bool:
        return self.tls is not None or self.upstream_tls is not None


class SniBroker(ConfigTable, frozen=True):
    """Broker behind a shared port; `broker` is its `host:port`."""

    node_id: int
    broker: str


class SniListenerConfig(ConfigTable, frozen=True):
    """Port for several brokers, chosen by the name in the client's TLS handshake.

    Clients begin at `bootstrap.DOMAIN` and reach broker N at `broker-N.DOMAIN`; the certificate must cover these names. They get the port
    of `listen`, unless there is an `advertised_port`.
    """

    listen: str
    domain: str
    brokers: list[SniBroker]
    tls: TlsConfig
    advertised_port: int | None = None
    tenant: str | None = None
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


class AddressesConfig(ConfigTable, frozen=True):
    """Table of `rules.addresses`."""

    large_answers: Literal["cap", "hold"] = "cap"
    unknown_node: Literal["close", "keep"] = "close"


class VersionsConfig(ConfigTable, frozen=True):
    """Table of `rules.versions`."""

    cap: str


class RehearsalConfig(ConfigTable, frozen=True):
    """Table of `rules.rehearsal`."""

    release: str
    mode: Literal["count", "break"] = "count"


class RefusalConfig(ConfigTable, frozen=True):
    """Table of `rules.refusals.Condition`."""

    software: str | None = None
    version: str | None = None
    client_id: str | None = None
    principal: str | None = None
    address: str | None = None


class TenantConfig(ConfigTable, frozen=True):
    """Table of `rules.tenants`; without `principals` (`rules.principals`) any client may use the tenant's listeners."""

    prefix: str
    error_texts: Literal["strip", "blank"] = "strip"
    principals: list[str] | None = None


class FilesConfig(ConfigTable, frozen=True):
    """Rotated files (`tap_file`); data beyond `max_queued` waiting bytes is dropped and counted."""

    file: str
    max_bytes: int = 100 * MIB
    max_files: int = 10
    max_queued: int = 64 * MIB


class TelemetryConfig(FilesConfig, frozen=True):
    """Table of `rules.telemetry`; `metrics` has prefixes of names, empty for all; see `PushQuota` for `max_pushed`."""

    metrics: list[str] = []
    interval_ms: int = 300_000
    max_pushed: int = 4 * MIB


class TapConfig(FilesConfig, frozen=True):
    """Capture or request log of the traffic, without secrets; `snaplen` is the number of bytes kept of a frame.

    In a request log, the body of a longer frame is null. See `tapped_connection` and `logged_connection`.
    """

    snaplen: int = 65_536


class ProxyConfig(ConfigTable, frozen=True):
    """Configuration of a proxy.

    Attributes:
        loop: `native` forwards bytes without the GIL, on Linux and without TLS; `asyncio` runs everywhere; `auto` uses the native loop
            where possible.
        unknown: action for requests of unknown APIs and versions: `pass`, `refuse` with UNSUPPORTED_VERSION, or `close`.
        raw_sasl_tokens: forward SaslHandshake v0 and GSSAPI tokens without a handshake; by default only without tenants and refusals.
        max_frame, max_held, max_held_in_all: limits in bytes of a frame, of the buffers of one connection, and of all buffers.
        max_connections: limit of one listener; half of them may be clients that have not sent a whole frame yet.
        max_connections_of_address, max_handshakes_of_address: limits of one client address (IPv6: /64 network) over all listeners:
            connections, and those of clients that have not sent a whole frame yet.
        max_rate_of_address: new connections of one client address per second.
        first_frame_seconds: time in which a client must send a whole frame.
        drain_seconds: time after SIGTERM for outstanding answers.
    """

    listeners: list[ListenerConfig] = []
    sni_listeners: list[SniListenerConfig] = []
    loop: Literal["native", "asyncio", "auto"] = "auto"
    threads: int = 1
    unknown: Literal["pass", "refuse", "close"] = "pass"
    raw_sasl_tokens: bool | None = None
    max_frame: int = 100 * MIB
    max_held: int = 128 * MIB
    max_held_in_all: int = 512 * MIB
    max_connections: int = 10_000
    max_connections_of_address: int = 5_000
    max_handshakes_of_address: int = 1_000
    max_rate_of_address: int = 1_000
    first_frame_seconds: float = 30.0
    connect_seconds: float = 10.0
    drain_seconds: float = 30.0
    metrics: str | None = None
    addresses: AddressesConfig = AddressesConfig()
    versions: VersionsConfig | None = None
    rehearsal: RehearsalConfig | None = None
    refusals: list[RefusalConfig] = []
    tenants: dict[str, TenantConfig] = {}
    telemetry: TelemetryConfig | None = None
    tap: TapConfig | None = None
    request_log: TapConfig | None = None

    @property
    def all_listeners(self) -> list[ListenerConfig | SniListenerConfig]:
        return [*self.listeners, *self.sni_listeners]


def host_and_port(text: str, what: str) -> tuple[str, int]:
    """Parse `host:port`, `[address]:port` or `:port`."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or len(port) > 5 or not int(port) < MOST_PORTS:
        raise InputError(f"{what} {text!r} is not host:port")
    return host.strip("[]"), int(port)
