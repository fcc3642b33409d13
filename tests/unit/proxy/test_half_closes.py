"""Half-closes of the asyncio loop."""

from __future__ import annotations

import asyncio
import socket
import struct

from kwire.proxy.loop_asyncio import Side


def test_a_peer_that_has_reset_the_connection() -> None:
    async def go() -> None:
        sides: list[Side] = []

        def made() -> Side:
            sides.append(Side(memoryview(bytearray(4096)), set()))
            return sides[-1]

        server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
        client = socket.create_connection(server.sockets[0].getsockname())
        while not sides or sides[0].transport is None:
            await asyncio.sleep(0.01)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        sides[0].end()  # before the loop sees the reset
        assert sides[0].transport.is_closing()
        server.close()
        await asyncio.sleep(0)

    asyncio.run(go())
