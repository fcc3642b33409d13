"""Names that clients of an SNI listener ask for in their TLS handshake (RFC 6066), and the brokers that they mean."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from kwire.proxy.cluster_listeners import ANY_BROKER, is_asked
from kwire.proxy.config import SniBroker, SniListenerConfig
from kwire.proxy.quiet_log import QuietLog

__all__ = ["SniNames"]


class SniNames:
    def __init__(self, config: SniListenerConfig, quiet: QuietLog) -> None:
        self._listen = config.listen
        self._quiet = quiet
        self._by_name = {config.name_of(broker): broker for broker in config.brokers}
        self._bootstrap = config.bootstrap
        # the cluster says which brokers there are
        any_broker = [SniBroker(node_id=-1, broker=ANY_BROKER)] if is_asked(config.brokers[0].broker) else config.brokers
        self._in_turn: Iterator[SniBroker] = itertools.cycle(any_broker)

    def knows(self, name: str | None) -> bool:
        """Return whether the listener has this name, and log one that it has not."""
        asked = _folded(name)
        if asked == self._bootstrap or asked in self._by_name:
            return True
        said = repr(name[:255]) if name else "no name"
        # TLS does not say whose handshake it is
        text = f"{self._listen}: TLS asks for {said}, which is not a name of this listener"
        self._quiet.warning("unknown_name", "", text, self._listen)
        return False

    def broker(self, name: str | None) -> SniBroker:
        """Return the broker of a known name; each client that begins gets the next one: one that is down costs a client a retry."""
        asked = _folded(name)
        return next(self._in_turn) if asked == self._bootstrap else self._by_name[asked]


def _folded(name: str | None) -> str:
    return (name or "").rstrip(".").lower()
