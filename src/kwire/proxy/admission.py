"""Limits on clients per listener and per address.

A connection is in its *handshake* until the client has sent a whole frame. Handshakes may take half of a listener's connections, so
clients that never finish one leave room for others.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Final, Literal

from kwire.proxy.config import ProxyConfig

__all__ = ["Admission", "Slot", "TurnedAway", "network_of"]

TurnedAway = Literal["too_many", "too_many_handshakes", "too_many_of_address", "too_many_handshakes_of_address", "too_fast"]

_V6_NETWORK: Final = 64  # bits; a host chooses the others freely (RFC 4291, RFC 8981)


class _Open:
    """Connections of a listener or of an address."""

    __slots__ = ("all", "handshakes")

    def __init__(self) -> None:
        self.all = self.handshakes = 0


class Slot:
    __slots__ = ("_client", "_in_handshake", "_of", "_port", "address", "listener")

    def __init__(self, of: Admission, listener: str, address: str, port: _Open, client: _Open) -> None:
        self._of = of
        self._port = port
        self._client = client
        self._in_handshake = True
        self.listener = listener
        self.address = address

    def passed(self) -> None:
        if self._in_handshake:
            self._in_handshake = False
            with self._of.lock:
                self._port.handshakes -= 1
                self._client.handshakes -= 1

    def left(self) -> None:
        self.passed()
        with self._of.lock:
            self._port.all -= 1
            self._client.all -= 1
            if not self._client.all:
                del self._of.clients[self.address]


class Admission:
    """Counts of connections over all listeners; thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.lock = threading.Lock()
        self.clients: dict[str, _Open] = {}
        self._ports: defaultdict[str, _Open] = defaultdict(_Open)
        self._second = 0
        self._came: Counter[str] = Counter()  # in this second, by address

    def enter(self, config: ProxyConfig, listener: str, address: str) -> Slot | TurnedAway:
        """Admit a client, or return the limit that it exceeds; the IPv6 addresses of a /64 network count as one."""
        address = network_of(address)
        with self.lock:
            second = int(self._clock())
            if second != self._second:
                self._second = second
                self._came.clear()
            self._came[address] += 1
            port, client = self._ports[listener], self.clients.get(address) or _Open()
            if self._came[address] > config.max_rate_of_address:
                return "too_fast"
            if port.all >= config.max_connections:
                return "too_many"
            if port.handshakes >= (config.max_connections + 1) // 2:
                return "too_many_handshakes"
            if client.all >= config.max_connections_of_address:
                return "too_many_of_address"
            if client.handshakes >= config.max_handshakes_of_address:
                return "too_many_handshakes_of_address"
            self.clients[address] = client
            for each in (port, client):
                each.all += 1
                each.handshakes += 1
        return Slot(self, listener, address, port, client)


def network_of(address: str) -> str:
    """Return what counts as one client: an IPv4 address, or the /64 network of an IPv6 address."""
    if ":" not in address:
        return address
    found = ipaddress.IPv6Address(address)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Network((found.packed[: _V6_NETWORK // 8] + bytes(8), _V6_NETWORK)))
