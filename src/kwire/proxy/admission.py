"""Limits on clients per listener and per address.

A connection is in its *handshake* until the client has sent a whole frame. Handshakes may take half of a listener's connections, so
clients that never finish one leave room for others.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Final, Literal

from kwire.proxy.config import ProxyConfig

__all__ = ["Admission", "Slot", "TurnedAway", "network_of"]

TurnedAway = Literal["too_many", "too_many_handshakes", "too_many_of_address", "too_many_handshakes_of_address", "too_fast"]

_V6_NETWORK: Final = 64  # bits; a host chooses the others freely (RFC 4291, RFC 8981)


class Slot:
    __slots__ = ("_in_handshake", "_of", "address", "listener")

    def __init__(self, of: Admission, listener: str, address: str) -> None:
        self._of = of
        self._in_handshake = True
        self.listener = listener
        self.address = address

    def passed(self) -> None:
        if self._in_handshake:
            self._in_handshake = False
            self._of.release(self, handshake=True)

    def left(self) -> None:
        self.passed()
        self._of.release(self, handshake=False)


class Admission:
    """Counts of connections over all listeners; thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._open: Counter[tuple[str, str]] = Counter()  # of ("listener", its address) and of ("client", its address)
        self._handshakes: Counter[tuple[str, str]] = Counter()
        self._second = 0
        self._came: Counter[str] = Counter()  # in this second, by address

    def enter(self, config: ProxyConfig, listener: str, address: str) -> Slot | TurnedAway:
        """Admit a client, or return the limit that it exceeds; the IPv6 addresses of a /64 network count as one."""
        found = Slot(self, listener, network_of(address))
        port, client = _keys(found)
        limits: tuple[tuple[Counter[tuple[str, str]], tuple[str, str], int, TurnedAway], ...] = (
            (self._open, port, config.max_connections, "too_many"),
            (self._handshakes, port, (config.max_connections + 1) // 2, "too_many_handshakes"),
            (self._open, client, config.max_connections_of_address, "too_many_of_address"),
            (self._handshakes, client, config.max_handshakes_of_address, "too_many_handshakes_of_address"),
        )
        with self._lock:
            second = int(self._clock())
            if second != self._second:
                self._second = second
                self._came.clear()
            self._came[found.address] += 1
            if self._came[found.address] > config.max_rate_of_address:
                return "too_fast"
            for counts, key, most, reason in limits:
                if counts[key] >= most:
                    return reason
            for key in (port, client):
                self._open[key] += 1
                self._handshakes[key] += 1
        return found

    def release(self, slot: Slot, *, handshake: bool) -> None:
        counts = self._handshakes if handshake else self._open
        with self._lock:
            for key in _keys(slot):
                counts[key] -= 1
                if not counts[key]:
                    del counts[key]


def _keys(slot: Slot) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("listener", slot.listener), ("client", slot.address)


def network_of(address: str) -> str:
    """Return what counts as one client: an IPv4 address, or the /64 network of an IPv6 address."""
    if ":" not in address:
        return address
    found = ipaddress.IPv6Address(address)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Network((found.packed[: _V6_NETWORK // 8] + bytes(8), _V6_NETWORK)))
