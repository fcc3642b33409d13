"""What a tap and a request log write of a connection through either loop, and what they say of bytes that they missed."""

from __future__ import annotations

import asyncio
import json
import random
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import proxied_sockets
from kwire import tables
from kwire.capture.exported_packets import PCAPNG_HEAD
from kwire.proxy.config import ListenerConfig, ProxyConfig, TapConfig
from kwire.proxy.server import ProxyServer
from proxied_frames import answer, echo, frames, heartbeat

SASL = bytes.fromhex("00000015 0011 0001 00000001 0004 73686f70 0005 504c41494e") + bytes.fromhex(
    "0000001e 0024 0001 00000002 0004 73686f70 0000000c 00 616c696365 00 7365637265"
)
"""SaslHandshake v1 for PLAIN, then SaslAuthenticate v1 of alice with the password `secre`."""
ANSWERS = bytes.fromhex("00000011 00000001 0000 00000001 0005 504c41494e") + bytes.fromhex(
    "00000014 00000002 0000 ffff 00000000 0000000000000000"
)
PASSWORD = b"secre"
SECONDS = 30


@asynccontextmanager
async def proxied(loop: str, serve: Any, folder: Path, **more: int) -> AsyncIterator[ProxyServer]:
    broker = await proxied_sockets.serving(serve)
    tls: dict[str, Any] = {} if proxied_sockets.TLS is None else proxied_sockets.TLS.listener()
    listener = ListenerConfig(listen="127.0.0.1:0", broker=f"127.0.0.1:{broker.sockets[0].getsockname()[1]}", node_id=1, **tls)
    server = ProxyServer(
        ProxyConfig(
            listeners=[listener], loop=loop, threads=1, metrics="127.0.0.1:0",  # type: ignore[arg-type]
            tap=TapConfig(file=str(folder / "tap.pcapng"), **more), request_log=TapConfig(file=str(folder / "log.jsonl"), **more),
        )
    )  # fmt: skip
    await server.open()
    try:
        yield server
    finally:
        await server.close(0)
        broker.close()
        await asyncio.sleep(0.05)  # transports end in the loop's next turns


async def sasl_broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Two answers for SASL, each before the next request comes, then heartbeats."""
    for said in (ANSWERS[:21], ANSWERS[21:]):
        await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
        writer.write(said)
    await echo(reader, writer)


def packets(capture: bytes, port: int) -> list[tuple[bool, bytes, bytes]]:
    assert capture.startswith(PCAPNG_HEAD)
    found, at = [], len(PCAPNG_HEAD)
    while at < len(capture):
        size, captured = (struct.unpack_from("<I", capture, at + offset)[0] for offset in (4, 20))
        body = capture[at + 28 : at + 28 + captured]
        tcp = 0
        while int.from_bytes(body[tcp : tcp + 2], "big"):  # tags
            tcp += 4 + int.from_bytes(body[tcp + 2 : tcp + 4], "big")
        tcp += 4
        found.append((int.from_bytes(body[tcp : tcp + 2], "big") == port, body[tcp + 4 : tcp + 20], body[tcp + 20 :]))
        at += size
    return found


def of_side(found: list[tuple[bool, bytes, bytes]], is_proxy: bool) -> tuple[bytes, list[bytes]]:
    """Bytes of a side, in packets of whole frames one behind the other, and the headers of its packets without bytes.

    Reads decide which frames share a packet. Acknowledgments are left out: packets of the other side may come before or after."""
    data, others = b"", []
    for proxys, header, payload in found:
        if proxys != is_proxy:
            continue
        if payload:
            assert int.from_bytes(header[:4], "big") == 1 + len(data)
        else:
            others.append(header[:4] + header[8:])
        data += payload
        while payload:
            size = 4 + int.from_bytes(payload[:4], "big")
            assert size <= len(payload)
            payload = payload[size:]
    return data, others


def talk(loop: str, folder: Path) -> tuple[list[tuple[bool, bytes, bytes]], list[dict[str, Any]]]:
    asked = b"".join(heartbeat(number, number * 40) for number in range(3, 40))

    async def go() -> int:
        async with proxied(loop, sasl_broker, folder) as server:
            reader, writer = await proxied_sockets.opened(server.ports[0])
            writer.write(SASL)
            await reader.readexactly(len(ANSWERS))
            chance, at = random.Random(3), 0
            while at < len(asked):
                size = chance.choice((1, 3, 40, 5000))
                writer.write(asked[at : at + size])
                await asyncio.sleep(0)
                at += size
            writer.write_eof()
            await asyncio.wait_for(reader.read(), SECONDS)
            writer.close()
            return server.ports[0]

    port = asyncio.run(go())
    lines = [json.loads(line) for line in (folder / "log_00001.jsonl").read_text().splitlines()]
    return packets((folder / "tap_00001.pcapng").read_bytes(), port), lines


@pytest.mark.parametrize("secured", ["native", "native, TLS"], indirect=True)
def test_both_loops_write_the_same(secured: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("asyncio", secured):
        (tmp_path / name).mkdir()
    ours, our_lines = talk(secured, tmp_path / secured)
    monkeypatch.setattr(proxied_sockets, "TLS", None)
    theirs, their_lines = talk("asyncio", tmp_path / "asyncio")
    assert [of_side(ours, side) for side in (False, True)] == [of_side(theirs, side) for side in (False, True)]
    client, _ = of_side(ours, False)
    assert client.startswith(SASL.replace(PASSWORD, b"x" * len(PASSWORD)))
    assert heartbeat(39, 39 * 40)[: len(heartbeat(39))] in client  # bytes behind a message are blanked
    shown = [[(each["requestHeader"], each["request"], each["response"]) for each in lines] for lines in (our_lines, their_lines)]
    assert shown[0] == shown[1]
    assert len(shown[0]) == 39


@pytest.mark.parametrize("secured", ["native", "native, TLS"], indirect=True)
def test_what_the_taps_miss_is_counted_and_named(secured: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A buffer of 2,000 bytes holds a Heartbeat of 25, and none of 5,000; traffic does not wait for it."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for frame in frames(reader):
            writer.write(answer(int.from_bytes(frame[4:8], "big")))
            await writer.drain()
        writer.close()

    async def go() -> tuple[int, int]:
        async with proxied(secured, serve, tmp_path, max_queued=2000) as server:
            reader, writer = await proxied_sockets.opened(server.ports[0])
            for number, padding in enumerate((0, 5000, 0)):
                writer.write(heartbeat(number, padding))
                assert await asyncio.wait_for(reader.readexactly(10), SECONDS) == answer(number)
            writer.close()
            taps, port = server.taps, server.ports[0]
            assert taps is not None
        return taps.missed_bytes, port

    missed, port = asyncio.run(go())
    assert missed == len(heartbeat(1, 5000))
    assert f"the taps drop bytes that arrive faster than they can be blanked: {missed} more, {missed} in all" in caplog.text
    taken = packets((tmp_path / "tap_00001.pcapng").read_bytes(), port)
    client = b"".join(payload for is_proxy, _, payload in taken if not is_proxy)
    assert client == heartbeat(0) + heartbeat(2)
    for name in ("tap_00001.pcapng", "log_00001.jsonl"):
        with tables.read_series([str(tmp_path / name)], "x", (port,)) as found:
            rows = found.table("requests").to_pylist()
        found_states = [(each["correlation_id"], each["state"]) for each in rows]
        assert [each for each in found_states if each[1] != "orphan_response"] == [(0, "answered"), (2, "answered")]
