"""Random and damaged frames of both sides over real sockets: what comes out of either loop is what the sans-IO connection says.

The conversations are those of tests/parity/test_relay_parity.py. Each is first run without sockets. A loop is then given the same pieces,
the next one when what the pieces before lead to has come out.
"""

from __future__ import annotations

import asyncio
import random
import ssl
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trustme

from kafka_bytes import Frames
from kwire.proxy.config import (
    ListenerConfig,
    ProxyConfig,
    RefusalConfig,
    RehearsalConfig,
    TenantConfig,
    TlsConfig,
    UpstreamTlsConfig,
    VersionsConfig,
)
from kwire.proxy.configured_rules import configured_rule_sets
from kwire.proxy.connection import ProxiedConnection
from kwire.proxy.rules.rule import Peer
from kwire.proxy.server import ProxyServer
from parity.test_relay_parity import random_streams
from twin_codecs import vectors_of

CONVERSATIONS = 40
MOST_PIECES = 60
SECONDS = 20
LIMITS = {"max_frame": 1 << 20, "max_held": 1 << 20}
Piece = tuple[int, bytes]


class End(asyncio.Protocol):
    def __init__(self, accepted: asyncio.Queue[End] | None = None) -> None:
        self.got = b""
        self.is_over = False
        self.happened = asyncio.Event()
        self._accepted = accepted

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self._accepted is not None:
            self._accepted.put_nowait(self)

    def data_received(self, data: bytes) -> None:
        self.got += data
        self.happened.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_over = True
        self.happened.set()

    async def gets(self, size: int) -> None:
        while len(self.got) < size and not self.is_over:
            self.happened.clear()
            await asyncio.wait_for(self.happened.wait(), SECONDS)

    async def ends(self) -> None:
        while not self.is_over:
            self.happened.clear()
            await asyncio.wait_for(self.happened.wait(), SECONDS)


@dataclass
class Expected:
    pieces: list[Piece]
    outs: list[list[int]] = field(default_factory=list)  # after each piece: bytes at the client, bytes at the broker
    at: list[bytes] = field(default_factory=lambda: [b"", b""])
    closes: str = ""
    depends_on_time: bool = False  # what a delayed answer waits for may come before or after the delay


@dataclass
class Secured:
    """TLS on both sides of the proxy."""

    settings: dict[str, object]
    client: ssl.SSLContext
    broker: ssl.SSLContext


