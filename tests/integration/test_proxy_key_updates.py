"""Key updates of TLS 1.3 (RFC 8446, 4.6.3), which Python's `ssl` cannot begin: the client is OpenSSL without it."""

from __future__ import annotations

import _ssl
import ctypes
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_void_p

import pytest

from kwire.proxy.server import ProxyServer
from proxied_frames import HEARTBEAT, answer, heartbeat

OPENSSL = ctypes.CDLL(_ssl.__file__)
KEEPS, ANSWERS = 0, 1  # whether the peer is to update its keys too
MOST_UPDATES = 32  # that OpenSSL takes without a byte of the application between them


def pointer(name: str, *given: c_void_p) -> c_void_p:
    call = getattr(OPENSSL, name)
    call.restype = c_void_p
    return c_void_p(call(*given))


class Client:
    def __init__(self, port: int, receive_buffer: int = 0) -> None:
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        self._context = pointer("SSL_CTX_new", pointer("TLS_client_method"))
        self._tls = pointer("SSL_new", self._context)
        OPENSSL.SSL_set_fd(self._tls, self.socket.fileno())
        assert self.call("SSL_connect") == 1

    def call(self, name: str, *given: object) -> int:
        return int(getattr(OPENSSL, name)(self._tls, *given))

    def update(self, kind: int) -> bool:
        return self.call("SSL_key_update", kind) == 1 and self.call("SSL_do_handshake") == 1

    def write(self, data: bytes) -> bool:
        return self.call("SSL_write", data, len(data)) == len(data)

    def read(self, size: int) -> bytes:
        found, into = b"", ctypes.create_string_buffer(1 << 14)
        while len(found) < size:
            got = self.call("SSL_read", into, min(len(into), size - len(found)))
            assert got > 0, "the proxy has closed the connection"
            found += into.raw[:got]
        return found

    def close(self) -> None:
        OPENSSL.SSL_free(self._tls)
        OPENSSL.SSL_CTX_free(self._context)
        self.socket.close()


@contextmanager
def connected(server: ProxyServer, receive_buffer: int = 0) -> Iterator[Client]:
    made = Client(server.ports[0], receive_buffer)
    try:
        yield made
    finally:
        made.close()


def test_a_client_that_updates_keys(tls_proxy: ProxyServer) -> None:
    random_ = random.Random(9)
    with connected(tls_proxy) as client:
        for number in range(100):
            size = random_.choice((0, 100, 40_000))
            request = heartbeat(number, size)
            cut = random_.randrange(len(request))
            assert client.write(request[:cut] or request[:1])
            for _ in range(random_.choice((0, 1, 3))):
                assert client.update(random_.choice((KEEPS, ANSWERS)))
            assert client.write(request[max(cut, 1) :])
            expected = answer(number, len(HEARTBEAT) + size)
            assert client.read(len(expected)) == expected


@pytest.mark.matrix
@pytest.mark.parametrize("loop", ["native"])
def test_a_client_that_updates_keys_and_never_reads(tls_proxy: ProxyServer, caplog: pytest.LogCaptureFixture) -> None:
    """Each update makes the proxy send one: it keeps 1 MB of them and then closes the connection."""
    assert tls_proxy._native is not None
    tls_proxy._native._sockets[0][0][1].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # which those it accepts have too
    with connected(tls_proxy, 4096) as client:
        client.write(heartbeat(1))  # which has its time: the limit on first frames is over
        assert client.read(len(answer(1, len(HEARTBEAT))))
        client.write((90 << 20).to_bytes(4, "big") + HEARTBEAT)  # a frame that goes on, so that each byte of it is taken
        updates = 0
        while client.write(b"x") and all(client.update(ANSWERS) for _ in range(MOST_UPDATES)):
            updates += MOST_UPDATES
            assert updates < 1_000_000
        assert updates > (1 << 20) // 100
    assert "it does not read what TLS answers" in caplog.text
