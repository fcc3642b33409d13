"""PROXY protocol of the proxy, on sockets: headers of balancers and those that it sends, with both loops.

Bytes are worked by hand from section 2.2 of haproxy.org/download/2.8/doc/proxy-protocol.txt.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import trustme

from kwire.errors import InputError
from kwire.proxy.config import TlsConfig, UpstreamTlsConfig
from kwire.proxy.proxy_protocol import header_of, source_of
from proxied_frames import HEARTBEAT, answer, echo, heartbeat
from proxied_sockets import OPEN, connect, proxied

SIGNATURE = bytes.fromhex("0d0a0d0a000d0a515549540a")
# 10.1.2.3:50000 to 192.0.2.1:9092
FOUR = SIGNATURE + bytes.fromhex("21 11 000c 0a010203 c0000201 c350 2384")
# [2001:db8::1]:50000 to [2001:db8::2]:9092, and a TLV of type 4 (NOOP) with two bytes
SIX = SIGNATURE + bytes.fromhex("21 21 0029 20010db8000000000000000000000001 20010db8000000000000000000000002 c350 2384 04 0002 ffff")
LOCAL = SIGNATURE + bytes.fromhex("20 00 0000")


def test_headers_by_hand() -> None:
    assert header_of(("10.1.2.3", 50_000), ("192.0.2.1", 9092)) == FOUR
    assert header_of(("2001:db8::1", 50_000), ("2001:db8::2", 9092))[:-4] == SIX[:14] + b"\0\x24" + SIX[16:-9]
    mixed = header_of(("10.1.2.3", 1), ("::1", 2))
    assert mixed == SIGNATURE + bytes.fromhex("21 21 0024 00000000000000000000ffff0a010203 00000000000000000000000000000001 0001 0002")
    assert source_of(mixed) == ("10.1.2.3", 1)
    assert source_of(FOUR) == ("10.1.2.3", 50_000)
    assert source_of(SIX) == ("2001:db8::1", 50_000)
    assert source_of(LOCAL) is None
    assert source_of(SIGNATURE + bytes.fromhex("21 31 0000")) is None  # a Unix socket
    for wrong in (b"PROXY TCP4 10.1.2.3 192.0.2.1 50000 9092\r\n", SIGNATURE + bytes.fromhex("31 11 000c") + bytes(12), FOUR[:-1]):
        with pytest.raises(InputError, match="PROXY protocol"):
            source_of(wrong)


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize(("header", "client"), [(FOUR, ("10.1.2.3", 50_000)), (SIX, ("2001:db8::1", 50_000)), (LOCAL, None)])
def test_a_client_behind_a_balancer(header: bytes, client: tuple[str, int] | None) -> None:
    """The header comes in two pieces, the second with the first frame."""

    async def go() -> None:
        async with proxied(echo, proxy_protocol=True) as server:
            reader, writer = await connect(server)
            writer.write(header[:7])
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.write(header[7:] + heartbeat(7))
            assert await asyncio.wait_for(reader.readexactly(len(answer(7, len(HEARTBEAT)))), 30) == answer(7, len(HEARTBEAT))
            assert [(peer.address, peer.port) for peer in server.peers()] == [client or writer.get_extra_info("sockname")]

    asyncio.run(go())


@pytest.mark.usefixtures("loop")
def test_the_limit_of_an_address_counts_clients_not_balancers(caplog: pytest.LogCaptureFixture) -> None:
    async def go() -> list[bytes]:
        async with proxied(echo, proxy_protocol=True, max_connections_of_address=1) as server:
            found = []
            for header in (FOUR, FOUR, SIX):
                reader, writer = await connect(server)
                writer.write(header + heartbeat(7))
                try:
                    found.append(await asyncio.wait_for(reader.read(len(answer(7, len(HEARTBEAT)))), 30))
                except ConnectionError:  # it had sent bytes that are not read
                    found.append(b"")
            return found

    whole = answer(7, len(HEARTBEAT))
    assert asyncio.run(go()) == [whole, b"", whole]
    assert any("10.1.2.3" in each.getMessage() and "turned away" in each.getMessage() for each in caplog.records)


@pytest.mark.usefixtures("loop")
def test_what_is_no_header_is_closed_and_a_health_check_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def go() -> None:
        async with proxied(echo, proxy_protocol=True, first_frame_seconds=0.5) as server:
            for sent in (b"", heartbeat(7), SIGNATURE + bytes.fromhex("21 11 ffff"), SIGNATURE, FOUR[:20], FOUR[:-1]):
                reader, writer = await connect(server)
                writer.write(sent)
                if sent != FOUR[:-1]:  # whose rest does not come in time
                    writer.write_eof()
                try:
                    assert await asyncio.wait_for(reader.read(-1), 30) == b""
                except ConnectionError:
                    assert sent  # bytes that were not read reset the connection
                assert bool(caplog.records) == bool(sent)
            assert server.connections == 0

    with caplog.at_level(logging.WARNING, "kwire.proxy"):
        asyncio.run(go())
    assert all("PROXY protocol" in each.getMessage() for each in caplog.records)


@pytest.mark.usefixtures("loop")
def test_clients_without_a_header_are_limited() -> None:
    async def go() -> None:
        async with proxied(echo, proxy_protocol=True, max_connections=2) as server:
            waiting = [await connect(server) for _ in range(2)]
            reader, _ = await connect(server)
            with suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(-1), 30) == b""
            for reader, writer in waiting[:1]:
                writer.write(FOUR + heartbeat(7))
                assert await asyncio.wait_for(reader.readexactly(len(answer(7, len(HEARTBEAT)))), 30) == answer(7, len(HEARTBEAT))

    asyncio.run(go())


@pytest.mark.usefixtures("loop")
def test_clients_that_wait_at_a_port_that_is_closed_are_not_reset() -> None:
    """They have connected and asked while the loop did other work, so nothing has accepted them."""

    async def go() -> list[bytes]:
        async with proxied(echo, proxy_protocol=True) as server:
            clients = [socket.create_connection(("127.0.0.1", server.ports[0])) for _ in range(20)]
            for client in clients:
                client.sendall(FOUR + heartbeat(7))
            closing = asyncio.ensure_future(server.close(30))
            found = []
            for client in clients:
                client.setblocking(False)
                found.append(await asyncio.wait_for(asyncio.get_running_loop().sock_recv(client, 100), 30))
                client.close()
            await asyncio.wait_for(closing, 30)
            assert server.connections == 0
            assert sum(server.counts.read()[0].values()) == 20
            return found

    assert set(asyncio.run(go())) <= {b"", answer(7, len(HEARTBEAT))}


@asynccontextmanager
async def recorded(serve_tls: ssl.SSLContext | None) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Port of a balancer that takes a header, and a broker behind it that a test plays."""
    found: list[bytes] = []
    broker = await asyncio.start_server(echo, "127.0.0.1", 0, ssl=serve_tls)

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        OPEN.append(writer)
        found.append(await reader.readexactly(28))
        behind, to = await asyncio.open_connection("127.0.0.1", broker.sockets[0].getsockname()[1])
        OPEN.append(to)

        async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            while data := await source.read(1 << 16):
                target.write(data)

        await asyncio.gather(copy(reader, to), copy(behind, writer), return_exceptions=True)

    balancer = await asyncio.start_server(take, "127.0.0.1", 0)
    try:
        yield balancer.sockets[0].getsockname()[1], found
    finally:
        balancer.close()
        broker.close()


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize("with_tls", [False, True])
def test_the_header_that_the_broker_gets(with_tls: bool, tmp_path: Path) -> None:
    """It comes before TLS, and names the client of the header that the proxy got."""
    authority = trustme.CA()
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "pem"))
    authority.cert_pem.write_to_path(str(tmp_path / "ca"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "pem")
    client = ssl.create_default_context(cafile=str(tmp_path / "ca"))
    tls = TlsConfig(certificate=str(tmp_path / "pem"), key=str(tmp_path / "pem"))
    more = {"tls": tls, "upstream_tls": UpstreamTlsConfig(ca=str(tmp_path / "ca"), server_name="localhost")} if with_tls else {}

    async def go() -> list[bytes]:
        async with recorded(context if with_tls else None) as (port, found):
            listener = {"proxy_protocol": True, "upstream_proxy_protocol": True, **more}
            async with proxied(echo, broker_address=f"127.0.0.1:{port}", **listener) as server:
                plain = socket.create_connection(("127.0.0.1", server.ports[0]))
                plain.sendall(FOUR)
                reader, writer = await asyncio.open_connection(
                    sock=plain, ssl=client if with_tls else None, server_hostname="localhost" if with_tls else None
                )
                OPEN.append(writer)
                writer.write(heartbeat(7))
                assert await asyncio.wait_for(reader.readexactly(len(answer(7, len(HEARTBEAT)))), 30) == answer(7, len(HEARTBEAT))
                local = server.ports[0]
            assert found == [SIGNATURE + bytes.fromhex("21 11 000c 0a010203 7f000001 c350") + local.to_bytes(2, "big")]
            return found

    asyncio.run(go())
