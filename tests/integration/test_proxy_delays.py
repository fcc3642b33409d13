"""Outcomes that wait, on sockets: a refused client in front of a broker that the test plays."""

from __future__ import annotations

import asyncio
import logging

import pytest

from kafka_bytes import head, heartbeat, ok, produce
from kwire.proxy.config import RefusalConfig
from kwire.proxy.server import ProxyServer
from proxied_sockets import connect, proxied

REFUSALS = [RefusalConfig(client_id="old")]
DENIED = (30).to_bytes(2, "big")  # GROUP_AUTHORIZATION_FAILED


pytestmark = pytest.mark.usefixtures("loop")


@pytest.fixture(autouse=True)
def delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kwire.proxy.rules.refusals._DELAY", 0.2)


async def reads(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    assert await reader.read(-1) == b""
    writer.close()


async def is_left_alone(server: ProxyServer) -> None:
    async def ended() -> None:
        while server.connections:
            await asyncio.sleep(0.01)

    await asyncio.wait_for(ended(), 30)


def denied(number: int) -> bytes:
    frame = number.to_bytes(4, "big") + DENIED
    return len(frame).to_bytes(4, "big") + frame


def test_answers_come_in_the_order_of_the_requests(caplog: pytest.LogCaptureFixture) -> None:
    async def go() -> bytes:
        async with proxied(reads, refusals=REFUSALS) as server:
            reader, writer = await connect(server)
            writer.write(b"".join(heartbeat(number, b"old") for number in range(3)))
            writer.write_eof()
            return await asyncio.wait_for(reader.read(-1), 30)

    assert asyncio.run(go()) == denied(0) + denied(1) + denied(2)
    assert not caplog.records


def test_an_answer_waits_behind_what_the_broker_owes() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(heartbeat(1)))
        await asyncio.sleep(0.5)
        writer.write(ok(1))
        assert await reader.read(-1) == b""
        writer.close()

    async def go() -> bytes:
        async with proxied(serve, refusals=REFUSALS) as server:
            reader, writer = await connect(server)
            # Metadata is looked at of every client, so another client id counts
            writer.write(heartbeat(1, b"new") + metadata(2, b"old") + heartbeat(3, b"new"))
            found = await asyncio.wait_for(reader.readexactly(len(ok(1))), 30)
            writer.write_eof()
            return found + await asyncio.wait_for(reader.read(-1), 30)

    found = asyncio.run(go())
    assert found.startswith(ok(1))
    assert found.endswith(denied(3))


def metadata(number: int, client_id: bytes) -> bytes:
    frame = head(3, 1, number, client_id) + bytes(4)
    return len(frame).to_bytes(4, "big") + frame


def test_a_close_that_waits_comes() -> None:
    async def go() -> None:
        async with proxied(reads, refusals=REFUSALS) as server:
            reader, writer = await connect(server)
            writer.write(produce(1, 0, client_id=b"old"))
            assert await asyncio.wait_for(reader.read(-1), 30) == b""
            await is_left_alone(server)
            _, ends = server.counts.read()
            assert ends["", 1, "rule"] == 1

    asyncio.run(go())


def test_a_client_that_leaves_is_let_go() -> None:
    async def go() -> None:
        async with proxied(reads, refusals=REFUSALS) as server:
            for abort in (False, True):
                _, writer = await connect(server)
                writer.write(heartbeat(1, b"old"))
                await writer.drain()
                await asyncio.sleep(0.05)
                writer.transport.abort() if abort else writer.close()
            await is_left_alone(server)

    asyncio.run(go())


def test_a_broker_that_leaves_ends_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.05)
        writer.close()

    async def go() -> None:
        async with proxied(serve, refusals=REFUSALS) as server:
            reader, writer = await connect(server)
            writer.write(heartbeat(1, b"old"))
            assert await asyncio.wait_for(reader.read(-1), 30) == b""
            await is_left_alone(server)

    asyncio.run(go())
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


def test_the_proxy_stops_while_an_answer_waits() -> None:
    async def go() -> None:
        async with proxied(reads, refusals=REFUSALS) as server:
            reader, writer = await connect(server)
            writer.write(heartbeat(1, b"old"))
            while not any(each.client_id for each in server.peers()):
                await asyncio.sleep(0.01)
            await asyncio.wait_for(server.close(5), 30)
            assert await asyncio.wait_for(reader.read(-1), 30) == denied(1)

    asyncio.run(go())


def test_a_fault_behind_an_answer_that_waits_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else would close it: the proxy does not read it while the answer waits."""

    def fails(*given: object) -> object:
        raise LookupError

    async def go() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        async with proxied(reads, refusals=REFUSALS) as server:
            _, writer = await connect(server)
            writer.write(heartbeat(1, b"old") + heartbeat(2, b"old"))
            while not any(each.client_id for each in server.peers()):
                await asyncio.sleep(0.01)
            monkeypatch.setattr("kwire.proxy.rules.refusals.refused_answer", fails)
            await is_left_alone(server)

    asyncio.run(go())


def test_the_limit_of_the_first_frame_ends_with_the_frame() -> None:
    async def go() -> bytes:
        async with proxied(reads, refusals=REFUSALS, first_frame_seconds=0.1) as server:
            reader, writer = await connect(server)
            writer.write(heartbeat(1, b"old"))
            return await asyncio.wait_for(reader.readexactly(len(denied(1))), 30)

    assert asyncio.run(go()) == denied(1)


def test_a_connection_that_no_rule_can_begin_gives_its_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> object:
        raise LookupError

    async def go() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        async with proxied(reads, refusals=REFUSALS) as server:
            monkeypatch.setattr("kwire.proxy.rules.refusals.RefusalsRule.connected", fails)
            reader, _ = await connect(server)
            assert await asyncio.wait_for(reader.read(-1), 30) == b""
            await is_left_alone(server)
            opened, ends = server.counts.read()
            assert sum(opened.values()) == sum(ends.values()) == 1

    asyncio.run(go())
