"""Port for several brokers, chosen by the name in the client's TLS handshake (SNI, RFC 6066)."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from kwire.proxy.config import SniBroker, SniListenerConfig
from kwire.proxy.listener_asyncio import AsyncioListener
from kwire.proxy.loop_asyncio import ClientSide
from kwire.proxy.sni_names import SniNames

if TYPE_CHECKING:
    from kwire.proxy.server import ProxyServer

__all__ = ["SniListener"]


class SniListener(AsyncioListener):
    """Port with several brokers; a client whose handshake names none of them is closed."""

    def __init__(self, server: ProxyServer, config: SniListenerConfig) -> None:
        self._names = SniNames(config, server.quiet)
        self._named: WeakKeyDictionary[ssl.SSLObject, SniBroker] = WeakKeyDictionary()
        super().__init__(server, config)

    def _tls_context(self) -> ssl.SSLContext | None:
        context = super()._tls_context()
        assert context is not None
        context.sni_callback = self._choose
        return context

    def _choose(self, connection: ssl.SSLSocket | ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> int | None:
        assert isinstance(connection, ssl.SSLObject)
        if not self._names.knows(name):
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        self._named[connection] = self._names.broker(name)
        return None

    def broker_of(self, side: ClientSide) -> tuple[int, str] | None:
        secured = None if side.transport is None else side.transport.get_extra_info("ssl_object")
        found = None if secured is None else self._named.get(secured)
        return None if found is None else (found.node_id, found.broker)