@pytest.fixture(params=["plain", "TLS"])
def secured(request: pytest.FixtureRequest, tmp_path: Path, authority: trustme.CA) -> Secured | None:
    if request.param == "plain":
        return None
    files = {"certificate": str(tmp_path / "cert.pem"), "key": str(tmp_path / "key.pem")}
    made = authority.issue_cert("127.0.0.1")
    made.cert_chain_pems[0].write_to_path(files["certificate"])
    made.private_key_pem.write_to_path(files["key"])
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    client, broker = ssl.create_default_context(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.configure_trust(client)
    broker.load_cert_chain(files["certificate"], files["key"])
    return Secured({"tls": TlsConfig(**files), "upstream_tls": UpstreamTlsConfig(ca=str(tmp_path / "ca.pem"))}, client, broker)


def config(loop: str, broker: int, tenant: bool, refused: str, secured: Secured | None = None) -> ProxyConfig:
    more: dict[str, Any] = ({"tenant": "acme"} if tenant else {}) | ({} if secured is None else secured.settings)
    listener = ListenerConfig(listen="127.0.0.1:0", broker=f"127.0.0.1:{broker}", node_id=1, advertised="proxy.example.com:19092", **more)
    tenants = {"acme": TenantConfig(prefix="acme.")} if tenant else {}
    return ProxyConfig(
        listeners=[listener], tenants=tenants, loop=loop, threads=1, versions=VersionsConfig(cap="3.9"),  # type: ignore[arg-type]
        rehearsal=RehearsalConfig(release="4.3", mode="count"), refusals=[RefusalConfig(client_id=refused)], **LIMITS,
    )  # fmt: skip


def conversations(tenant: bool, refused: str) -> list[Expected]:
    frames = Frames(vectors_of)
    rules = configured_rule_sets(config("asyncio", 9, tenant, refused), lambda _: None)["acme" if tenant else ""]
    found = []
    for seed in range(CONVERSATIONS):
        chance = random.Random(f"{seed} {tenant}")
        pieces, _ = random_streams(chance, frames, seed % 4 == 0)
        if seed % 8 == 7:
            pieces.insert(chance.randrange(len(pieces)), (chance.randrange(2), chance.randbytes(chance.randrange(1, 200))))
        found.append(Expected(joined(pieces)))
        expect(found[-1], ProxiedConnection(rules, Peer("127.0.0.1", 1, 1, tenant="acme" if tenant else ""), **LIMITS))
    return [each for each in found if not each.depends_on_time]


def joined(pieces: list[Piece]) -> list[Piece]:
    """No more pieces than a socket can be given one by one in a test; neighbours of one side are put together."""
    while len(pieces) > MOST_PIECES:
        made: list[Piece] = []
        for number, (side, data) in enumerate(pieces):
            if made and made[-1][0] == side and number % 8:
                made[-1] = side, made[-1][1] + data
            else:
                made.append((side, data))
        if len(made) == len(pieces):
            return made
        pieces = made
    return pieces


def expect(expected: Expected, connection: ProxiedConnection) -> None:
    for side, data in expected.pieces:
        moves = connection.from_server(data, 1) if side else connection.from_client(data, 1)
        expected.at[0] += b"".join(moves.to_client)
        expected.at[1] += b"".join(moves.to_server)
        while connection.delayed is not None:
            moves = connection.settle_delayed(1)
            expected.depends_on_time |= not moves.to_client and not connection.close_reason
            expected.at[0] += b"".join(moves.to_client)
            expected.at[1] += b"".join(moves.to_server)
        expected.outs.append([len(each) for each in expected.at])
        if connection.close_reason:
            expected.closes = "rule" if connection.refusal else connection.relay.closing.reason  # type: ignore[union-attr]
            return


@asynccontextmanager
async def served(loop: str, tenant: bool, refused: str, secured: Secured | None) -> AsyncIterator[tuple[ProxyServer, asyncio.Queue[End]]]:
    accepted: asyncio.Queue[End] = asyncio.Queue()
    broker = await asyncio.get_running_loop().create_server(
        lambda: End(accepted), "127.0.0.1", 0, ssl=None if secured is None else secured.broker
    )
    server = ProxyServer(config(loop, broker.sockets[0].getsockname()[1], tenant, refused, secured))
    await server.open()
    try:
        yield server, accepted
    finally:
        await server.close(0)
        broker.close()
        await asyncio.sleep(0.05)  # transports end in the loop's next turns


async def play(server: ProxyServer, accepted: asyncio.Queue[End], expected: Expected, secured: Secured | None) -> list[bytes]:
    context = None if secured is None else secured.client
    _, client = await asyncio.get_running_loop().create_connection(End, "127.0.0.1", server.ports[0], ssl=context)
    broker = await asyncio.wait_for(accepted.get(), SECONDS)
    for (side, data), (at_client, at_broker) in zip(expected.pieces, expected.outs, strict=False):
        (broker if side else client).transport.write(data)
        await client.gets(at_client)
        await broker.gets(at_broker)
    if not expected.closes:
        client.transport.close()
    await client.ends()
    await broker.ends()
    return [client.got, broker.got]


# the client of Kafka's frames is `consumer-1`
@pytest.mark.parametrize(("tenant", "refused"), [(False, "none such"), (True, "none such"), (False, "consumer-*")])
def test_the_same_bytes_as_without_sockets_and_no_connection_is_left(
    loop: str, tenant: bool, refused: str, secured: Secured | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kwire.proxy.rules.refusals._DELAY", 0.01)

    async def go() -> tuple[list[list[bytes]], Counter[str]]:
        async with served(loop, tenant, refused, secured) as (server, accepted):
            found = [await play(server, accepted, each, secured) for each in expected]
            until = asyncio.get_running_loop().time() + SECONDS
            while server.connections and asyncio.get_running_loop().time() < until:
                await asyncio.sleep(0.01)
            assert server.connections == 0
            assert not list(server.peers())
            opened, ends = server.counts.read()
            assert sum(opened.values()) == len(expected)
            return found, Counter({reason: count for (*_, reason), count in ends.items() if count})

    expected = conversations(tenant, refused)
    found, endings = asyncio.run(go())
    for number, (got, wanted) in enumerate(zip(found, expected, strict=True)):
        assert got == wanted.at, number
    closes = Counter(each.closes for each in expected if each.closes)
    assert closes  # some of them
    assert {reason: count for reason, count in endings.items() if reason in closes} == closes
