"""A quota on sockets, with both loops: all exchanges of a client that ignores the time to wait come, in order, not sooner than allowed."""

from __future__ import annotations

import asyncio
import time

import pytest

from kafka_bytes import heartbeat, ok
from kwire.proxy.config import QuotaConfig
from proxied_frames import frames
from proxied_sockets import connect, proxied

pytestmark = pytest.mark.usefixtures("loop")


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async for frame in frames(reader):
        writer.write(ok(int.from_bytes(frame[4:8], "big")))
    writer.close()


def test_a_client_that_ignores_the_time_to_wait_is_not_read() -> None:
    async def go() -> tuple[bytes, float]:
        async with proxied(serve, quotas=[QuotaConfig(client_id="batch", requests=10)]) as server:
            reader, writer = await connect(server)
            begin, found = time.monotonic(), b""
            for number in range(15):
                writer.write(heartbeat(number, b"batch"))
                found += await asyncio.wait_for(reader.readexactly(len(ok(0))), 30)
            seconds = time.monotonic() - begin
            writer.write(heartbeat(15, b"batch") + heartbeat(16, b"batch"))
            writer.write_eof()
            return found + await asyncio.wait_for(reader.read(-1), 30), seconds

    found, seconds = asyncio.run(go())
    assert found == b"".join(ok(number) for number in range(17))
    assert seconds >= 0.35  # ten at once, four that wait for the debt of the one before


def test_other_clients_do_not_wait() -> None:
    async def go() -> bytes:
        async with proxied(serve, quotas=[QuotaConfig(client_id="batch", requests=1)]) as server:
            slow, fast = await connect(server), await connect(server)
            slow[1].write(heartbeat(0, b"batch") + heartbeat(1, b"batch"))
            await asyncio.wait_for(slow[0].readexactly(2 * len(ok(0))), 30)
            slow[1].write(heartbeat(2, b"batch"))
            for number in range(50):
                fast[1].write(heartbeat(number, b"shop"))
            fast[1].write_eof()
            return await asyncio.wait_for(fast[0].read(-1), 30)

    assert asyncio.run(go()) == b"".join(ok(number) for number in range(50))
