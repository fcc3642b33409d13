"""TLS of the proxy towards clients and brokers, and who a client's certificate says it is."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from pathlib import Path

import pytest
import trustme

from kwire.proxy.config import TlsConfig, UpstreamTlsConfig
from proxied_frames import HEARTBEAT, answer, echo, heartbeat
from proxied_sockets import connect, proxied

pytestmark = pytest.mark.usefixtures("loop")


def certificates(folder: Path) -> tuple[trustme.CA, Path, Path]:
    authority = trustme.CA()
    made = authority.issue_cert("proxy.example.com", "broker.example.com")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    made.cert_chain_pems[0].write_to_path(str(certificate))
    made.private_key_pem.write_to_path(str(key))
    return authority, certificate, key


def test_tls_on_both_sides_with_a_client_certificate(tmp_path: Path) -> None:
    authority, certificate, key = certificates(tmp_path)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    broker_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    broker_side.load_cert_chain(certificate, key)
    client_side = ssl.create_default_context()
    authority.configure_trust(client_side)

    async def go(with_certificate: bool) -> bytes:
        tls = TlsConfig(certificate=str(certificate), key=str(key), client_ca=str(tmp_path / "ca.pem"))
        upstream = UpstreamTlsConfig(ca=str(tmp_path / "ca.pem"), server_name="broker.example.com")
        async with proxied(echo, upstream=broker_side, tls=tls, upstream_tls=upstream) as server:
            reader, writer = await connect(server, client_side)
            writer.write(heartbeat(7))
            await writer.drain()
            return await asyncio.wait_for(reader.readexactly(len(answer(7, len(HEARTBEAT)))), 30)

    with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
        asyncio.run(go(False))
    client_side.load_cert_chain(certificate, key)
    assert asyncio.run(go(True)) == answer(7, len(HEARTBEAT))


def test_the_principal_of_a_client_certificate(tmp_path: Path) -> None:
    """As `ssl.principal.mapping.rules=DEFAULT` has it: the subject, its last part first (RFC 2253)."""
    authority, certificate, key = certificates(tmp_path)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    client_side = ssl.create_default_context()
    authority.configure_trust(client_side)
    authority.issue_cert("client", common_name="billing", organization_name="Example", organization_unit_name="services").configure_cert(
        client_side
    )

    async def go() -> list[str]:
        tls = TlsConfig(certificate=str(certificate), key=str(key), client_ca=str(tmp_path / "ca.pem"))
        async with proxied(echo, tls=tls) as server:
            reader, writer = await connect(server, client_side)
            writer.write(heartbeat(7))
            await asyncio.wait_for(reader.readexactly(len(answer(7, len(HEARTBEAT)))), 30)
            return [peer.principal for peer in server.peers()]

    assert asyncio.run(go()) == ["User:CN=billing,OU=services,O=Example"]


@pytest.mark.parametrize("with_ca", [False, True])
def test_only_the_authorities_in_ca_count(with_ca: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker with a certificate of a system authority: trusted without `ca`, refused with another one there."""
    authority, certificate, key = certificates(tmp_path)
    authority.cert_pem.write_to_path(str(tmp_path / "system.pem"))
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "ours.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "system.pem"))
    broker_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    broker_side.load_cert_chain(certificate, key)
    upstream = UpstreamTlsConfig(ca=str(tmp_path / "ours.pem") if with_ca else None, server_name="broker.example.com")

    async def go() -> bytes:
        async with proxied(echo, upstream=broker_side, upstream_tls=upstream) as server:
            reader, writer = await connect(server)
            writer.write(heartbeat(7))
            with suppress(ConnectionError):
                return await asyncio.wait_for(reader.read(1000), 30)
        return b""

    assert asyncio.run(go()) == (b"" if with_ca else answer(7, len(HEARTBEAT)))


@pytest.mark.parametrize(("names", "asked", "is_reached"), [
    (["broker.example.com"], "broker.example.com", True),
    (["broker.example.com"], "other.example.com", False),
    (["broker.example.com"], None, False),
    (["127.0.0.1"], None, True),
    (["*.example.com"], "broker.example.com", True),
    (["bücher.example.com"], "bücher.example.com", True),
])  # fmt: skip
def test_a_broker_must_have_the_name(names: list[str], asked: str | None, is_reached: bool, tmp_path: Path) -> None:
    """Without `server_name`, the host that the proxy connects to."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    broker_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(*names).configure_cert(broker_side)

    async def go() -> bytes:
        async with proxied(
            echo, upstream=broker_side, upstream_tls=UpstreamTlsConfig(ca=str(tmp_path / "ca.pem"), server_name=asked)
        ) as server:
            reader, writer = await connect(server)
            writer.write(heartbeat(7))
            with suppress(ConnectionError):
                return await asyncio.wait_for(reader.read(1000), 30)
        return b""

    assert asyncio.run(go()) == (answer(7, len(HEARTBEAT)) if is_reached else b"")
