"""An orderly stop under load: no further request is taken, all that is owed is sent, and the end comes soon."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from kwire.proxy.config import TlsConfig
from proxied_frames import answer, frames, heartbeat
from proxied_sockets import connect, proxied

pytestmark = pytest.mark.usefixtures("loop")

WAIT = 0.1  # seconds in which the broker answers, as one does that waits for records
LARGE = 300_000  # bytes of an answer
SECONDS = 60


@pytest.fixture(params=["plaintext", "tls"])
def security(request: pytest.FixtureRequest, authority: trustme.CA, tmp_path: Path) -> tuple[dict[str, Any], ssl.SSLContext | None]:
    """Options of the proxy, and the client's context."""
    if request.param == "plaintext":
        return {}, None
    file = tmp_path / "proxy.pem"
    authority.issue_cert("proxy.example.com").private_key_and_cert_chain_pem.write_to_path(str(file))
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return {"tls": TlsConfig(certificate=str(file), key=str(file))}, context


async def always_asks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, window: int) -> tuple[int, int]:
    """A client with some requests in flight at all times; gives how many were answered, each in its turn, and how many were sent."""
    sent, answered = window, 0
    writer.write(b"".join(heartbeat(number) for number in range(window)))
    async for frame in frames(reader):
        assert frame == answer(answered, LARGE)[4:]
        answered += 1
        writer.write(heartbeat(sent))
        sent += 1
    assert reader.at_eof()
    writer.close()
    return answered, sent


def test_clients_that_always_ask_do_not_hold_up_a_stop(security: tuple[dict[str, Any], ssl.SSLContext | None]) -> None:
    """The broker gets no further request; those that it has got are answered."""
    options, context = security
    asked = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        async for frame in frames(reader):
            asked += 1
            await asyncio.sleep(WAIT)
            writer.write(answer(int.from_bytes(frame[4:8], "big"), LARGE))

    async def go() -> list[tuple[int, int]]:
        async with proxied(serve, **options) as server:
            clients = [asyncio.ensure_future(always_asks(*await connect(server, context), window)) for window in (1, 2, 3)]
            await asyncio.sleep(5 * WAIT)
            await asyncio.wait_for(server.close(10 * SECONDS), SECONDS)
            return await asyncio.gather(*clients)

    found = asyncio.run(go())
    assert sum(answered for answered, _ in found) == asked
    assert all(answered < sent for answered, sent in found)


def test_a_request_that_the_broker_has_in_part_is_ended(security: tuple[dict[str, Any], ssl.SSLContext | None]) -> None:
    options, context = security
    begun, rest = heartbeat(7, 1000)[:100], heartbeat(7, 1000)[100:] + heartbeat(8)
    came: list[bytes] = []
    asked = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(await reader.readexactly(100))
        asked.set()
        came.append(await reader.readexactly(len(rest) - len(heartbeat(8))))
        writer.write(answer(7))
        came.append(await reader.read(-1))

    async def go() -> bytes:
        async with proxied(serve, **options) as server:
            reader, writer = await connect(server, context)
            late, waits = await connect(server, context)  # half a head: the broker has nothing of it
            waits.write(heartbeat(9)[:7])
            writer.write(begun)
            await asked.wait()
            stopping = asyncio.ensure_future(server.close(10 * SECONDS))
            assert await asyncio.wait_for(late.read(-1), SECONDS) == b""
            writer.write(rest)
            found = await asyncio.wait_for(reader.read(-1), SECONDS)
            writer.close()
            waits.close()
            await asyncio.wait_for(stopping, SECONDS)
            return found

    assert asyncio.run(go()) == answer(7)
    assert b"".join(came) == heartbeat(7, 1000)


def test_an_answer_is_not_lost_to_bytes_that_nobody_reads(security: tuple[dict[str, Any], ssl.SSLContext | None]) -> None:
    """A socket that is closed with unread bytes is reset, and what waits to be sent is dropped (RFC 2525, 2.17)."""
    options, context = security
    size = 20 * LARGE
    asked = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for frame in frames(reader):
            asked.set()
            await asyncio.sleep(2 * WAIT)
            writer.write(answer(int.from_bytes(frame[4:8], "big"), size))
            await writer.drain()

    async def go() -> bytes:
        async with proxied(serve, **options) as server:
            reader, writer = await connect(server, context)
            writer.write(heartbeat(0))
            await asked.wait()
            stopping = asyncio.ensure_future(server.close(10 * SECONDS))
            await asyncio.sleep(WAIT / 2)
            writer.write(b"".join(heartbeat(number, 900) for number in range(1, 50)))
            found = b""
            while data := await asyncio.wait_for(reader.read(100_000), SECONDS):
                found += data
                await asyncio.sleep(0.002)
            writer.close()
            await asyncio.wait_for(stopping, SECONDS)
            return found

    assert asyncio.run(go()) == answer(0, size)
