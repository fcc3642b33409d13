"""TLS of the proxy, record by record: cut at any byte, damaged, of both versions, and ended in every way.

The client has its TLS in memory (`ssl.MemoryBIO`), so the test says which bytes of which record reach the proxy, and when.
"""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import nullcontext, suppress
from typing import Any

import pytest
import trustme
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from kwire.proxy.server import ProxyServer
from proxied_frames import HEARTBEAT, answer, heartbeat

VERSIONS = {"TLS 1.2": ssl.TLSVersion.TLSv1_2, "TLS 1.3": ssl.TLSVersion.TLSv1_3}
LARGE = 3 << 20
SECONDS = 30


class Client:
    """A client whose records are sent by hand."""

    def __init__(self, server: ProxyServer, context: ssl.SSLContext) -> None:
        self.socket = socket.create_connection(("127.0.0.1", server.ports[0]), SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.came, self.made = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.came, self.made, server_hostname="proxy.example.com")
        self.unsent = b""
        self.was_told = False  # that no more comes

    def take(self) -> None:
        """Take what the session has made, to be sent."""
        self.unsent += self.made.read()

    def send(self, size: int | None = None) -> None:
        self.take()
        size = len(self.unsent) if size is None else size
        self.socket.sendall(self.unsent[:size])
        self.unsent = self.unsent[size:]

    def receive(self) -> bool:
        """Wait for bytes of the proxy; return whether there are any."""
        try:
            found = self.socket.recv(1 << 16)
        except TimeoutError:
            raise AssertionError("the proxy neither answers nor closes") from None
        self.came.write(found)
        return bool(found)

    def shake(self, cut: int | None = None) -> None:
        while True:
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                self.send_cut(cut)
                if not self.receive():
                    raise ConnectionResetError from None
            else:
                return

    def send_cut(self, cut: int | None) -> None:
        self.take()
        while cut and len(self.unsent) > cut:
            self.send(cut)
        self.send()

    def read(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            try:
                more = self.tls.read(size - len(found))
            except ssl.SSLWantReadError:
                if not self.receive():
                    return found
                continue
            except ssl.SSLZeroReturnError:
                more = b""
            if not more:
                self.was_told = True
                return found
            found += more
        return found

    def close(self) -> None:
        self.socket.close()


def context(authority: trustme.CA, version: str) -> ssl.SSLContext:
    made = ssl.create_default_context()
    authority.configure_trust(made)
    made.minimum_version = made.maximum_version = VERSIONS[version]
    return made


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_records_that_come_in_pieces(version: str, cut: int, tls_proxy: ProxyServer, authority: trustme.CA) -> None:
    client = Client(tls_proxy, context(authority, version))
    client.shake(cut)
    client.tls.write(heartbeat(7, 2000))
    client.send_cut(cut)
    assert client.read(len(answer(7, len(HEARTBEAT) + 2000))) == answer(7, len(HEARTBEAT) + 2000)
    client.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_in_one_packet_with_the_end_of_the_handshake(version: str, tls_proxy: ProxyServer, authority: trustme.CA) -> None:
    """It waits until the broker is reached."""
    client = Client(tls_proxy, context(authority, version))
    while True:
        with suppress(ssl.SSLWantReadError):
            client.tls.do_handshake()
            break
        client.send()
        client.receive()
    client.tls.write(heartbeat(7) + heartbeat(8))  # with TLS 1.3, behind a Finished that was not sent yet
    client.send()
    wanted = answer(7, len(HEARTBEAT)) + answer(8, len(HEARTBEAT))
    assert client.read(len(wanted)) == wanted
    client.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_frames_of_many_records(version: str, tls_proxy: ProxyServer, authority: trustme.CA) -> None:
    client = Client(tls_proxy, context(authority, version))
    client.shake()
    client.tls.write(heartbeat(7, LARGE))
    client.take()
    sending = threading.Thread(target=client.socket.sendall, args=(client.unsent,))
    sending.start()
    wanted = answer(7, len(HEARTBEAT) + LARGE)
    assert client.read(len(wanted)) == wanted
    sending.join(SECONDS)
    client.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_sessions_are_resumed(version: str, tls_proxy: ProxyServer, authority: trustme.CA) -> None:
    """By tickets: nothing of a session is kept in the proxy."""
    shared, session, reused = context(authority, version), None, []
    for _ in range(2):
        plain = socket.create_connection(("127.0.0.1", tls_proxy.ports[0]), SECONDS)
        with plain, shared.wrap_socket(plain, server_hostname="proxy.example.com", session=session) as secured:
            secured.sendall(heartbeat(7))
            assert secured.recv(1000)
            session, reused = secured.session, [*reused, secured.session_reused]
    assert reused == [False, True]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_end_of_a_client_is_answered(version: str, tls_proxy: ProxyServer, authority: trustme.CA) -> None:
    client = Client(tls_proxy, context(authority, version))
    client.shake()
    client.tls.write(heartbeat(7))
    client.send()
    assert client.read(len(answer(7, len(HEARTBEAT)))) == answer(7, len(HEARTBEAT))
    with suppress(ssl.SSLWantReadError):
        client.tls.unwrap()
    client.send()
    assert client.read(1) == b""
    assert client.was_told
    client.close()


class Records(RuleBasedStateMachine):
    """Clients that send requests in records that are cut, damaged, repeated or left out, and that end in any way."""

    server: ProxyServer
    contexts: dict[str, ssl.SSLContext]

    def __init__(self) -> None:
        super().__init__()
        self.client: Client | None = None
        self.is_shaken = self.is_damaged = False
        self.number = 0
        self.wanted = b""

    @precondition(lambda self: self.client is None)
    @rule(
        version=st.sampled_from(list(VERSIONS)), cut=st.sampled_from([None, 1, 5, 100]), shakes=st.sampled_from([True, True, True, False])
    )
    def connects(self, version: str, cut: int | None, shakes: bool) -> None:
        self.client = Client(self.server, self.contexts[version])
        self.is_shaken, self.is_damaged, self.wanted = shakes, False, b""
        if shakes:
            self.client.shake(cut)

    @precondition(lambda self: self.client is not None and self.is_shaken and not self.is_damaged)
    @rule(padding=st.sampled_from([0, 1, 5000, 40_000]), size=st.sampled_from([None, 0, 1, 6, 300]))
    def asks(self, padding: int, size: int | None) -> None:
        assert self.client is not None
        self.number += 1
        self.client.tls.write(heartbeat(self.number, padding))
        self.wanted += answer(self.number, len(HEARTBEAT) + padding)
        self.sends(size)

    @precondition(lambda self: self.client is not None)
    @rule(size=st.sampled_from([None, 1, 6, 300]))
    def sends(self, size: int | None) -> None:
        assert self.client is not None
        with self.may_have_ended():
            self.client.send(size)

    @precondition(lambda self: self.client is not None)
    @rule(
        at=st.integers(0, 400),
        bit=st.integers(0, 7),
        data=st.sampled_from([b"", b"\x16\x03\x01\x02\x00", b"\x15\x03\x03\x00\x02\x02\x28", bytes(400)]),
    )
    def damages(self, at: int, bit: int, data: bytes) -> None:
        """Change a bit of what waits to be sent, or send something else."""
        assert self.client is not None
        self.client.take()
        waits = bytearray(self.client.unsent or data or b"\x00" * 5)
        waits[at % len(waits)] ^= 1 << bit
        self.client.unsent, self.is_damaged = bytes(waits) + data, True
        self.sends(None)

    @precondition(lambda self: self.client is not None and self.is_shaken and not self.is_damaged)
    @rule()
    def reads(self) -> None:
        assert self.client is not None
        self.client.send()
        assert self.client.read(len(self.wanted)) == self.wanted
        self.wanted = b""

    @precondition(lambda self: self.client is not None)
    @rule(how=st.sampled_from(["notify", "end", "abort"]))
    def ends(self, how: str) -> None:
        assert self.client is not None
        with self.may_have_ended():
            if how == "abort":
                self.client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            elif how == "notify" and self.is_shaken and not self.is_damaged:
                with suppress(ssl.SSLWantReadError, ssl.SSLError):
                    self.client.tls.unwrap()
                self.client.send()
            if how != "abort":
                self.client.socket.shutdown(socket.SHUT_WR)
                got = self.answers()
                assert self.wanted.startswith(got) if self.is_shaken else got == b""
        self.client.close()
        self.client = None

    def answers(self) -> bytes:
        assert self.client is not None
        try:
            return self.client.read(len(self.wanted) + 1)
        except ssl.SSLError:
            assert self.is_damaged  # the proxy's alert
            return b""

    def may_have_ended(self) -> Any:
        """A client that sends damaged records may be gone already."""
        return suppress(OSError) if self.is_damaged or not self.is_shaken else nullcontext()

    def teardown(self) -> None:
        if self.client is not None:
            self.client.close()


def test_the_proxy_serves_on_whatever_records_come(tls_proxy: ProxyServer, authority: trustme.CA) -> None:
    class Machine(Records):
        pass

    Machine.server, Machine.contexts = tls_proxy, {version: context(authority, version) for version in VERSIONS}
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck))
    )
    client = Client(tls_proxy, context(authority, "TLS 1.3"))
    client.shake()
    client.tls.write(heartbeat(7))
    client.send()
    assert client.read(len(answer(7, len(HEARTBEAT)))) == answer(7, len(HEARTBEAT))
    client.close()
    waiting = threading.Event()
    for _ in range(SECONDS * 20):
        if not tls_proxy.connections:
            break
        waiting.wait(0.05)
    assert tls_proxy.connections == 0
    assert "fault" not in {reason for *_, reason in tls_proxy.counts.read()[1]}
