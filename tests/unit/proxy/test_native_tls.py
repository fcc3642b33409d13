"""Which loop serves TLS, with and without an OpenSSL that Python shares."""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme

from kwire.errors import InputError
from kwire.proxy import loop_native, server
from kwire.proxy.config import ListenerConfig, ProxyConfig, TlsConfig
from kwire.proxy.listener_asyncio import AsyncioListener
from kwire.proxy.loop_native import native_module
from kwire.proxy.server import ProxyServer


@pytest.fixture
def listener(tmp_path: Path) -> ListenerConfig:
    made = trustme.CA().issue_cert("proxy.example.com")
    files = {"certificate": str(tmp_path / "cert.pem"), "key": str(tmp_path / "key.pem")}
    made.cert_chain_pems[0].write_to_path(files["certificate"])
    made.private_key_pem.write_to_path(files["key"])
    return ListenerConfig(listen=":0", broker="kafka-1:9092", node_id=1, tls=TlsConfig(**files))


@pytest.mark.skipif(native_module() is None, reason="no native loop: it is compiled, and needs epoll of Linux")
def test_without_a_shared_openssl_asyncio_serves_tls(listener: ListenerConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not ProxyServer(ProxyConfig(listeners=[listener]))._listeners
    for each in (server, loop_native):
        monkeypatch.setattr(each, "native_tls", lambda: None)
    (made,) = ProxyServer(ProxyConfig(listeners=[listener]))._listeners
    assert isinstance(made, AsyncioListener)
    with pytest.raises(InputError, match="needs an OpenSSL 3 that Python shares"):
        ProxyServer(ProxyConfig(listeners=[listener], loop="native"))
