"""Port for several brokers, chosen by the name in the client's TLS handshake (SNI, RFC 6066)."""

from __future__ import annotations

import itertools
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from kwire.proxy.config import SniBroker, SniListenerConfig
from kwire.proxy.listener_asyncio import AsyncioListener
from kwire.proxy.loop_asyncio import ClientSide

if TYPE_CHECKING:
    from kwire.proxy.server import ProxyServer

__all__ = ["SniListener"]


class SniListener(AsyncioListener):
    """Port with several brokers; a client whose handshake names none of them is closed."""

    def __init__(self, server: ProxyServer, config: SniListenerConfig) -> None:
        self._by_name = {config.name_of(broker): broker for broker in config.brokers}
        self._bootstrap = config.bootstrap
        self._in_turn: Iterator[SniBroker] = itertools.cycle(config.brokers)
        self._named: WeakKeyDictionary[ssl.SSLObject, SniBroker] = WeakKeyDictionary()
        super().__init__(server, config)

    def _tls_context(self) -> ssl.SSLContext | None:
        context = super()._tls_context()
        assert context is not None
        context.sni_callback = self._choose
        return context

    def _choose(self, connection: ssl.SSLSocket | ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> int | None:
        assert isinstance(connection, ssl.SSLObject)
        asked = (name or "").rstrip(".").lower()
        # each client that begins gets the next broker; one that is down costs a client a retry
        found = next(self._in_turn) if asked == self._bootstrap else self._by_name.get(asked)
        if found is None:
            said = repr(name[:255]) if name else "no name"
            # `ssl` does not say whose handshake it is
            self._server.quiet.warning(
                "unknown_name", "", f"{self.config.listen}: TLS asks for {said}, which is not a name of this listener"
            )
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        self._named[connection] = found
        return None

    def broker_of(self, side: ClientSide) -> tuple[int, str] | None:
        secured = None if side.transport is None else side.transport.get_extra_info("ssl_object")
        found = None if secured is None else self._named.get(secured)
        return None if found is None else (found.node_id, found.broker)
